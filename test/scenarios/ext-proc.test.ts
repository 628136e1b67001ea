import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { gatewright } from '#test/support/command-line.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { backendYaml, createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import {
  type AnswerPart,
  headersOf,
  setting,
  startProcessor,
  type Talk,
  type TestProcessor,
  unchanged,
} from '#test/support/processor.ts'
import { verifies } from '#test/support/verifies.ts'

// External processing in a running gateway, by a processor of `@grpc/grpc-js` that reads and writes the published messages.

const stops = new AsyncDisposableStack()
let gateway: TestGateway
let port: number
let objectsPath: string
let processor: TestProcessor
/** What the processor does. */
let answer: AnswerPart = unchanged
/** The backend's last request. */
let seen: { method: string; url: string; headers: http.IncomingHttpHeaders; body: string } | undefined
/** Answers of the backend. */
let respond: (request: IncomingMessage, response: ServerResponse, body: string) => void

const NONE = { requestBodyMode: 'None', responseBodyMode: 'None' }
const HEADERS_ONLY = { ...NONE, requestTrailerMode: 'Skip', responseTrailerMode: 'Skip' }
const SKIP = { requestHeaderMode: 'Skip', responseHeaderMode: 'Skip' }
const buffered = (mode: string) => ({ requestBodyMode: mode, responseBodyMode: mode })

const ROUTES: Readonly<Record<string, object>> = {
  default: {},
  none: { processingOptions: NONE },
  'headers-only': { processingOptions: HEADERS_ONLY },
  'skip-headers': { processingOptions: SKIP },
  'skip-all': { processingOptions: { ...SKIP, ...HEADERS_ONLY } },
  buffered: { processingOptions: buffered('Buffered') },
  'buffered-without-headers': { processingOptions: { ...SKIP, ...buffered('Buffered') } },
  partial: { processingOptions: buffered('BufferedPartial') },
  override: { processingOptions: { ...NONE, allowModeOverride: true } },
  'no-override': { processingOptions: NONE },
  requests: { processingOptions: { ...NONE, responseHeaderMode: 'Skip', responseTrailerMode: 'Skip' } },
  responses: { processingOptions: { ...NONE, requestHeaderMode: 'Skip', requestTrailerMode: 'Skip' } },
}

beforeAll(async () => {
  processor = await startProcessor((part, talk) => answer(part, talk))
  stops.defer(() => processor.close())
  const backend = http.createServer((request, response) => {
    let body = ''
    request.on('data', (bytes: Buffer) => {
      body += bytes.toString('latin1')
    })
    request.on('end', () => {
      seen = { method: request.method!, url: request.url!, headers: request.headers, body }
      respond(request, response, body)
    })
  })
  await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve))
  stops.defer(() => {
    backend.close()
    backend.closeAllConnections()
  })
  port = await freePort()
  const backendRef = { group: 'gatewright.dev', kind: 'ProxyBackend', name: 'processor' }
  const names = Object.keys(ROUTES)
  const objects = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      backendYaml('backend', (backend.address() as AddressInfo).port),
      backendYaml('processor', processor.port),
      ...names.map((name) => routeYaml(name, `/${name}`, 'backend')),
      ...names.map((name) =>
        policyYaml(name, 'HTTPRoute', name, { traffic: { extProc: { backendRef, ...ROUTES[name] } } }),
      ),
    ),
  })
  stops.defer(() => objects.remove())
  objectsPath = objects.path
  gateway = await startGateway({ files: [objects.path], workers: 1 })
  stops.use(gateway)
})
afterAll(() => stops.disposeAsync())

beforeEach(() => {
  answer = unchanged
  seen = undefined
  processor.talks.length = 0
  respond = (_, response, body) => response.end(`got ${body}`)
})

interface Received {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

async function send(path: string, init: RequestInit = {}): Promise<Received> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, init)
  return { status: response.status, headers: response.headers, body: await response.text() }
}

