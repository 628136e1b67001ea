import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type Answer, type Client, type Connection, type Question, reasonFrom, type Target } from '../client.ts'
import { TOOL } from '../replies.ts'
import { withoutThoughts } from '../upstreams.ts'

export const LANGCHAIN_PACKAGES = ['@langchain/openai@1.5.8', '@langchain/core@1.4.0'] as const

// What is used of the package, which is not installed with the project.
interface LangChain {
  readonly ChatOpenAI: new (settings: object) => Chat
}
interface Chat {
  bindTools(tools: readonly object[]): Chat
  withStructuredOutput(schema: object, options: object): { invoke(messages: readonly object[]): Promise<unknown> }
  invoke(messages: readonly object[], options: object): Promise<Message>
  stream(messages: readonly object[], options: object): Promise<AsyncIterable<Message>>
}
interface Message {
  readonly text: string
  readonly tool_calls?: readonly { readonly id?: string; readonly name: string; readonly args: unknown }[]
  readonly additional_kwargs: Readonly<Record<string, unknown>>
  readonly response_metadata: {
    readonly finish_reason?: string
    readonly status?: string
    readonly incomplete_details?: { readonly reason?: string } | null
  }
  readonly usage_metadata?: {
    readonly input_tokens: number
    readonly output_tokens: number
    readonly input_token_details?: { readonly cache_read?: number }
  }
  concat(chunk: Message): Message
}
interface HttpError extends Error {
  readonly status?: number
  readonly headers?: Headers
}

const REASONS = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'calls',
  content_filter: 'refusal',
  completed: 'stop',
  max_output_tokens: 'length',
} as const

/** Streams that end with an error. */
const ENDS: ReadonlySet<string> = new Set(['stream-error', 'cut', 'guard-blocked', 'guard-broken'])

/** `ChatOpenAI` with chat completions and with responses. */
export function langchainClients(folder: string): readonly Client[] {
  const { ChatOpenAI } = createRequire(join(folder, 'package.json'))('@langchain/openai') as LangChain
  const noLoop = 'loops of tools are in another package'
  const readsNoEnd = 'the client takes errors and failed responses in streams for the end'
  return [
    {
      name: 'langchain chat',
      cannot(scenario, { api }) {
        if (scenario === 'runner') return noLoop
        return scenario === 'refusal' && api === 'completions'
          ? 'the client drops refusals of chat completions'
          : undefined
      },
      losesThoughts: (upstream) =>
        withoutThoughts(upstream) ?? 'the client does not send thoughts back in chat completions',
      connect: (target) => connect(ChatOpenAI, target, false),
    },
    {
      name: 'langchain responses',
      cannot(scenario) {
        if (scenario === 'runner') return noLoop
        return ENDS.has(scenario) ? readsNoEnd : undefined
      },
      losesThoughts: (_, scenario) =>
        scenario === 'thinking-stream' ? 'the client drops the encrypted content of streamed thoughts' : undefined,
      connect: (target) => connect(ChatOpenAI, target, true),
    },
  ]
}

function connect(
  ChatOpenAI: LangChain['ChatOpenAI'],
  { url, headers, upstream }: Target,
  useResponsesApi: boolean,
): Connection {
  const optionsOf = ({ signal, thinks }: Question) => ({
    ...(signal && { signal }),
    ...(thinks && useResponsesApi && { include: ['reasoning.encrypted_content'] }),
  })
  const chatFor = ({ offersTools, limit, thinks }: Question): Chat => {
    const chat = new ChatOpenAI({
      model: upstream.model,
      apiKey: 'k',
      maxRetries: 0,
      useResponsesApi,
      ...(useResponsesApi && { zdrEnabled: true }),
      ...(limit && { maxTokens: limit }),
      ...(thinks && { reasoning: { effort: 'low', ...(useResponsesApi && { summary: 'auto' }) } }),
      configuration: { baseURL: `${url}/v1`, defaultHeaders: headers },
    })
    return offersTools ? chat.bindTools([{ type: 'function', function: TOOL }]) : chat
  }
  return {
    faultOf(error) {
      if (!(error instanceof Error)) return undefined
      const { status, message, headers: given, name } = error as HttpError
      return { status, message, retryAfter: given?.get('retry-after') ?? undefined, kind: name }
    },
    async ask(question) {
      const messages = messagesOf(question)
      return answerOf(await chatFor(question).invoke(messages, optionsOf(question)), messages)
    },
    async stream(question, onText) {
      const messages = messagesOf(question)
      let all: Message | undefined
      for await (const chunk of await chatFor(question).stream(messages, optionsOf(question))) {
        if (chunk.text !== '') onText()
        all = all?.concat(chunk) ?? chunk
      }
      return answerOf(all!, messages)
    },
    async parse(question, schema) {
      const options = { method: 'jsonSchema', name: 'weather', strict: true }
      return chatFor(question).withStructuredOutput(schema, options).invoke(messagesOf(question))
    },
  }
}

function messagesOf({ history, prompt, image, results = [] }: Question): object[] {
  const messages = [...((history as object[]) ?? [{ role: 'system', content: 'Be brief.' }])]
  for (const { id, text } of results) messages.push({ role: 'tool', tool_call_id: id, content: text })
  if (prompt === undefined) return messages
  const picture = { type: 'image_url', image_url: { url: `data:image/png;base64,${image}` } }
  const content = [{ type: 'text', text: prompt }, ...(image === undefined ? [] : [picture])]
  return [...messages, { role: 'user', content }]
}

function answerOf(message: Message, messages: object[]): Answer {
  const { text, tool_calls = [], additional_kwargs, response_metadata, usage_metadata } = message
  const { finish_reason, incomplete_details, status } = response_metadata
  const reason = reasonFrom(REASONS, finish_reason ?? incomplete_details?.reason ?? status)
  const isRefused = typeof additional_kwargs.refusal === 'string' && additional_kwargs.refusal !== ''
  return {
    text,
    calls: tool_calls.map(({ id, name, args }) => ({ id: id!, name, input: args })),
    reason: isRefused ? 'refusal' : reason === 'stop' && tool_calls.length > 0 ? 'calls' : reason,
    usage: {
      input: usage_metadata?.input_tokens,
      cached: usage_metadata?.input_token_details?.cache_read,
      output: usage_metadata?.output_tokens,
    },
    history: [...messages, message],
  }
}
