import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync } from 'node:zlib'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'

// Errors of all vendors, as the vendors' own clients get them through the gateway.

const KEY = 'sk-key/of+the-gateway'
const ROUTES = {
  '/chat/completions': 'Completions',
  '/messages': 'Messages',
  '/responses': 'Responses',
  '/embeddings': 'Embeddings',
  '/count_tokens': 'MessagesTokenCount',
  '/realtime': 'Realtime',
  '*': 'Passthrough',
}
const PROVIDERS = {
  one: { providerOne: {} },
  four: { providerFour: {} },
  five: { providerFive: {} },
  six: { providerSix: { projectId: 'p' } },
  seven: { providerSeven: {} },
}
type Provider = keyof typeof PROVIDERS

/** What the provider answers. */
let answer: { status: number; headers?: Record<string, string | string[]>; body: string | Buffer; reason?: string }
const stops = new AsyncDisposableStack()
let port: number

beforeAll(async () => {
  const server = createServer((incoming, response) => {
    incoming.resume().on('end', () => {
      const { status, headers, body, reason } = answer
      response.writeHead(status, reason, { 'content-type': 'application/json', ...headers }).end(body)
    })
  })
  server.on('upgrade', (_, socket) => {
    socket.end(`HTTP/1.1 ${answer.status} No\r\ncontent-length: ${answer.body.length}\r\n\r\n${answer.body}`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.defer(async () => {
    server.closeAllConnections()
    await new Promise<void>((resolve) => void server.close(() => resolve()))
  })
  port = await freePort()
  const providerPort = (server.address() as AddressInfo).port
  const gone = Object.entries(PROVIDERS).map(([name, provider]) => [`gone-${name}`, provider, 1] as const)
  const there = Object.entries(PROVIDERS).map(([name, provider]) => [name, provider, providerPort] as const)
  const backends = [...there, ...gone].map(([name, provider, at]) => {
    const host = { host: '127.0.0.1', port: at }
    const spec = {
      ai: { provider: { ...provider, ...host } },
      policies: { ai: { routes: ROUTES }, auth: { key: KEY } },
    }
    return `\napiVersion: gatewright.dev/v1alpha1\nkind: ProxyBackend\nmetadata: { name: ${name} }\nspec: ${JSON.stringify(spec)}\n`
  })
  const routes = [...there, ...gone].map(([name]) => routeYaml(name, `/${name}`, name))
  const objects = await createObjectsFolder({ 'all.yaml': joinYaml(gatewayYaml(port), ...backends, ...routes) })
  stops.defer(objects.remove)
  const gateway = await startGateway({ files: [objects.path], workers: 1 })
  stops.defer(async () => void (await gateway.close()))
})

afterAll(() => stops.disposeAsync())

const MODELS = {
  one: 'gpt-4o',
  four: 'claude-opus-5',
  five: 'gemini-3',
  six: 'claude-opus-5',
  seven: 'anthropic.claude-v9',
}
const messages = [{ role: 'user' as const, content: 'Hi.' }]
const CLIENTS = {
  chat: (provider: Provider) => openai(provider).chat.completions.create({ model: MODELS[provider], messages }),
  stream: (provider: Provider) =>
    openai(provider).chat.completions.create({ model: MODELS[provider], messages, stream: true }),
  responses: (provider: Provider) => openai(provider).responses.create({ model: MODELS[provider], input: 'Hi.' }),
  messages: (provider: Provider) =>
    anthropic(provider).messages.create({ model: MODELS[provider], max_tokens: 9, messages }),
  counts: (provider: Provider) => anthropic(provider).messages.countTokens({ model: MODELS[provider], messages }),
  embeddings: (provider: Provider) => openai(provider).embeddings.create({ model: MODELS[provider], input: 'Hi.' }),
}
type Client = keyof typeof CLIENTS
const openai = (provider: Provider) =>
  new OpenAI({ baseURL: `http://127.0.0.1:${port}/${provider}/v1`, apiKey: 'k', maxRetries: 0 })
const anthropic = (provider: Provider) =>
  new Anthropic({ baseURL: `http://127.0.0.1:${port}/${provider}`, apiKey: 'k', maxRetries: 0 })

/** What a vendor's client throws. */
interface Thrown {
  readonly status: number
  readonly headers: Headers
  /** The body; the object in its `error` for clients of chat completions. */
  readonly error: object
}

async function failure(client: Client, provider: Provider): Promise<Thrown> {
  try {
    await CLIENTS[client](provider)
  } catch (error) {
    return error as Thrown
  }
  throw new Error('it did not fail')
}

const google = (status: number, name: string) =>
  JSON.stringify([{ error: { code: status, message: 'Sorry.', status: name } }])
const BODIES: Readonly<Record<Provider, (status: number) => string>> = {
  one: () => '{"error":{"message":"Sorry.","type":"invalid_request_error","param":"model","code":"no_model"}}',
  four: () => '{"type":"error","error":{"type":"api_error","message":"Sorry."},"request_id":"r"}',
  five: (status) => google(status, 'INVALID_ARGUMENT'),
  six: (status) => google(status, 'INVALID_ARGUMENT'),
  seven: () => '{"message":"Sorry."}',
}

/** By the vendors' tables. 402, 413 have no class. */
const STATUSES = [
  [400, 'BadRequestError', 'invalid_request_error', 'invalid_request_error'],
  [401, 'AuthenticationError', 'authentication_error', 'authentication_error'],
  [402, 'APIError', 'invalid_request_error', 'billing_error'],
  [403, 'PermissionDeniedError', 'permission_error', 'permission_error'],
  [404, 'NotFoundError', 'invalid_request_error', 'not_found_error'],
  [413, 'APIError', 'invalid_request_error', 'request_too_large'],
  [429, 'RateLimitError', 'rate_limit_error', 'rate_limit_error'],
  [500, 'InternalServerError', 'server_error', 'api_error'],
  [504, 'InternalServerError', 'server_error', 'timeout_error'],
  [529, 'InternalServerError', 'server_error', 'overloaded_error'],
] as const

test.each<[client: Client, provider: Provider]>([
  ['chat', 'four'],
  ['stream', 'four'],
  ['chat', 'five'],
  ['stream', 'six'],
  ['chat', 'seven'],
  ['responses', 'four'],
  ['responses', 'five'],
  ['responses', 'seven'],
  ['messages', 'one'],
  ['messages', 'five'],
  ['messages', 'six'],
  ['messages', 'seven'],
  ['counts', 'six'],
  ['counts', 'seven'],
  ['embeddings', 'five'],
  ['embeddings', 'six'],
  ['embeddings', 'seven'],
])('clients of %s raise their own errors for all statuses of provider %s', async (client, provider) => {
  const isMessages = client === 'messages' || client === 'counts'
  for (const [status, name, chatType, messagesType] of STATUSES) {
    answer = { status, headers: { 'retry-after': '7', 'x-should-retry': 'false' }, body: BODIES[provider](status) }
    const thrown = await failure(client, provider)
    expect(thrown).toBeInstanceOf((isMessages ? Anthropic : OpenAI)[name])
    const { headers, error } = thrown
    expect([thrown.status, headers.get('retry-after'), headers.get('x-should-retry')]).toEqual([status, '7', 'false'])
    const written = { type: isMessages ? messagesType : chatType, message: 'Sorry.' }
    expect(error).toMatchObject(isMessages ? { type: 'error', error: written } : written)
  }
})

/** What a client without a library gets. @param gone the provider has no server */
async function raw(provider: Provider, path: string, more: object = {}, gone = '') {
  const body = JSON.stringify({ model: MODELS[provider], max_tokens: 9, messages, input: 'Hi.', ...more })
  const response = await fetch(`http://127.0.0.1:${port}/${gone}${provider}${path}`, {
    method: 'POST',
    body,
    redirect: 'manual',
  })
  const fields = JSON.stringify([...response.headers])
  return {
    status: response.status,
    reason: response.statusText,
    type: response.headers.get('content-type'),
    fields,
    text: await response.text(),
  }
}

const OWN_ERROR = ' {"error": {"message":"Sorry.","type":null,"param":null,"code":"x","innererror":{"more":1.0}}}\n'
const OWN_MESSAGES_ERROR = '{"type":"error", "error":{"type":"x","message":"Sorry."},"request_id":"r"}'

test.each<[what: string, provider: Provider, path: string, answered: typeof answer, got: string]>([
  ['in the format of the client', 'one', '/v1/chat/completions', { status: 400, body: OWN_ERROR }, OWN_ERROR],
  ['of a client of messages', 'four', '/v1/messages', { status: 529, body: OWN_MESSAGES_ERROR }, OWN_MESSAGES_ERROR],
  [
    'longer than what is read of others',
    'one',
    '/v1/responses',
    { status: 422, body: `${OWN_ERROR}${' '.repeat(1e6)}` },
    `${OWN_ERROR}${' '.repeat(1e6)}`,
  ],
  ['of any kind where the interface is unknown', 'one', '/v1/images', { status: 500, body: 'no' }, 'no'],
])('an error %s passes unchanged', async (_, provider, path, answered, got) => {
  answer = answered
  const { status, text } = await raw(provider, path)
  expect([status, text === got]).toEqual([answered.status, true])
})

const PAGE = `<html>${'é'.repeat(3000)}</html>`
const MADE = { param: null, code: null, type: 'server_error', message: `<html>${'é'.repeat(1021)}` }

test.each<[what: string, answered: Partial<typeof answer>]>([
  ['a page', { headers: { 'content-type': 'text/html' } }],
  [
    'a compressed page',
    { headers: { 'content-encoding': 'br', 'content-type': 'text/html' }, body: brotliCompressSync(PAGE) },
  ],
  ['a page that says that it is JSON', {}],
  ['a page of three megabytes', { body: PAGE + ' '.repeat(3e6) }],
])('%s of what stands before a provider becomes an error in the format of the client', async (_, answered) => {
  answer = { status: 503, body: PAGE, ...answered }
  for (const more of [{}, { stream: true }]) {
    const { status, type, text } = await raw('one', '/v1/chat/completions', more)
    expect([status, type, JSON.parse(text)]).toEqual([503, 'application/json', { error: MADE }])
  }
})

test.each<[provider: Provider, path: string]>([
  ['one', '/v1/messages'],
  ['four', '/v1/chat/completions'],
  ['four', '/v1/responses'],
  ['six', '/v1/chat/completions'],
  ['seven', '/v1/messages'],
  ['seven', '/v1/embeddings'],
])('what the gateway says about provider %s has the format of the client of %s', async (provider, path) => {
  const type = path === '/v1/messages' ? { type: 'error' } : {}
  const refused = await raw(provider, path, {}, 'gone-')
  expect([refused.status, JSON.parse(refused.text)]).toEqual([
    503,
    { ...type, error: expect.objectContaining({ code: 'upstream-failed' }) },
  ])
  answer = { status: 200, body: '[]' }
  const { status, text } = await raw(provider, path)
  expect([status, JSON.parse(text)]).toEqual([
    502,
    { ...type, error: expect.objectContaining({ code: 'llm-response-invalid' }) },
  ])
  expect(Object.keys(JSON.parse(text))).toEqual([...Object.keys(type), 'error'])
})

test('a whole answer within the limit becomes a stream, whatever its length', async () => {
  const content = [{ type: 'text', text: 'word '.repeat(300_000) }]
  answer = { status: 200, body: JSON.stringify({ id: 'm', content, stop_reason: 'end_turn' }) }
  const { status, text } = await raw('four', '/v1/responses', { stream: true })
  expect([status, text.length > 4_500_000, text.includes('event: response.completed')]).toEqual([200, true, true])
  answer = { status: 200, body: JSON.stringify({ id: 'm', content: [], type: 'error', error: { message: 'x' } }) }
  expect(await raw('four', '/v1/responses', { stream: true })).toMatchObject({ status: 500, type: 'application/json' })
})

const QUOTED = { status: 401, headers: { 'www-authenticate': `Bearer error="${KEY}"` }, reason: `Bad ${KEY}` }

test.each<[provider: Provider, path: string]>([
  ['one', '/v1/chat/completions'],
  ['one', '/v1/messages'],
  ['one', '/v1/responses'],
  ['one', '/v1/embeddings'],
  ['four', '/v1/messages'],
  ['four', '/v1/messages/count_tokens'],
  ['four', '/v1/chat/completions'],
  ['five', '/v1/embeddings'],
  ['six', '/v1/messages'],
  ['seven', '/v1/responses'],
])('no error of provider %s shows the key of the gateway to a client of %s', async (provider, path) => {
  for (const body of [
    JSON.stringify({ error: { message: `Bad key ${KEY}`, type: 'x' } }),
    JSON.stringify({ type: 'error', error: { message: `Bad key ${KEY}`, type: 'x' } }).replaceAll('/', '\\/'),
    `<p>GET /?key=${encodeURIComponent(KEY)} is not allowed</p>`,
  ]) {
    answer = { ...QUOTED, body }
    const { status, reason, fields, text } = await raw(provider, path)
    expect([status, reason]).toEqual([401, 'Unauthorized'])
    expect(JSON.parse(text)).toMatchObject({ error: { message: expect.stringContaining('<redacted>') } })
    expect(fields).toContain('<redacted>')
    expect(fields + text).not.toMatch(/sk-key|of.{1,3}the-gateway/)
  }
})

test('neither does a redirect, nor a provider of which only the fields are read', async () => {
  answer = { status: 302, headers: { location: `/?key=${encodeURIComponent(KEY)}` }, body: '' }
  expect((await raw('one', '/v1/chat/completions')).fields).toContain('"/?key=<redacted>"')
  answer = { ...QUOTED, body: 'no' }
  expect((await raw('one', '/v1/images')).fields).toContain('<redacted>')
})

test('nor one that refuses a session', async () => {
  answer = { status: 401, body: JSON.stringify({ error: { message: `Bad key ${KEY}` } }) }
  const headers = {
    connection: 'upgrade',
    upgrade: 'websocket',
    'sec-websocket-key': 'a2V5',
    'sec-websocket-version': '13',
  }
  const text = await new Promise((resolve, reject) => {
    request({ port, path: '/one/v1/realtime?model=gpt-realtime', headers })
      .on('response', (response) => response.setEncoding('utf8').on('data', resolve))
      .on('error', reject)
      .end()
  })
  expect(text).toBe('{"error":{"message":"Bad key <redacted>"}}')
})

test('nor one in an answer or a stream that is translated', async () => {
  const error = `{"type":"error","error":{"type":"authentication_error","message":"Bad key ${KEY}"}}`
  answer = { status: 200, headers: { 'content-type': 'text/event-stream' }, body: `event: error\ndata: ${error}\n\n` }
  expect(await raw('four', '/v1/chat/completions', { stream: true })).toMatchObject({ status: 401, text: HIDDEN })
  const start = 'data: {"type":"message_start","message":{"id":"m","content":[]}}\n\n'
  const block = 'data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Hi."}}\n\n'
  answer = { ...answer, body: `${start}${block}${answer.body}` }
  expect(await raw('four', '/v1/chat/completions', { stream: true })).toMatchObject({ status: 200, text: HIDDEN })
  answer = { status: 200, body: error }
  expect(await raw('four', '/v1/chat/completions')).toMatchObject({ status: 401, text: HIDDEN })
})

const HIDDEN = expect.stringContaining('Bad key <redacted>')