const post = (path: string, body: string, headers: Record<string, string> = {}) =>
  send(path, { method: 'POST', body, headers })

afterEach(() =>
  eventually('all streams are over', () => processor.talks.every(({ ended, cancelled }) => ended || cancelled)),
)

const talk = (): Talk => processor.talks[0]!
const at =
  (name: string, found: object): AnswerPart =>
  (part) =>
    part.request === name ? found : unchanged(part)

verifies(
  [
    'traffic.extProc/backendRef',
    'traffic.extProc/requestBodyMode-default',
    'traffic.extProc/responseBodyMode-default',
    'traffic.extProc/requestHeaderMode-default',
    'traffic.extProc/responseHeaderMode-default',
    'traffic.extProc/body-full-duplex-streamed',
  ],
  'by default headers and bodies of both messages are streamed to the processor',
  async () => {
    expect(await post('/default', 'hello')).toMatchObject({ status: 200, body: 'got hello' })
    expect(talk().seen).toEqual([
      'requestHeaders',
      'requestBody hello',
      'requestBody end',
      'responseHeaders',
      'responseBody got hello',
      'responseBody end',
    ])
    expect(headersOf(talk().parts[0]!.requestHeaders)).toMatchObject({
      ':method': 'POST',
      ':path': '/default',
      ':scheme': 'http',
      ':authority': `127.0.0.1:${port}`,
      'content-type': 'text/plain;charset=UTF-8',
    })
    expect(headersOf(talk().parts[3]!.responseHeaders)).toMatchObject({ ':status': '200' })
    await eventually('the stream ends', () => talk().ended)
  },
)

test('a message without a body ends with its headers', async () => {
  respond = (_, response) => response.writeHead(204).end()
  expect((await send('/default')).status).toBe(204)
  expect(talk().seen).toEqual(['requestHeaders end', 'responseHeaders end'])
  respond = (_, response) => response.writeHead(200, { 'content-length': '5' }).end()
  const head = await send('/default', { method: 'HEAD' })
  expect([head.status, head.headers.get('content-length')]).toEqual([200, '5'])
  expect(processor.talks[1]!.seen).toEqual(['requestHeaders end', 'responseHeaders end'])
})

test('the modes are sent once, with the first part', async () => {
  await post('/default', 'hello')
  const configurations = talk().parts.map(({ protocolConfig }) => protocolConfig)
  expect(configurations).toEqual([
    { requestBodyMode: 4, responseBodyMode: 4, sendBodyWithoutWaitingForHeaderResponse: true },
    ...Array(5).fill(null),
  ])
  await post('/skip-headers', 'hello')
  expect(processor.talks[1]!.parts[0]).toMatchObject({ request: 'requestBody', protocolConfig: {} })
})

verifies('traffic.extProc/header-mode', 'headers that are skipped are not sent, and not changed', async () => {
  answer = (part) => ({
    [part.request]: {
      response: {
        ...setting({ 'x-processed': 'yes' }),
        bodyMutation: { streamedResponse: part.requestBody ?? part.responseBody },
      },
    },
  })
  const { headers, body } = await post('/skip-headers', 'hello')
  expect(body).toBe('got hello')
  expect(talk().seen).toEqual(['requestBody hello', 'requestBody end', 'responseBody got hello', 'responseBody end'])
  expect([seen?.headers['x-processed'], headers.get('x-processed')]).toEqual([undefined, null])
  await post('/skip-all', 'hello')
  expect(processor.talks).toHaveLength(1)
})

