import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { encodeEvent } from '#net/event-stream/event-frame.ts'
import { encodeHeaders } from '#net/event-stream/event-header.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'

// The vendors' own clients reach models behind the Converse API.

const MODEL = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'
const stops = new AsyncDisposableStack()
let port: number

interface Answer {
  readonly status?: number
  /** Bytes are sent as an event stream, something else as JSON. */
  readonly body: unknown
}

let answer: Answer
let got: { path: string; body: unknown; authorization: string | undefined; isSigned: boolean }

async function startProvider(): Promise<number> {
  const server = createServer(async (incoming, response) => {
    const pieces: Buffer[] = []
    for await (const piece of incoming) pieces.push(piece as Buffer)
    got = {
      path: incoming.url!,
      body: JSON.parse(Buffer.concat(pieces).toString()),
      authorization: incoming.headers.authorization,
      isSigned: incoming.headers['x-amz-date'] !== undefined,
    }
    const isStream = answer.body instanceof Uint8Array
    const type = isStream ? 'application/vnd.amazon.eventstream' : 'application/json'
    response.writeHead(answer.status ?? 200, { 'content-type': type })
    response.end(isStream ? answer.body : JSON.stringify(answer.body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.defer(() => new Promise((resolve) => void server.close(() => resolve())))
  stops.defer(async () => server.closeAllConnections())
  return (server.address() as AddressInfo).port
}

beforeAll(async () => {
  const provider = await startProvider()
  port = await freePort()
  const spec = {
    ai: {
      provider: {
        providerSeven: { guardrail: { identifier: 'gr1', version: '2' } },
        host: '127.0.0.1',
        port: provider,
      },
    },
    policies: {
      auth: { key: 'api-key' },
      ai: { routes: { '/chat/completions': 'Completions', '/messages': 'Messages' } },
    },
  }
  const backend = `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: bedrock }
spec: ${JSON.stringify(spec)}
`
  const objects = await createObjectsFolder({
    'all.yaml': joinYaml(gatewayYaml(port), backend, routeYaml('all', '/', 'bedrock')),
  })
  stops.defer(objects.remove)
  const gateway = await startGateway({ files: [objects.path], workers: 1 })
  stops.defer(async () => void (await gateway.close()))
})

afterAll(() => stops.disposeAsync())

const openai = () => new OpenAI({ baseURL: `http://127.0.0.1:${port}/v1`, apiKey: 'k', maxRetries: 0 })
const anthropic = () => new Anthropic({ baseURL: `http://127.0.0.1:${port}`, apiKey: 'k', maxRetries: 0 })

function frame(headers: Readonly<Record<string, string>>, payload: object): Uint8Array {
  const given = Object.entries(headers).map(([name, value]) => ({ name, type: 'text' as const, value }))
  return encodeEvent(encodeHeaders(given), Buffer.from(JSON.stringify(payload)))
}
const event = (type: string, payload: object) => frame({ ':message-type': 'event', ':event-type': type }, payload)
const delta = (contentBlockIndex: number, given: object) =>
  event('contentBlockDelta', { contentBlockIndex, delta: given })
const stop = (contentBlockIndex: number) => event('contentBlockStop', { contentBlockIndex })
const USAGE = { inputTokens: 7, outputTokens: 9, totalTokens: 116, cacheReadInputTokens: 100 }

const CALL_STREAM = Buffer.concat([
  event('messageStart', { role: 'assistant' }),
  delta(0, { reasoningContent: { text: 'Look it up.' } }),
  delta(0, { reasoningContent: { signature: 'c2ln' } }),
  stop(0),
  delta(1, { text: 'I look.' }),
  stop(1),
  event('contentBlockStart', { contentBlockIndex: 2, start: { toolUse: { toolUseId: 't1', name: 'get_weather' } } }),
  delta(2, { toolUse: { input: '{"city":' } }),
  delta(2, { toolUse: { input: '"Oslo"}' } }),
  stop(2),
  event('messageStop', { stopReason: 'tool_use' }),
  event('metadata', { usage: USAGE, metrics: { latencyMs: 5 } }),
])
const PARAMETERS = { type: 'object' as const, properties: { city: { type: 'string' } } }
const SENT = {
  messages: [{ role: 'user', content: [{ text: 'Weather?' }] }],
  inferenceConfig: { maxTokens: 50 },
  toolConfig: { tools: [{ toolSpec: { name: 'get_weather', inputSchema: { json: PARAMETERS } } }] },
  guardrailConfig: { guardrailIdentifier: 'gr1', guardrailVersion: '2', trace: 'enabled' },
}

test('a client of chat completions streams a thought and a call, under the name that it gave the tool', async () => {
  answer = { body: CALL_STREAM }
  const stream = openai().chat.completions.stream({
    model: MODEL,
    max_completion_tokens: 50,
    messages: [{ role: 'user', content: 'Weather?' }],
    tools: [{ type: 'function', function: { name: 'get.weather', parameters: PARAMETERS } }],
    stream_options: { include_usage: true },
  })
  const { choices, usage } = await stream.finalChatCompletion()
  expect(choices[0]).toMatchObject({
    finish_reason: 'tool_calls',
    message: {
      content: 'I look.',
      tool_calls: [{ id: 't1', function: { name: 'get.weather', arguments: '{"city":"Oslo"}' } }],
    },
  })
  expect(usage).toMatchObject({
    prompt_tokens: 107,
    completion_tokens: 9,
    total_tokens: 116,
    prompt_tokens_details: { cached_tokens: 100 },
  })
  const path = `/model/${MODEL}/converse-stream`
  expect(got).toEqual({ path, authorization: 'Bearer api-key', isSigned: false, body: SENT })
})

test('a client of messages streams the same', async () => {
  answer = { body: CALL_STREAM }
  const stream = anthropic().messages.stream({
    model: MODEL,
    max_tokens: 50,
    messages: [{ role: 'user', content: 'Weather?' }],
    tools: [{ name: 'get_weather', input_schema: PARAMETERS }],
  })
  const message = await stream.finalMessage()
  expect(message).toMatchObject({
    stop_reason: 'tool_use',
    content: [
      { type: 'thinking', thinking: 'Look it up.', signature: 'c2ln' },
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 't1', name: 'get_weather', input: { city: 'Oslo' } },
    ],
    usage: { input_tokens: 7, cache_read_input_tokens: 100, output_tokens: 9 },
  })
  expect(got.body).toEqual(SENT)
})

test('whole answers', async () => {
  const content = [{ text: 'Hello.' }]
  answer = { body: { output: { message: { role: 'assistant', content } }, stopReason: 'end_turn', usage: USAGE } }
  const completion = await openai().chat.completions.create({
    model: MODEL,
    messages: [{ role: 'user', content: 'Hi.' }],
  })
  expect(completion).toMatchObject({
    model: MODEL,
    choices: [{ message: { content: 'Hello.' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 107 },
  })
  expect(got.path).toBe(`/model/${MODEL}/converse`)
  const message = await anthropic().messages.create({
    model: MODEL,
    max_tokens: 9,
    messages: [{ role: 'user', content: 'Hi.' }],
  })
  expect(message).toMatchObject({ content: [{ type: 'text', text: 'Hello.' }], stop_reason: 'end_turn' })
})

async function failure(call: Promise<unknown>): Promise<unknown> {
  try {
    await call
  } catch (error) {
    return error
  }
  throw new Error('it did not fail')
}

const ask = () =>
  openai()
    .chat.completions.stream({ model: MODEL, messages: [{ role: 'user', content: 'Hi.' }] })
    .finalChatCompletion()

test('an exception in a stream is an error for the client', async () => {
  const exception = { ':message-type': 'exception', ':exception-type': 'throttlingException' }
  answer = {
    body: Buffer.concat([
      event('messageStart', { role: 'assistant' }),
      delta(0, { text: 'Hel' }),
      frame(exception, { message: 'Too many tokens.' }),
    ]),
  }
  expect(String(await failure(ask()))).toContain('Too many tokens.')
})

test('a stream that ends within a frame, or has a frame that is not valid, is an error for the client', async () => {
  const broken = Buffer.from(CALL_STREAM)
  broken[CALL_STREAM.length - 500]! ^= 1
  answer = { body: broken }
  expect(String(await failure(ask()))).toContain('checksum')
  answer = { body: CALL_STREAM.subarray(0, 400) }
  expect(String(await failure(ask()))).toContain('ended before')
})

test.each([
  [429, OpenAI.RateLimitError],
  [400, OpenAI.BadRequestError],
  [403, OpenAI.PermissionDeniedError],
])('errors with the status %d keep it and their message', async (status, type) => {
  answer = { status, body: { message: 'Sorry.' } }
  const error = await failure(ask())
  expect(error).toBeInstanceOf(type)
  expect(String(error)).toContain('Sorry.')
})

test('what the provider cannot take is the fault of the client, with its place', async () => {
  const content = [{ type: 'image_url' as const, image_url: { url: 'https://images.test/a.png' } }]
  const error = await failure(openai().chat.completions.create({ model: MODEL, messages: [{ role: 'user', content }] }))
  expect(error).toBeInstanceOf(OpenAI.BadRequestError)
  expect(String(error)).toContain('messages[0].content[0]')
})
