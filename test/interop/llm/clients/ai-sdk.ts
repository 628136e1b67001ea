import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type Answer, type Client, type Connection, type Question, reasonFrom, type Target } from '../client.ts'
import { TOOL } from '../replies.ts'
import { type Upstream, withoutThoughts } from '../upstreams.ts'

// What is used of the packages, which are not installed with the project.
type Model = object
type Create = (settings: object) => Factory
interface Factory {
  (model: string): Model
  chat(model: string): Model
  responses(model: string): Model
}
interface Ai {
  generateText(settings: object): Promise<Generated>
  streamText(settings: object): { readonly [Member in keyof Generated]: PromiseLike<Generated[Member]> } & {
    readonly fullStream: AsyncIterable<{ readonly type: string; readonly error?: unknown }>
  }
  tool(tool: object): object
  jsonSchema(schema: object): object
  stepCountIs(count: number): unknown
  readonly Output: { object(settings: object): unknown }
  readonly APICallError: { isInstance(error: unknown): error is ApiCallError }
}
interface ApiCallError extends Error {
  readonly statusCode?: number
  readonly responseHeaders?: Readonly<Record<string, string>>
}
interface Generated {
  readonly text: string
  readonly toolCalls: readonly { readonly toolCallId: string; readonly toolName: string; readonly input: unknown }[]
  readonly finishReason: string
  readonly usage: {
    readonly inputTokens: number | undefined
    readonly cachedInputTokens: number | undefined
    readonly outputTokens: number | undefined
  }
  readonly response: { readonly messages: readonly object[] }
  readonly output: unknown
}

/** A package with its settings. */
interface Package {
  readonly package: string
  readonly create: string
  /** Of the base URL, after the name of the upstream. */
  readonly path: string
  readonly settings?: object
  readonly models?: 'chat' | 'responses'
  /** Of every request. */
  readonly options?: object
  thinking(upstream: Upstream): object
  readonly client: Pick<Client, 'cannot' | 'unreachable' | 'losesThoughts' | 'isPassed'>
}

const REASONS = { stop: 'stop', length: 'length', 'tool-calls': 'calls', 'content-filter': 'refusal' } as const
/** The gateway stores nothing: without this, the client refers to items of earlier responses instead of sending them. */
const notStored = { store: false }
const thoughts = {
  ...notStored,
  reasoningEffort: 'low',
  reasoningSummary: 'auto',
  include: ['reasoning.encrypted_content'],
}
const signatureLost = (upstream: Upstream) =>
  withoutThoughts(upstream) ?? 'the client reads and sends no thoughts in chat completions'
const keptForGemini = (upstream: Upstream) =>
  upstream.model.includes('gemini')
    ? undefined
    : (withoutThoughts(upstream) ?? 'the client keeps no signatures beside reasoning_content')
const readsNoRefusals = (scenario: string, { api }: Upstream) =>
  scenario === 'refusal' && api === 'completions' ? 'the client shows refusals of chat completions as texts' : undefined
/** Messages of guards that are no JSON. */
const PLAIN: ReadonlySet<string> = new Set(['guard-refused', 'guard-judged', 'guard-rejected'])
const hidesPlainText = (scenario: string) =>
  PLAIN.has(scenario) ? 'the client shows the phrase of the status instead of a plain text' : undefined
const onlyTo = (names: readonly string[], api: string) => ({
  isPassed: true,
  unreachable: ({ name }: Upstream) =>
    names.includes(name) ? undefined : `it speaks ${api}, which passes through to ${names} only`,
})

const PACKAGES: Readonly<Record<string, Package>> = {
  'ai openai chat': {
    package: '@ai-sdk/openai',
    create: 'createOpenAI',
    path: '/v1',
    models: 'chat',
    thinking: () => ({ openai: { reasoningEffort: 'low' } }),
    client: { losesThoughts: signatureLost, cannot: readsNoRefusals },
  },
  'ai openai responses': {
    package: '@ai-sdk/openai',
    create: 'createOpenAI',
    path: '/v1',
    models: 'responses',
    options: { openai: notStored },
    thinking: () => ({ openai: thoughts }),
    client: {},
  },
  'ai anthropic': {
    package: '@ai-sdk/anthropic',
    create: 'createAnthropic',
    path: '/v1',
    thinking: ({ adaptive }) => ({
      anthropic: { thinking: adaptive ? { type: 'adaptive' } : { type: 'enabled', budgetTokens: 1024 } },
    }),
    client: { losesThoughts: withoutThoughts },
  },
  'ai openai-compatible': {
    package: '@ai-sdk/openai-compatible',
    create: 'createOpenAICompatible',
    path: '/v1',
    // Under this name the client keeps the signatures of Gemini.
    settings: { name: 'google', includeUsage: true, supportsStructuredOutputs: true },
    thinking: () => ({ google: { reasoningEffort: 'low' } }),
    client: { losesThoughts: keptForGemini, cannot: readsNoRefusals },
  },
  'ai azure chat': {
    package: '@ai-sdk/azure',
    create: 'createAzure',
    path: '/openai',
    models: 'chat',
    thinking: () => ({ openai: { reasoningEffort: 'low' } }),
    client: { losesThoughts: signatureLost, cannot: readsNoRefusals },
  },
  'ai azure responses': {
    package: '@ai-sdk/azure',
    create: 'createAzure',
    path: '/openai',
    models: 'responses',
    options: { azure: notStored },
    thinking: () => ({ azure: thoughts }),
    client: {
      cannot: (scenario, { api }) =>
        scenario === 'refusal' && api !== 'converse' ? 'the client refuses whole responses with refusals' : undefined,
    },
  },
  'ai google': {
    package: '@ai-sdk/google',
    create: 'createGoogleGenerativeAI',
    path: '/v1beta',
    thinking: () => ({ google: { thinkingConfig: { includeThoughts: true } } }),
    client: onlyTo(['five'], 'generateContent'),
  },
  'ai amazon-bedrock': {
    package: '@ai-sdk/amazon-bedrock',
    create: 'createAmazonBedrock',
    path: '',
    settings: { region: 'eu-west-1' },
    thinking: ({ model }) => ({
      bedrock: {
        reasoningConfig: {
          type: 'enabled',
          ...(model.includes('nova') ? { maxReasoningEffort: 'low' } : { budgetTokens: 1024 }),
        },
      },
    }),
    client: onlyTo(['seven', 'seven-nova'], 'Converse'),
  },
}