test('headers are removed, then set; those of the gateway are not', async () => {
  const mutation = {
    headerMutation: {
      removeHeaders: ['X-Gone', 'host', ':path', 'content-length', 'x-replaced'],
      setHeaders: [
        { header: { key: 'X-New', value: 'text' } },
        { header: { key: 'x-replaced', rawValue: Buffer.from('raw') } },
        { header: { key: 'x-appended', rawValue: Buffer.from('2') }, append: { value: true } },
        { header: { key: 'x-kept', rawValue: Buffer.from('2') }, appendAction: 'ADD_IF_ABSENT' },
        { header: { key: 'x-absent', rawValue: Buffer.from('2') }, appendAction: 'OVERWRITE_IF_EXISTS' },
        { header: { key: 'host', rawValue: Buffer.from('other.test') } },
        { header: { key: ':authority', rawValue: Buffer.from('other.test') } },
        { header: { key: ':method', rawValue: Buffer.from('DELETE') } },
        { header: { key: ':path', rawValue: Buffer.from('/other?x=1') } },
        { header: { key: 'transfer-encoding', rawValue: Buffer.from('chunked') } },
        { header: { key: 'content-length', rawValue: Buffer.from('1') } },
        { header: { key: 'x-bad', rawValue: Buffer.from('a\r\nb: c') } },
      ],
    },
  }
  answer = at('requestHeaders', { requestHeaders: { response: mutation } })
  const sent = { 'x-gone': '1', 'x-replaced': '1', 'x-appended': '1', 'x-kept': '1', 'x-bad': '1' }
  await post('/headers-only', 'hello', sent)
  expect(seen).toMatchObject({
    method: 'POST',
    url: '/other?x=1',
    body: 'hello',
    headers: {
      host: `127.0.0.1:${port}`,
      'content-length': '5',
      'x-new': 'text',
      'x-replaced': 'raw',
      'x-appended': '1, 2',
      'x-kept': '1',
    },
  })
  const absent = ['x-gone', 'x-absent', 'x-bad', 'b', 'transfer-encoding'].map((name) => seen!.headers[name])
  expect(absent).toEqual(Array(5).fill(undefined))
})

test('the status of a response can be changed, and its headers', async () => {
  respond = (_, response) => response.writeHead(200, { 'x-gone': '1', 'x-new': '0' }).end('body')
  const changed = setting({ ':status': '418', 'x-new': '1' }, ['x-gone'])
  answer = at('responseHeaders', { responseHeaders: { response: changed } })
  const { status, headers, body } = await send('/headers-only')
  expect([status, headers.get('x-new'), headers.get('x-gone'), body]).toEqual([418, '1', null, 'body'])
})

test.each([
  ['requestHeaders', ':path', 'no path'],
  ['requestHeaders', ':path', ''],
  ['responseHeaders', ':status', '99'],
  ['responseHeaders', ':status', 'fine'],
])('%s that set %s to %j fail', async (part, name, value) => {
  answer = at(part, { [part]: { response: setting({ [name]: value }) } })
  expect(await send('/headers-only')).toMatchObject({ status: 500, body: 'ext_proc failed' })
})

test('a path that the processor sets is checked like one of a client', async () => {
  answer = at('requestHeaders', { requestHeaders: { response: setting({ ':path': '/a/%2e%2e/b' }) } })
  expect((await send('/headers-only')).status).toBe(400)
  expect(seen).toBeUndefined()
})

verifies('traffic.extProc/body-none', 'None does not send bodies', async () => {
  expect(await post('/none', 'hello')).toMatchObject({ status: 200, body: 'got hello' })
  expect(talk().seen).toEqual(['requestHeaders', 'responseHeaders'])
  expect(seen!.headers['content-length']).toBe('5')
})

verifies('traffic.extProc/body-buffered', 'Buffered sends a whole body at once', async () => {
  respond = (_, response, body) => {
    response.write('got ')
    setTimeout(() => response.end(body.slice(4)), 20)
  }
  answer = ({ request }) => ({ [request]: {} })
  const body = 'x'.repeat(8192)
  const { status, body: received } = await post('/buffered', body)
  expect([status, received === `got ${body.slice(4)}`, seen!.body === body]).toEqual([200, true, true])
  expect(talk().seen).toEqual([
    'requestHeaders',
    'requestBody 8192 bytes end',
    'responseHeaders',
    'responseBody 8192 bytes end',
  ])
})

