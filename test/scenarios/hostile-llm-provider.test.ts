import { createServer, type Socket } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readMessage, readMessagesStream } from '#test/llm/answer-forms.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { PassingTime } from '#test/support/passing-time.ts'

// A provider of chat completions that does everything wrong, and clients of the messages API.

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
const ERROR = 'data: {"error":{"type":"overloaded_error","message":"busy"}}\n\n'
const DONE = 'data: [DONE]\n\n'
const STREAM = chunk({ role: 'assistant', content: 'good' }) + chunk({}, 'stop') + DONE
const message = { role: 'assistant', content: 'good' }
const WHOLE = JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }] })

const SSE = 'content-type: text/event-stream\r\n'
const JSON_TYPE = 'content-type: application/json\r\n'

function response(fields: string, body: string | Buffer, status = '200 OK'): string | Buffer {
  const head = `HTTP/1.1 ${status}\r\n${fields}content-length: ${Buffer.byteLength(body)}\r\n\r\n`
  return Buffer.concat([Buffer.from(head), Buffer.from(body)])
}

function chunked(fields: string, body: string, end = '0\r\n\r\n'): string {
  const size = Buffer.byteLength(body).toString(16)
  return `HTTP/1.1 200 OK\r\n${fields}transfer-encoding: chunked\r\n\r\n${size}\r\n${body}\r\n${end}`
}

const GZIP = 'content-encoding: gzip\r\n'
const BUSY = '{"error":{"type":"overloaded_error","message":"busy"}}'

/** Of an error, as clients of chat completions read them. */
const OF_ERROR = {
  'retry-after': '7',
  'retry-after-ms': '6500',
  'x-should-retry': 'false',
  'x-request-id': 'req_1',
  'x-ratelimit-limit-requests': '50',
  'x-ratelimit-remaining-tokens': '0',
  'x-ratelimit-reset-tokens': '6m0s',
}
const FIELDS = Object.entries(OF_ERROR).map(([name, value]) => `${name}: ${value}\r\n`)

/** Before the second byte of its text. */
const HALF_CHARACTER = Buffer.from(chunk({ content: 'é' })).subarray(0, chunk({ content: 'é' }).indexOf('é') + 1)
const call = (index: number, id: string, input: string) =>
  chunk({ tool_calls: [{ index, id, type: 'function', function: { name: 'f', arguments: input } }] })
const counted = (usage: object) => `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [], usage })}\n\n`
const other = (delta: object, finish: string | null = null) => chunk(delta, finish).replace('"index":0', '"index":1')
const NO_COUNTS = '{"prompt_tokens":-5,"completion_tokens":1e400,"total_tokens":"7"}'

