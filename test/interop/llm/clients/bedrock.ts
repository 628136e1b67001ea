import { deepStrictEqual } from 'node:assert/strict'
import {
  BedrockRuntimeClient,
  type ContentBlock,
  ConverseCommand,
  type ConverseCommandInput,
  ConverseStreamCommand,
  InvokeModelCommand,
  type Message,
  type StopReason,
  type TokenUsage,
  type ToolConfiguration,
} from '@aws-sdk/client-bedrock-runtime'
import { type Answer, type Client, type Connection, type Question, reasonFrom, type Target } from '../client.ts'
import { PARAMETERS, TOOL } from '../replies.ts'
import { VECTOR } from '../vendor/embeddings.ts'

const REASONS = { end_turn: 'stop', max_tokens: 'length', tool_use: 'calls', content_filtered: 'refusal' } as const

/** Converse with signed requests, which pass through. */
export const bedrock: Client = {
  name: 'aws bedrock-runtime',
  isPassed: true,
  unreachable: ({ api }) => (api === 'converse' ? undefined : 'it speaks Converse, which passes through to seven only'),
  cannot(scenario, { embeds }) {
    if (scenario === 'invoke' && !embeds?.includes('titan')) return 'only the model titan is asked'
    return scenario === 'runner' ? 'the client has no tool runner' : undefined
  },
  errors: {
    400: 'ValidationException',
    429: 'ThrottlingException',
    500: 'InternalServerException',
    529: 'ModelNotReadyException',
  },
  connect,
  checks: {
    async invoke(target) {
      const input = { modelId: target.upstream.embeds, body: JSON.stringify({ inputText: 'a' }) }
      const { body } = await clientOf(target).send(new InvokeModelCommand(input))
      deepStrictEqual(JSON.parse(body.transformToString()).embedding, VECTOR)
    },
  },
}

function clientOf({ url, headers }: Target): BedrockRuntimeClient {
  const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' }
  const client = new BedrockRuntimeClient({ region: 'eu-west-1', endpoint: url, credentials, maxAttempts: 1 })
  client.middlewareStack.add(
    (next) => (given) => {
      Object.assign((given.request as { readonly headers: object }).headers, headers)
      return next(given)
    },
    { step: 'build' },
  )
  return client
}

function connect(target: Target): Connection {
  const client = clientOf(target)
  const { model } = target.upstream
  const additionalModelRequestFields = model.includes('nova')
    ? { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'low' } }
    : { thinking: { type: 'enabled', budget_tokens: 1024 } }
  const toolConfig: ToolConfiguration = {
    tools: [{ toolSpec: { name: TOOL.name, description: TOOL.description, inputSchema: { json: copy(PARAMETERS) } } }],
  }
  const inputOf = (question: Question): ConverseCommandInput => ({
    modelId: model,
    system: [{ text: 'Be brief.' }],
    messages: messagesOf(question),
    ...(question.offersTools && { toolConfig }),
    ...(question.thinks && { additionalModelRequestFields }),
    ...(question.limit && { inferenceConfig: { maxTokens: question.limit } }),
  })
  const optionsOf = ({ signal }: Question) => (signal ? { abortSignal: signal } : {})
  return {
    faultOf(error) {
      if (!(error instanceof Error)) return undefined
      const about = error as Error & {
        readonly $metadata?: { readonly httpStatusCode?: number }
        readonly $response?: { readonly headers: Readonly<Record<string, string>> }
      }
      const retryAfter = about.$response?.headers['retry-after']
      return { status: about.$metadata?.httpStatusCode, message: error.message, retryAfter, kind: error.name }
    },
    async ask(question) {
      const input = inputOf(question)
      const { output, stopReason, usage } = await client.send(new ConverseCommand(input), optionsOf(question))
      return answerOf(output?.message?.content ?? [], stopReason, usage, input.messages!)
    },
    async stream(question, onText) {
      const input = inputOf(question)
      const { stream } = await client.send(new ConverseStreamCommand(input), optionsOf(question))
      const blocks: Growing[] = []
      let stopReason: StopReason | undefined
      let usage: TokenUsage | undefined
      for await (const { contentBlockStart, contentBlockDelta, messageStop, metadata } of stream!) {
        const index = contentBlockStart?.contentBlockIndex ?? contentBlockDelta?.contentBlockIndex ?? 0
        blocks[index] ??= { text: '', input: '', thought: '', signature: '' }
        const block = blocks[index]
        const delta = contentBlockDelta?.delta
        if (delta?.text) onText()
        block.call = contentBlockStart?.start?.toolUse ?? block.call
        block.text += delta?.text ?? ''
        block.input += delta?.toolUse?.input ?? ''
        block.thought += delta?.reasoningContent?.text ?? ''
        block.signature += delta?.reasoningContent?.signature ?? ''
        stopReason = messageStop?.stopReason ?? stopReason
        usage = metadata?.usage ?? usage
      }
      return answerOf(blocks.flatMap(grown), stopReason, usage, input.messages!)
    },
    async parse(question, schema) {
      const jsonSchema = { schema: JSON.stringify(schema), name: 'weather' }
      const outputConfig = { textFormat: { type: 'json_schema' as const, structure: { jsonSchema } } }
      const { output } = await client.send(new ConverseCommand({ ...inputOf(question), outputConfig }))
      return JSON.parse(output?.message?.content?.[0]?.text ?? '')
    },
  }
}

interface Growing {
  text: string
  input: string
  thought: string
  signature: string
  call?: { readonly toolUseId: string | undefined; readonly name: string | undefined } | undefined
}

function grown({ text, input, thought, signature, call }: Growing): ContentBlock[] {
  if (call !== undefined) return [{ toolUse: { ...call, input: JSON.parse(input) } }]
  if (thought !== '') return [{ reasoningContent: { reasoningText: { text: thought, signature } } }]
  return text === '' ? [] : [{ text }]
}

function messagesOf({ history, prompt, image, results = [] }: Question): Message[] {
  const messages = [...((history as Message[]) ?? [])]
  const content: ContentBlock[] = results.map(({ id, text }) => ({
    toolResult: { toolUseId: id, content: [{ text }] },
  }))
  if (prompt !== undefined) content.push({ text: prompt })
  if (image !== undefined) content.push({ image: { format: 'png', source: { bytes: Buffer.from(image, 'base64') } } })
  return [...messages, { role: 'user', content }]
}

function answerOf(
  content: ContentBlock[],
  reason: StopReason | undefined,
  usage: TokenUsage | undefined,
  messages: Message[],
): Answer {
  const cached = usage?.cacheReadInputTokens
  return {
    text: content.map(({ text }) => text ?? '').join(''),
    calls: content.flatMap(({ toolUse: call }) =>
      call ? [{ id: call.toolUseId!, name: call.name!, input: call.input }] : [],
    ),
    reason: reasonFrom(REASONS, reason),
    usage: { input: usage && usage.inputTokens! + (cached ?? 0), cached, output: usage?.outputTokens },
    history: [...messages, { role: 'assistant', content }],
  }
}

function copy<T>(value: T): { -readonly [Key in keyof T]: T[Key] } & { readonly [name: string]: never } {
  return JSON.parse(JSON.stringify(value))
}