test('a buffered body stays, is replaced, or is cleared', async () => {
  const mutations: [object | undefined, string][] = [
    [undefined, 'hello'],
    [{ body: Buffer.from('something longer') }, 'something longer'],
    [{ clearBody: true }, ''],
    [{ streamedResponse: { body: Buffer.from('streamed'), endOfStream: true } }, 'streamed'],
  ]
  for (const [bodyMutation, expected] of mutations) {
    answer = ({ request }) => ({ [request]: request === 'requestBody' ? { response: { bodyMutation } } : {} })
    expect(await post('/buffered', 'hello')).toMatchObject({ status: 200, body: `got ${expected}` })
    expect(seen!.headers['content-length']).toBe(String(expected.length))
    answer = ({ request }) => ({ [request]: request === 'responseBody' ? { response: { bodyMutation } } : {} })
    respond = (_, response) => response.end('hello')
    const { body, headers } = await send('/buffered')
    expect([body, headers.get('content-length')]).toEqual([expected, String(expected.length)])
    respond = (_, response, sent) => response.end(`got ${sent}`)
  }
})

test('the answer to a buffered body may change headers, unless headers are skipped', async () => {
  answer = ({ request }) => ({ [request]: request.endsWith('Body') ? { response: setting({ 'x-late': '1' }) } : {} })
  const { headers } = await post('/buffered', 'hello')
  expect([seen!.headers['x-late'], headers.get('x-late')]).toEqual(['1', '1'])
  const without = await post('/buffered-without-headers', 'hello')
  expect(processor.talks[1]!.seen).toEqual(['requestBody hello end', 'responseBody got hello end'])
  expect([seen!.headers['x-late'], without.headers.get('x-late')]).toEqual([undefined, null])
})

verifies('traffic.extProc/body-buffered-limit', 'a body above 8192 bytes is an error with Buffered', async () => {
  answer = ({ request }) => ({ [request]: {} })
  const large = await post('/buffered', 'x'.repeat(8193))
  expect([large.status, large.body, seen]).toEqual([
    413,
    'ext_proc failed: the limit of the body is 8192 bytes (extProc.processingOptions.requestBodyMode: Buffered)',
    undefined,
  ])
  const chunked = new ReadableStream({
    start(controller) {
      for (let i = 0; i < 3; i++) controller.enqueue(new Uint8Array(4000))
      controller.close()
    },
  })
  const init = { method: 'POST', body: chunked, duplex: 'half' } as RequestInit
  expect((await send('/buffered', init)).status).toBe(413)
  for (const announced of [true, false]) {
    respond = (_, response) => {
      if (announced) response.setHeader('content-length', '8193')
      response.write('x'.repeat(5000))
      response.end('x'.repeat(3193))
    }
    expect(await send('/buffered')).toMatchObject({ status: 500, body: 'ext_proc failed' })
  }
  await eventually('the streams are over', () => processor.talks.every(({ ended, cancelled }) => ended || cancelled))
})

verifies('traffic.extProc/body-buffered-partial', 'BufferedPartial sends the beginning of a larger body', async () => {
  answer = ({ request }) => ({
    [request]: request.endsWith('Body') ? { response: { bodyMutation: { body: Buffer.from('begun ') } } } : {},
  })
  const rest = 'y'.repeat(100_000)
  respond = (_, response, body) => response.end(`${'z'.repeat(8192)}${body.slice(0, 10)}`)
  const large = await post('/partial', `${'x'.repeat(8192)}${rest}`)
  expect(seen!.body).toBe(`begun ${rest}`)
  expect(seen!.headers['content-length']).toBe('100006')
  expect(large.body).toBe('begun begun yyyy')
  expect(talk().seen).toEqual([
    'requestHeaders',
    'requestBody 8192 bytes',
    'responseHeaders',
    'responseBody 8192 bytes',
  ])
  respond = (_, response, body) => response.end(body)
  expect((await post('/partial', 'small')).body).toBe('begun ')
  expect(processor.talks[1]!.seen).toEqual([
    'requestHeaders',
    'requestBody small end',
    'responseHeaders',
    'responseBody begun  end',
  ])
  answer = ({ request }) => ({ [request]: {} })
  expect((await post('/partial', rest)).body).toBe(rest)
  expect(seen!.headers['content-length']).toBe('100000')
})