/** What the provider sends, by model. */
const SENT: Readonly<Record<string, string | Buffer>> = {
  'a stream': chunked(SSE, STREAM),
  'a whole answer': response(JSON_TYPE, WHOLE),
  'an informational response first': `HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n${response(JSON_TYPE, WHOLE)}`,
  'trailers behind a stream': chunked(SSE, STREAM, '0\r\nx-a: b\r\n\r\n'),
  'a compressed answer': response(JSON_TYPE + GZIP, gzipSync(WHOLE)),
  'a compressed stream': response(`${SSE}content-encoding: br\r\n`, brotliCompressSync(STREAM)),
  'facts of its own bytes': response(`${JSON_TYPE}etag: "1"\r\ncontent-digest: sha-256=:abc=:\r\n`, WHOLE),
  'two end marks and more': chunked(SSE, STREAM + DONE + chunk({ content: 'late' })),
  'an error behind the end': chunked(SSE, STREAM.replace(DONE, ERROR)),
  'no end behind the end mark': chunked(SSE, STREAM, ''),
  'chunks without choices': chunked(
    SSE,
    `${counted({})}${STREAM.replaceAll(chunk({}, 'stop'), counted({}) + chunk({}, 'stop') + counted({}))}`,
  ),
  'three reasons to stop': chunked(
    SSE,
    chunk({ content: 'good' }, 'stop') + chunk({}, 'length') + chunk({}, 'stop') + DONE,
  ),
  'content behind the reason to stop': chunked(
    SSE,
    chunk({ content: 'good' }, 'stop') + chunk({ content: 'late' }) + DONE,
  ),
  'a second answer': chunked(
    SSE,
    other({ content: 'x' }) + chunk({ content: 'good' }) + other({}, 'length') + chunk({}, 'stop') + DONE,
  ),
  'a role in every chunk': chunked(
    SSE,
    chunk({ role: 'assistant', content: 'go' }) + chunk({ role: 'assistant', content: 'od' }, 'stop') + DONE,
  ),
  'counts that fall': chunked(
    SSE,
    STREAM.replace(
      DONE,
      [9, 4, -1, 2.5, '8'].map((completion_tokens) => counted({ prompt_tokens: 3, completion_tokens })).join('') + DONE,
    ),
  ),
  'calls with one id': chunked(
    SSE,
    call(0, 'same', '{"n":1}') + call(1, 'same', '{"n":2}') + chunk({}, 'tool_calls') + DONE,
  ),
  'calls without ids': chunked(SSE, call(0, '', '{"n":1}') + call(1, '', '{"n":2}') + chunk({}, 'tool_calls') + DONE),
  'calls with holes between their numbers': chunked(
    SSE,
    call(7, 'a', '{"n"') + call(3, 'b', '{"n":2') + call(7, 'a', ':1}') + call(3, 'b', '}') + chunk({}, 'stop') + DONE,
  ),
  'no content at all': chunked(SSE, chunk({}, 'length') + DONE),
  'counts that are none': response(JSON_TYPE, `${WHOLE.slice(0, -1)},"usage":${NO_COUNTS}}`),
  nothing: response(JSON_TYPE, ''),
  'bytes that are no text': response(JSON_TYPE, Buffer.from(WHOLE.replace('good', 'go\xff'), 'latin1')),
  'a stream that ends within a character': response(SSE, HALF_CHARACTER),
  'two codings': response(`${JSON_TYPE}content-encoding: gzip, gzip\r\n`, gzipSync(gzipSync(WHOLE))),
  'two codings in two fields': response(JSON_TYPE + GZIP + GZIP, gzipSync(gzipSync(WHOLE))),
  'one of two codings': response(JSON_TYPE + GZIP, gzipSync(gzipSync(WHOLE))),
  'an empty stream': response(SSE, ''),
  'only an end mark': chunked(SSE, DONE),
  'a page': response('content-type: text/html\r\n', '<html>sign in</html>'),
  'a stream that it calls JSON': chunked(JSON_TYPE, STREAM),
  'JSON that it calls a stream': response(SSE, WHOLE),
  'no content': 'HTTP/1.1 204 No Content\r\n\r\n',
  'not modified': 'HTTP/1.1 304 Not Modified\r\netag: "x"\r\n\r\n',
  'a redirect': response('location: http://127.0.0.1:1/\r\n', '', '302 Found'),
  'a compressed bomb': response(JSON_TYPE + GZIP, gzipSync(Buffer.alloc(50_000_000, 0x20))),
  'a lie about its coding': response(JSON_TYPE + GZIP, WHOLE),
  'an unknown coding': response(`${JSON_TYPE}content-encoding: x\r\n`, WHOLE),
  'a compressed stream that is cut off': response(SSE + GZIP, gzipSync(STREAM).subarray(0, 40)),
  'an event that is too large': chunked(SSE, chunk({ content: 'x'.repeat(3_000_000) })),
  'an error event first': chunked(SSE, ERROR),
  'a bad chunk before content': chunked(SSE, chunk({ role: 'assistant' }), 'zz\r\n'),
  'an error with a compressed body': response(JSON_TYPE + GZIP, gzipSync(BUSY), '529 Busy'),
  'an error with fields': response(JSON_TYPE + FIELDS.join(''), BUSY, '429 Too Many Requests'),
  'an error with a coding that is unknown': response(`${JSON_TYPE}content-encoding: x\r\n`, BUSY, '529 Busy'),
  'an error whose body breaks off': chunked(JSON_TYPE, BUSY, 'zz\r\n').replace('200 OK', '529 Busy'),
  'an error event behind content': chunked(SSE, chunk({ content: 'good' }) + ERROR + chunk({ content: 'late' })),
  'a bad chunk behind content': chunked(SSE, chunk({ content: 'good' }), 'zz\r\n'),
}