export const AI_SDK_PACKAGES = [
  'ai@6.0.326',
  '@ai-sdk/openai@3.0.141',
  '@ai-sdk/anthropic@3.0.139',
  '@ai-sdk/openai-compatible@2.0.91',
  '@ai-sdk/azure@3.0.128',
  '@ai-sdk/google@3.0.141',
  '@ai-sdk/amazon-bedrock@4.0.186',
] as const

/** Every provider of the AI SDK. @param folder where its packages are installed */
export function aiSdkClients(folder: string): readonly Client[] {
  const load = createRequire(join(folder, 'package.json'))
  const ai = load('ai') as Ai
  Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false })
  return Object.entries(PACKAGES).map(([name, { client, ...about }]) => {
    const create = (load(about.package) as Readonly<Record<string, Create>>)[about.create]!
    const cannot = (scenario: string, upstream: Upstream) =>
      hidesPlainText(scenario) ?? client.cannot?.(scenario, upstream)
    return { name, ...client, cannot, connect: (target) => connect(ai, create, about, target) }
  })
}

function connect(
  ai: Ai,
  create: Create,
  about: Omit<Package, 'client'>,
  { url, headers, upstream }: Target,
): Connection {
  const { path, settings, models, thinking, options = {} } = about
  const factory = create({ baseURL: url + path, apiKey: 'k', headers, ...settings })
  const model = models === undefined ? factory(upstream.model) : factory[models](upstream.model)
  const tool = { description: TOOL.description, inputSchema: ai.jsonSchema({ ...TOOL.parameters }) }
  const settingsOf = (question: Question) => ({
    model,
    maxRetries: 0,
    system: 'Be brief.',
    messages: messagesOf(question),
    ...(question.offersTools && { tools: { [TOOL.name]: ai.tool(tool) } }),
    providerOptions: question.thinks ? thinking(upstream) : options,
    ...(question.limit && { maxOutputTokens: question.limit }),
    ...(question.signal && { abortSignal: question.signal }),
  })
  return {
    faultOf(error) {
      if (!(error instanceof Error))
        return { status: undefined, message: JSON.stringify(error), retryAfter: undefined, kind: 'event' }
      const isCall = ai.APICallError.isInstance(error)
      const retryAfter = isCall ? error.responseHeaders?.['retry-after'] : undefined
      return { status: isCall ? error.statusCode : undefined, message: error.message, retryAfter, kind: error.name }
    },
    async ask(question) {
      const asked = settingsOf(question)
      return answerOf(await ai.generateText(asked), asked.messages)
    },
    async stream(question, onText) {
      const asked = settingsOf(question)
      const stream = ai.streamText({ ...asked, onError: () => {} })
      for await (const { type, error } of stream.fullStream) {
        if (type === 'text-delta') onText()
        if (type === 'error') throw error
        if (type === 'abort') throw new Error('aborted')
      }
      const { text, toolCalls, finishReason, usage, response } = stream
      const generated = { output: undefined, text: await text, toolCalls: await toolCalls, usage: await usage }
      return answerOf({ ...generated, finishReason: await finishReason, response: await response }, asked.messages)
    },
    async parse(question, schema) {
      const output = ai.Output.object({ schema: ai.jsonSchema(schema), name: 'weather' })
      return (await ai.generateText({ ...settingsOf(question), output })).output
    },
    async runTools(question, run, isStream) {
      const execute = ({ city }: { city: string }) => run(city)
      const tools = { [TOOL.name]: ai.tool({ ...tool, execute }) }
      const asked = { ...settingsOf(question), tools, stopWhen: ai.stepCountIs(3) }
      return isStream ? ai.streamText(asked).text : (await ai.generateText(asked)).text
    },
  }
}

function messagesOf({ history, prompt, image, results = [] }: Question): object[] {
  const messages = [...((history as object[]) ?? [])]
  const content = results.map(({ id, name, text }) => {
    return { type: 'tool-result', toolCallId: id, toolName: name, output: { type: 'text', value: text } }
  })
  if (content.length > 0) messages.push({ role: 'tool', content })
  if (prompt === undefined) return messages
  const picture = image === undefined ? [] : [{ type: 'file', data: image, mediaType: 'image/png' }]
  return [...messages, { role: 'user', content: [{ type: 'text', text: prompt }, ...picture] }]
}

function answerOf({ text, toolCalls, finishReason, usage, response }: Generated, messages: object[]): Answer {
  return {
    text,
    calls: toolCalls.map(({ toolCallId, toolName, input }) => ({ id: toolCallId, name: toolName, input })),
    reason: reasonFrom(REASONS, finishReason),
    usage: { input: usage.inputTokens, cached: usage.cachedInputTokens, output: usage.outputTokens },
    history: [...messages, ...response.messages],
  }
}