test('a streamed body is what the processor returns, whenever it does', async () => {
  const kept: Buffer[] = []
  answer = ({ request, requestBody, responseBody }) => {
    if (request === 'requestHeaders') return undefined
    const body = requestBody ?? responseBody
    if (body === undefined) return { [request]: {} }
    kept.push(body.body)
    if (!body.endOfStream) return undefined
    const all = Buffer.concat(kept.splice(0)).toString().toUpperCase()
    const pieces = [all.slice(0, 3), all.slice(3), ' and more']
    const answers = pieces.map((text, i) => ({
      [request]: {
        response: {
          bodyMutation: { streamedResponse: { body: Buffer.from(text), endOfStream: i + 1 === pieces.length } },
        },
      },
    }))
    // The processor waits for the whole request before it answers its headers.
    return request === 'requestBody'
      ? [{ requestHeaders: { response: setting({ 'x-late': '1' }) } }, ...answers]
      : answers
  }
  expect(await post('/default', 'hello')).toMatchObject({ body: 'GOT HELLO AND MORE and more' })
  expect(seen!.headers).toMatchObject({ 'transfer-encoding': 'chunked', 'x-late': '1' })
  expect(seen!.headers['content-length']).toBeUndefined()
})

test('large streamed bodies pass in both directions', async () => {
  const large = 'abcdefghij'.repeat(500_000)
  respond = (_, response, body) => response.end(body)
  const { status, body } = await post('/default', large)
  expect([status, body.length, body === large]).toEqual([200, large.length, true])
})

verifies('traffic.extProc/allowModeOverride', 'a mode override changes what follows', async () => {
  const modeOverride = {
    requestBodyMode: 'BUFFERED',
    responseHeaderMode: 'SKIP',
    responseBodyMode: 'STREAMED',
    responseTrailerMode: 'SKIP',
  }
  answer = (part) => (part.request === 'requestHeaders' ? { requestHeaders: {}, modeOverride } : unchanged(part))
  expect((await post('/override', 'hello')).body).toBe('got hello')
  expect(talk().seen).toEqual(['requestHeaders', 'requestBody hello end', 'responseBody got hello', 'responseBody end'])
  answer = (part) =>
    part.request === 'responseHeaders'
      ? { responseHeaders: {}, modeOverride: { responseBodyMode: 'BUFFERED' } }
      : unchanged(part)
  expect((await post('/override', 'hello')).body).toBe('got hello')
  expect(processor.talks[1]!.seen).toEqual(['requestHeaders', 'responseHeaders', 'responseBody got hello end'])
})

verifies('traffic.extProc/allowModeOverride-default', 'without allowModeOverride it is ignored', async () => {
  answer = ({ request }) => ({ [request]: {}, modeOverride: { requestBodyMode: 'BUFFERED' } })
  await post('/no-override', 'hello')
  expect(talk().seen).toEqual(['requestHeaders', 'responseHeaders'])
})

