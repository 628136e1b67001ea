import { deepStrictEqual, equal, ok } from 'node:assert/strict'
import OpenAI from 'openai'
import type { RunnableToolFunctionWithParse } from 'openai/lib/RunnableFunction'
import { OpenAIRealtimeWS } from 'openai/realtime/ws'
import type {
  ChatCompletion,
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions'
import type { RealtimeResponse } from 'openai/resources/realtime/realtime'
import type {
  Response,
  ResponseCreateParamsNonStreaming,
  ResponseInputItem,
} from 'openai/resources/responses/responses'
import { CERTIFICATES } from '#net/testing/certificates.ts'
import {
  type Answer,
  type Client,
  type Connection,
  type Fault,
  type Question,
  reasonFrom,
  type Target,
} from '../client.ts'
import { PARAMETERS, PROMPT, TEXTS, TOOL, USAGE } from '../replies.ts'
import { ALIAS, OWN_MODEL, withoutThoughts } from '../upstreams.ts'
import { VECTOR } from '../vendor/embeddings.ts'

const REASONS = { stop: 'stop', length: 'length', tool_calls: 'calls', content_filter: 'refusal' } as const
const ERRORS = {
  400: 'BadRequestError',
  401: 'AuthenticationError',
  403: 'PermissionDeniedError',
  422: 'UnprocessableEntityError',
  429: 'RateLimitError',
  500: 'InternalServerError',
  503: 'InternalServerError',
  529: 'InternalServerError',
} as const

function clientOf({ url, headers }: Target, maxRetries = 0): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: 'k', maxRetries, defaultHeaders: headers })
}

function faultOf(error: unknown): Fault | undefined {
  if (error instanceof FailedResponse)
    return { status: undefined, message: error.message, retryAfter: undefined, kind: 'failed' }
  if (!(error instanceof OpenAI.APIError)) return undefined
  const { status, message, headers } = error
  return { status, message, retryAfter: headers?.get('retry-after') ?? undefined, kind: error.constructor.name }
}

/** Chat completions: `create`, the helper for streams, `parse`, and the tool runner. */
export const openaiChat: Client = {
  name: 'openai chat',
  errors: ERRORS,
  losesThoughts: withoutThoughts,
  connect: (target) => chat(target),
}

function chat(target: Target): Connection {
  const client = clientOf(target)
  const { model } = target.upstream
  const paramsOf = (question: Question): ChatCompletionCreateParamsNonStreaming => ({
    model,
    messages: chatMessages(question),
    ...(question.offersTools && {
      tools: [{ type: 'function', function: { ...TOOL, parameters: { ...PARAMETERS } } }],
    }),
    ...(question.thinks && { reasoning_effort: 'low' }),
    ...(question.limit && { max_completion_tokens: question.limit }),
  })
  return {
    faultOf,
    async ask(question) {
      const params = paramsOf(question)
      return chatAnswer(
        await client.chat.completions.create(params, { signal: question.signal ?? null }),
        params.messages,
      )
    },
    async stream(question, onText) {
      const params = paramsOf(question)
      const options = { signal: question.signal ?? null }
      const stream = client.chat.completions.stream(
        { ...params, stream: true, stream_options: { include_usage: true } },
        options,
      )
      stream.on('content', onText)
      return chatAnswer(await stream.finalChatCompletion(), params.messages)
    },
    async parse(question, schema) {
      const format = { name: 'weather', strict: true, schema: { ...schema } }
      const completion = await client.chat.completions.parse({
        ...paramsOf(question),
        response_format: { type: 'json_schema', json_schema: format },
      })
      return JSON.parse(completion.choices[0]!.message.content!)
    },
    async runTools(question, run, isStream) {
      const tool: RunnableToolFunctionWithParse<{ city: string }> = {
        type: 'function',
        function: {
          ...TOOL,
          parameters: { ...PARAMETERS, required: ['city'] },
          parse: (text) => JSON.parse(text) as { city: string },
          function: ({ city }) => run(city),
        },
      }
      const params = { model, messages: chatMessages(question), tools: [tool] }
      const runner = isStream
        ? client.chat.completions.runTools({ ...params, stream: true })
        : client.chat.completions.runTools(params)
      return (await runner.finalContent()) ?? ''
    },
  }
}