const stops = new AsyncDisposableStack()
const time = stops.use(new PassingTime())
let gateway: TestGateway
let port: number
/** Connections of the gateway. */
const open = new Set<Socket>()

function serve(socket: Socket): void {
  open.add(socket)
  socket.on('close', () => open.delete(socket))
  socket.on('error', () => {})
  let received = ''
  socket.on('data', (piece) => {
    received += piece
    const [, model] = /"model":"([^"]*)"/.exec(received) ?? []
    if (model === undefined || !received.endsWith('}')) return
    received = ''
    socket.write(SENT[model] ?? response(`${JSON_TYPE}${model}\r\n`, BUSY, '429 Too Many Requests'))
  })
}

beforeAll(async () => {
  const server = createServer(serve)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.defer(() => new Promise((resolve) => void server.close(() => resolve())))
  stops.defer(async () => {
    for (const socket of open) socket.destroy()
  })
  const provider = { providerOne: {}, host: '127.0.0.1', port: (server.address() as { port: number }).port }
  port = await freePort()
  const objects = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: models }
spec: ${JSON.stringify({ ai: { provider } })}
`,
      routeYaml('chat', '/v1', 'models'),
      `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyPolicy
metadata: { name: types }
spec:
  targetRefs: [{ group: gatewright.dev, kind: ProxyBackend, name: models }]
  backend: { ai: { routes: { /messages: Messages } } }
`,
    ),
  })
  stops.defer(objects.remove)
  gateway = await startGateway({ files: [objects.path], workers: 1 })
  stops.defer(async () => void (await gateway.close()))
})

afterAll(() => stops.disposeAsync())

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

async function ask(model: string, stream: boolean): Promise<Answer> {
  const messages = [{ role: 'user', content: 'Hi' }]
  const response = await fetch(`${gateway.url(port)}/v1/messages`, {
    method: 'POST',
    body: JSON.stringify({ model, stream, max_tokens: 5, messages }),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

const ask2 = (model: string) => Promise.all([ask(model, false), ask(model, true)])

test.each([
  'a stream',
  'a whole answer',
  'an informational response first',
  'trailers behind a stream',
  'a compressed answer',
  'a compressed stream',
  'facts of its own bytes',
  'two end marks and more',
  'an error behind the end',
  'counts that are none',
  'chunks without choices',
  'three reasons to stop',
  'content behind the reason to stop',
  'a second answer',
  'a role in every chunk',
  'counts that fall',
  'no end behind the end mark',
])('%s: the client gets what it asked for', async (model) => {
  const [whole, streamed] = await time.hurry(ask2(model))
  const good = { text: 'good', thinking: '', calls: [], hasFailed: false }
  expect([whole.status, readMessage(whole.text)]).toEqual([200, good])
  expect([streamed.status, readMessagesStream(streamed.text)]).toEqual([200, good])
  for (const { headers } of [whole, streamed]) {
    expect(['content-encoding', 'etag', 'content-digest'].filter((name) => headers.has(name))).toEqual([])
  }
})

test('a provider that does not end its response is disconnected', async () => {
  await ask('no end behind the end mark', true)
  await time.sooner('no connection', () => open.size === 0 || undefined)
})

test.each<[model: string, status: number, detail: string]>([
  ['nothing', 502, "the provider's stream ended before the response was complete"],
  ['an empty stream', 502, "the provider's stream ended before the response was complete"],
  ['only an end mark', 502, "the provider's stream ended before the response was complete"],
  ['a page', 502, 'the response is not JSON at byte 0'],
  ['a stream that it calls JSON', 502, 'the response is not JSON at byte 0'],
  ['JSON that it calls a stream', 502, "the provider's stream ended before the response was complete"],
  ['no content', 502, 'unexpected status 204'],
  ['not modified', 502, 'unexpected status 304'],
  ['a redirect', 502, 'unexpected status 302'],
  ['a compressed bomb', 502, 'unknown or damaged content coding'],
  ['a lie about its coding', 502, 'unknown or damaged content coding'],
  ['an unknown coding', 502, 'unknown or damaged content coding'],
  ['bytes that are no text', 502, 'the response is not JSON at byte 87'],
  ['a stream that ends within a character', 502, "the provider's stream ended before the response was complete"],
  ['two codings', 502, 'unknown or damaged content coding'],
  ['two codings in two fields', 502, 'unknown or damaged content coding'],
  ['one of two codings', 502, 'the response is not JSON at byte 1'],
  ['a compressed stream that is cut off', 502, "the provider's stream ended before the response was complete"],
  ['an event that is too large', 502, 'an event of the stream is too large'],
  ['an error event first', 529, 'busy'],
  ['a bad chunk before content', 502, "the provider's stream was interrupted"],
])('%s: a refusal with status %i, streamed or not', async (model, status, detail) => {
  for (const { status: given, text, headers } of await ask2(model)) {
    expect([given, headers.get('content-type')]).toEqual([status, 'application/json'])
    const { type, error } = JSON.parse(text)
    expect([type, error.message]).toEqual(['error', `invalid provider response: ${detail}`])
  }
})

test.each<[model: string, message: string]>([
  ['an error with a compressed body', 'busy'],
  ['an error whose body breaks off', 'busy'],
  ['an error with a coding that is unknown', 'the provider responded with status 529'],
])('%s stays the error', async (model, message) => {
  for (const { status, text } of await ask2(model)) {
    expect([status, JSON.parse(text)]).toEqual([529, { type: 'error', error: { type: 'overloaded_error', message } }])
  }
})

test.each<[model: string, status: number]>([
  ['an error event behind content', 529],
  ['a bad chunk behind content', 502],
])('%s: an error event, or a refusal of a whole answer', async (model, status) => {
  const [whole, streamed] = await ask2(model)
  expect(whole.status).toBe(status)
  expect([streamed.status, readMessagesStream(streamed.text)]).toEqual([
    200,
    { text: 'good', thinking: '', calls: [], hasFailed: true },
  ])
})

test.each<[model: string, ids: readonly (string | RegExp)[]]>([
  ['calls with one id', ['same', /^toolu_/]],
  ['calls without ids', [/^toolu_/, /^toolu_/]],
  ['calls with holes between their numbers', ['a', 'b']],
])('%s are two calls with their own ids', async (model, ids) => {
  const [, streamed] = await ask2(model)
  const calls = [
    ['f', '{"n":1}'],
    ['f', '{"n":2}'],
  ]
  expect(readMessagesStream(streamed.text)).toEqual({ text: '', thinking: '', calls, hasFailed: false })
  const given = [...streamed.text.matchAll(/"tool_use","id":"([^"]*)"/g)].map(([, id]) => id!)
  expect(new Set(given).size).toBe(2)
  for (const [position, id] of ids.entries()) expect(given[position]).toMatch(id)
})

test('a finished answer without content is an empty message', async () => {
  for (const { status, text } of await ask2('no content at all')) {
    expect([status, text.includes('"stop_reason":"max_tokens"')]).toEqual([200, true])
  }
})

test.each<[retryAfter: string]>([
  ['-1'],
  ['1e309'],
  ['soon'],
  ['9'.repeat(4000)],
  ['Fri, 31 Dec 9999 23:59:59 GMT'],
  ['Thu, 01 Jan 1970 00:00:00 GMT'],
  [''],
])('the time %s to wait passes unchanged, and nothing waits for it', async (retryAfter) => {
  for (const { status, headers } of await ask2(`retry-after: ${retryAfter}`)) {
    expect([status, headers.get('retry-after')]).toEqual([429, retryAfter])
  }
})

test('fields of an error pass, and have the names that the client reads, too', async () => {
  const named = {
    'request-id': 'req_1',
    'anthropic-ratelimit-requests-limit': '50',
    'anthropic-ratelimit-tokens-remaining': '0',
  }
  for (const { status, headers } of await ask2('an error with fields')) {
    expect([status, Object.fromEntries(headers)]).toEqual([429, expect.objectContaining({ ...OF_ERROR, ...named })])
  }
})