test.each([
  ['requestHeaders', 'default', undefined],
  ['requestBody', 'default', undefined],
  ['requestBody', 'buffered', undefined],
  ['responseHeaders', 'default', 'hello'],
  ['responseHeaders', 'headers-only', 'hello'],
  ['responseBody', 'buffered', 'hello'],
])('an immediate response to %s, with modes %s', async (part, route, reached) => {
  const immediateResponse = {
    status: { code: 403 },
    body: Buffer.from('not this'),
    details: 'looked bad',
    headers: setting({ 'x-why': 'because', 'content-type': 'text/html' }).headerMutation,
  }
  answer = (found) => {
    if (found.request === part) return { immediateResponse }
    return route === 'buffered' ? { [found.request]: {} } : unchanged(found)
  }
  const { status, headers, body } = await post(`/${route}`, 'hello')
  expect([status, body, headers.get('x-why'), headers.get('content-type')]).toEqual([
    403,
    'not this',
    'because',
    'text/html',
  ])
  if (part !== 'requestBody' || route !== 'default') expect(seen?.body).toBe(reached)
})

test('an immediate response without a status is 200', async () => {
  answer = () => ({ immediateResponse: { body: Buffer.from('cached') } })
  const { status, headers, body } = await send('/default')
  expect([status, headers.get('content-type'), body]).toEqual([200, 'text/plain', 'cached'])
})

test('a body that replaces that of a message ends its processing', async () => {
  answer = (part) => {
    const response = { status: 'CONTINUE_AND_REPLACE', bodyMutation: { body: Buffer.from('replaced') } }
    return part.request.endsWith('Headers') ? { [part.request]: { response } } : unchanged(part)
  }
  for (const route of ['headers-only', 'buffered', 'default']) {
    expect(await post(`/${route}`, 'hello')).toMatchObject({ status: 200, body: 'replaced' })
    expect(seen!.body).toBe('replaced')
    expect(seen!.headers['content-length']).toBe('8')
  }
  expect(await send('/headers-only')).toMatchObject({ body: 'replaced' })
  expect(seen).toMatchObject({ method: 'GET', body: 'replaced' })
})

async function explain(words: readonly string[]): Promise<string> {
  const url = `http://localhost:${port}`
  const all = ['explain', '-f', objectsPath, ...words.map((word) => word.replace(/^\//, `${url}/`))]
  return (await gatewright(all)).stdout
}

test('explain shows the first message, and sends it with --call', async () => {
  const words = ['-H', 'authorization: secret', '-d', 'hello', 'POST', '/default']
  const shown = await explain(words)
  const lines = shown.slice(shown.indexOf('extProc would ask')).split('\n')
  expect(lines.slice(0, 8)).toEqual([
    'extProc would ask default/processor (not sent without --call; what follows assumes that it allows the request)',
    expect.stringMatching(
      /^ {2}gRPC call of \/envoy\.service\.ext_proc\.v3\.ExternalProcessor\/Process, a message of \d+ bytes$/,
    ),
    '  requestHeaders:',
    '    headers:',
    '      :method: "POST"',
    '      :scheme: "http"',
    expect.stringContaining(':authority'),
    '      :path: "/default"',
  ])
  expect(shown).toContain('authorization: <redacted>')
  expect(shown.trimEnd()).toMatch(/hello$/)
  expect(processor.talks).toEqual([])
  answer = (part) => {
    if (part.request === 'requestHeaders') return { requestHeaders: { response: setting({ 'x-processed': 'yes' }) } }
    const body = Buffer.from(part.requestBody!.body.toString().toUpperCase())
    const streamedResponse = { body, endOfStream: part.requestBody!.endOfStream }
    return { requestBody: { response: { bodyMutation: { streamedResponse } } } }
  }
  const called = await explain(['--call', ...words])
  expect(called).toMatch(/extProc asked default\/processor, which allowed the request \(\d+ ms\)/)
  expect(called).toContain('  x-processed: yes')
  expect(called.trimEnd()).toMatch(/HELLO$/)
  answer = () => ({ immediateResponse: { status: { code: 403 }, body: Buffer.from('not you') } })
  const answered = await explain(['--call', ...words])
  expect(answered).toMatch(/extProc asked default\/processor, which answered the request/)
  expect(answered).toMatch(/response {2}403, generated by the gateway/)
})