function chatMessages({ history, prompt, image, results = [] }: Question): ChatCompletionMessageParam[] {
  const messages = [...((history as ChatCompletionMessageParam[]) ?? [{ role: 'developer', content: 'Be brief.' }])]
  for (const { id, text } of results) messages.push({ role: 'tool', tool_call_id: id, content: text })
  if (prompt === undefined) return messages
  const url = `data:image/png;base64,${image}`
  const parts = [
    { type: 'text', text: prompt },
    { type: 'image_url', image_url: { url } },
  ] as const
  return [...messages, { role: 'user', content: image === undefined ? prompt : [...parts] }]
}

function chatAnswer({ choices, usage }: ChatCompletion, messages: ChatCompletionMessageParam[]): Answer {
  const [{ message, finish_reason } = { message: undefined, finish_reason: undefined }] = choices
  const calls = message?.tool_calls ?? []
  return {
    text: message?.content ?? '',
    calls: calls.map((call) => {
      if (call.type !== 'function') throw new Error('a custom call')
      return { id: call.id, name: call.function.name, input: JSON.parse(call.function.arguments) }
    }),
    reason: message?.refusal ? 'refusal' : reasonFrom(REASONS, finish_reason),
    usage: {
      input: usage?.prompt_tokens,
      cached: usage?.prompt_tokens_details?.cached_tokens,
      output: usage?.completion_tokens,
    },
    history: [...messages, message],
  }
}

/** Responses: `create`, the helper for streams, `parse`, and `retrieve`. */
export const openaiResponses: Client = {
  name: 'openai responses',
  errors: ERRORS,
  connect: (target) => responses(target),
  cannot(scenario, { servesResponses }) {
    if (scenario === 'retrieve' && !servesResponses) return 'the provider stores no responses'
    return scenario === 'runner' ? 'the client has no tool runner for responses' : undefined
  },
  checks: {
    async retrieve(target) {
      const { output_text } = await clientOf(target).responses.retrieve('resp_1')
      equal(output_text, 'Stored.')
    },
  },
}

function responses(target: Target): Connection {
  const client = clientOf(target)
  const { model } = target.upstream
  const paramsOf = (question: Question): ResponseCreateParamsNonStreaming => ({
    model,
    instructions: 'Be brief.',
    input: inputOf(question),
    store: false,
    ...(question.offersTools && {
      tools: [{ type: 'function', ...TOOL, parameters: { ...PARAMETERS }, strict: true }],
    }),
    ...(question.thinks && { reasoning: { effort: 'low', summary: 'auto' }, include: ['reasoning.encrypted_content'] }),
    ...(question.limit && { max_output_tokens: question.limit }),
  })
  return {
    faultOf,
    async ask(question) {
      const params = paramsOf(question)
      return responseAnswer(await client.responses.create(params, { signal: question.signal ?? null }), params.input)
    },
    async stream(question, onText) {
      const params = paramsOf(question)
      const stream = client.responses.stream({ ...params, stream: true }, { signal: question.signal ?? null })
      stream.on('response.output_text.delta', onText)
      return responseAnswer(await stream.finalResponse(), params.input)
    },
    async parse(question, schema) {
      const format = { type: 'json_schema' as const, name: 'weather', strict: true, schema: { ...schema } }
      const { output_text } = await client.responses.parse({ ...paramsOf(question), text: { format } })
      return JSON.parse(output_text)
    },
  }
}

function inputOf({ history, prompt, image, results = [] }: Question): ResponseInputItem[] {
  const items = [...((history as ResponseInputItem[]) ?? [])]
  for (const { id, text } of results) items.push({ type: 'function_call_output', call_id: id, output: text })
  if (prompt === undefined) return items
  const picture = { type: 'input_image', detail: 'auto', image_url: `data:image/png;base64,${image}` } as const
  const content = [{ type: 'input_text', text: prompt } as const, ...(image === undefined ? [] : [picture])]
  return [...items, { role: 'user', content }]
}

/** The client gives these as responses. */
class FailedResponse extends Error {}

function responseAnswer(response: Response, input: ResponseCreateParamsNonStreaming['input']): Answer {
  const { output, status, incomplete_details, usage } = response
  if (status === 'failed') throw new FailedResponse(response.error?.message)
  const calls = output.flatMap((item) => (item.type === 'function_call' ? [item] : []))
  const parts = output.flatMap((item) => (item.type === 'message' ? item.content : []))
  const isRefused = parts.some((part) => part.type === 'refusal') || incomplete_details?.reason === 'content_filter'
  const isLong = status === 'incomplete' && incomplete_details?.reason === 'max_output_tokens'
  const ended = status === 'completed' ? (calls.length > 0 ? 'calls' : 'stop') : (`? ${status}` as const)
  return {
    text: response.output_text,
    calls: calls.map(({ call_id, name, arguments: text }) => ({ id: call_id, name, input: JSON.parse(text) })),
    reason: isRefused ? 'refusal' : isLong ? 'length' : ended,
    usage: {
      input: usage?.input_tokens,
      cached: usage?.input_tokens_details?.cached_tokens,
      output: usage?.output_tokens,
    },
    history: [...(input as ResponseInputItem[]), ...output],
  }
}

/** Sessions over a WebSocket, which the client opens over TLS only. */
export const openaiRealtime: Client = {
  name: 'openai realtime',
  unreachable: ({ servesResponses }) => (servesResponses ? undefined : 'the provider has no realtime API'),
  checks: {
    async realtime({ secureUrl, upstream, headers }) {
      const client = new OpenAI({ baseURL: `${secureUrl}/v1`, apiKey: 'k' })
      const session = new OpenAIRealtimeWS({ model: upstream.model, options: { ca: CERTIFICATES.ca, headers } }, client)
      let text = ''
      session.on('session.created', () => session.send({ type: 'response.create' }))
      session.on('response.output_text.delta', ({ delta }) => {
        text += delta
      })
      const { usage } = await new Promise<RealtimeResponse>((resolve, reject) => {
        session.on('response.done', ({ response }) => resolve(response))
        session.on('error', reject)
      })
      session.close()
      deepStrictEqual([text, usage?.input_tokens, usage?.output_tokens], [TEXTS.join(''), USAGE.input, USAGE.output])
    },
  },
}

/** Embeddings, models, and retries. */
export const openaiOthers: Client = {
  name: 'openai others',
  cannot(scenario, { embeds }) {
    return scenario.startsWith('embed') && embeds === undefined ? 'the provider has no embeddings' : undefined
  },
  checks: {
    async retried(target) {
      const messages: ChatCompletionMessageParam[] = [{ role: 'user', content: PROMPT }]
      const params = { model: target.upstream.model, messages }
      const { choices } = await clientOf(target, 1).chat.completions.create(params)
      equal(choices[0]!.message.content, TEXTS.join(''))
    },
    async embeddings(target) {
      const { data, usage } = await clientOf(target).embeddings.create({ model: target.upstream.embeds!, input: 'a' })
      deepStrictEqual([data.map(({ embedding }) => embedding), usage.prompt_tokens], [[VECTOR], 3])
    },
    async models(target) {
      const ids: string[] = []
      for await (const { id } of clientOf(target).models.list()) ids.push(id)
      const expected = target.upstream.lists ? [ALIAS, OWN_MODEL] : [ALIAS]
      ok(
        expected.every((id) => ids.includes(id)),
        `the models are ${ids}`,
      )
    },
  },
}
