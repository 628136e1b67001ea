import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import http2 from 'node:http2'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { ask } from '#net/testing/http2-client.ts'
import { RawClient } from '#net/testing/raw-peers.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { type GatewayProcess, startGatewayProcess } from '#test/support/gateway-process.ts'
import { backendYaml, createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

/** What a worker may hold, and what two requests hold that leave no room for a third one. */
const MEMORY = 100_000
const HELD = 45_000
const THIRD = 20_000

const stops = new AsyncDisposableStack()
let gateway: GatewayProcess
let port: number
let web: Server
let waiting: RawClient[] = []

const aiYaml = (at: number) => `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: models }
spec: { ai: { provider: { providerOne: {}, host: 127.0.0.1, port: ${at} } } }
`

const mcpYaml = (at: number) => `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: tools }
spec: { mcp: { targets: [{ name: talker, static: { host: 127.0.0.1, port: ${at}, path: /talks } }] } }
`

/** The number of bytes that talkers have sent. */
let talked = 0

/** Sends the same text repeatedly until the client disconnects. */
function talk(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const event = `data: {"jsonrpc":"2.0","method":"notifications/message","params":{"data":"${'x'.repeat(500)}"}}\n\n`
  const events = function* () {
    for (;;) {
      talked += event.length
      yield event
    }
  }
  pipeline(events, response).catch(() => {})
}

/** Says how much it got; `/fails` and `/large` are what they say, `/cut` breaks off. */
async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const pieces = await incoming.toArray().catch(() => undefined)
  if (pieces === undefined) return
  const { url = '' } = incoming
  if (url.includes('/talks')) return talk(response)
  if (url.includes('/fails')) return void response.writeHead(503).end('no')
  if (url.includes('/large')) {
    // More than sockets hold, and of unknown length.
    response.write('x')
    return void response.end('x'.repeat(200 * MEMORY))
  }
  if (url.includes('/cut')) {
    response.writeHead(200, { 'content-length': '100' }).write('only this')
    return void setTimeout(() => response.destroy(), 20)
  }
  response.end(String(Buffer.concat(pieces as Buffer[]).length))
}

const reads = (what: string) => ({ set: [{ name: 'x-size', value: `string(size(${what}))` }] })

beforeAll(async () => {
  web = createServer((incoming, response) => void answer(incoming, response))
  stops.defer(() => void web.close())
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
  const { port: webPort } = web.address() as AddressInfo
  port = await freePort()
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      backendYaml('web', webPort),
      aiYaml(webPort),
      mcpYaml(webPort),
      routeYaml('mcp', '/mcp', 'tools'),
      ...['plain', 'whole', 'start', 'again', 'answer', 'parsed'].map((name) => routeYaml(name, `/${name}`, 'web')),
      routeYaml('chat', '/v1', 'models'),
      policyYaml('whole', 'HTTPRoute', 'whole', { traffic: { transformation: { request: reads('request.body') } } }),
      policyYaml('start', 'HTTPRoute', 'start', {
        traffic: { transformation: { request: reads('request.bodyPrefix') } },
      }),
      policyYaml('answer', 'HTTPRoute', 'answer', {
        traffic: { transformation: { response: reads('response.body') } },
      }),
      policyYaml('parsed', 'HTTPRoute', 'parsed', {
        traffic: { transformation: { request: { metadata: { body: 'json(request.body)' } } } },
      }),
      policyYaml('plain', 'HTTPRoute', 'plain', { backend: { http: { version: 'HTTP1' } } }),
      policyYaml('again', 'HTTPRoute', 'again', { traffic: { retry: { codes: [503], attempts: 2 } } }),
    ),
  })
  stops.defer(folder.remove)
  gateway = stops.use(
    await startGatewayProcess({
      files: [folder.path],
      workers: 1,
      environment: { GATEWRIGHT_LOG_FORMAT: 'json', GATEWRIGHT_BODY_MEMORY: String(MEMORY) },
    }),
  )
})

afterAll(() => stops.disposeAsync())
afterEach(() => {
  for (const client of waiting) client.close()
  waiting = []
})

async function post(path: string, bytes: number): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', body: 'x'.repeat(bytes) })
  return { status: response.status, text: await response.text() }
}

/** Begins a request and holds its last byte back. */
async function begin(path: string, bytes: number): Promise<RawClient> {
  const client = await RawClient.connect(port)
  waiting.push(client)
  const head = `POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-length: ${bytes}\r\n\r\n`
  await new Promise((resolve) => client.socket.write(`${head}${'x'.repeat(bytes - 1)}`, resolve))
  return client
}

/** Two requests that take nearly all the memory. A request that finds none, because a check was faster, starts again. */
async function fill(): Promise<readonly RawClient[]> {
  const clients = [await begin('/whole', HELD), await begin('/whole', HELD)]
  await eventually('the memory is taken', async () => {
    for (const [i, { text }] of clients.entries()) if (text !== '') clients[i] = await begin('/whole', HELD)
    return (await post('/whole', THIRD)).status === 503
  })
  return clients
}

/** No memory is in use: one request may have all of it, repeatedly. */
async function expectAllFree(): Promise<void> {
  const all = { status: 200, text: String(MEMORY) }
  await eventually('all memory is free', async () => (await post('/whole', MEMORY)).status === 200)
  for (let time = 0; time < 3; time++) expect(await post('/whole', MEMORY)).toEqual(all)
}

test('a body that would have to be gathered is refused while others hold the memory', async () => {
  const holders = await fill()
  expect(await post('/whole?refused', THIRD)).toEqual({ status: 503, text: 'no memory for the body' })
  expect(await post('/start', THIRD)).toMatchObject({ status: 503 })
  const chat = await post('/v1/chat/completions', THIRD)
  expect([chat.status, JSON.parse(chat.text)]).toMatchObject([503, { error: { message: 'no memory for the body' } }])
  // Other requests are served: small ones, streamed ones, and those that ask for a retry, which they do not get.
  expect(await post('/whole', 5000)).toEqual({ status: 200, text: '5000' })
  expect(await post('/plain', 3 * MEMORY)).toEqual({ status: 200, text: String(3 * MEMORY) })
  expect(await post('/again', THIRD)).toEqual({ status: 200, text: String(THIRD) })
  expect(await post('/again/fails', THIRD)).toEqual({ status: 503, text: 'no' })
  const line = await eventually('the line is written', () =>
    gateway.output.stdout.split('\n').find((all) => all.includes('"/whole?refused"')),
  )
  expect(JSON.parse(line)).toMatchObject({ reason: 'Internal', 'http.status': 503 })
  expect(line).toContain('"code":"body-memory-exhausted"')
  expect(line).toContain(
    `no memory is left for the body of the request: the requests of this worker use all ${MEMORY} bytes (GATEWRIGHT_BODY_MEMORY)`,
  )
  const metrics = await (await fetch(`${gateway.url(15_020)}/metrics`)).text()
  expect(metrics).toMatch(/gatewright_requests_total\{.*status="503",reason="Internal".*\} [1-9]/)
  // The requests that hold the memory are served in the end.
  for (const client of holders) {
    client.send('x')
    expect(await client.until((all) => all.includes(`\r\n\r\n${HELD}`))).toContain('HTTP/1.1 200 OK')
  }
  await expectAllFree()
})

test('parsed JSON that is kept counts with what it takes in memory', async () => {
  const send = async (body: string) => (await fetch(`http://127.0.0.1:${port}/parsed`, { method: 'POST', body })).status
  // As text they have about the same size.
  expect(await send(`["${'x'.repeat(9000)}"]`)).toBe(200)
  expect(await send(`[${'{},'.repeat(3000)}1]`)).toBe(503)
  await expectAllFree()
})

test('parsed JSON of an MCP message counts with what it takes in memory', async () => {
  const call = async (text: unknown) => {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a', version: '1' }, text }
    const response = await fetch(`http://127.0.0.1:${port}/mcp`, {
      method: 'POST',
      headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params }),
    })
    return { status: response.status, text: await response.text() }
  }
  const large = Array.from({ length: 3000 }, () => ({}))
  expect(await call(large)).toEqual({ status: 503, text: 'no memory for the body' })
  expect(await call('x'.repeat(9000))).not.toMatchObject({ status: 503 })
  await expectAllFree()
})

test('a target that talks in place of answering is given up', async () => {
  const message = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } }
  for (let time = 0; time < 3; time++) {
    const response = await fetch(`http://127.0.0.1:${port}/mcp`, {
      method: 'POST',
      headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
      body: JSON.stringify(message),
    })
    expect(await response.text()).toContain(
      '"message":"the stream from a target failed: no memory is left for the response of the target',
    )
  }
  // What it said before is what was held, and what sockets hold: how much that is depends on how busy the machine is.
  expect(talked).toBeLessThan(400 * MEMORY)
  await expectAllFree()
})

test.each<[how: string, end: (client: RawClient) => void]>([
  ['given up by its client', ({ socket }) => socket.destroy()],
  ['reset', ({ socket }) => socket.resetAndDestroy()],
])('the memory of a request is released when it is %s', async (_, end) => {
  for (const client of await fill()) end(client)
  await expectAllFree()
})

test.each<[what: string, path: string, bytes: number, status: number]>([
  ['a backend that fails', '/whole/fails', 50_000, 503],
  ['a backend that breaks off', '/whole/cut', 50_000, 200],
  ['a request that is repeated', '/again/fails', 60_000, 503],
  ['a request that is too large to be repeated', '/again', 70_000, 200],
  ['a response that is read', '/answer', 10, 200],
  ['a response that cannot be read', '/answer/large', 10, 503],
  ['a response that breaks off', '/answer/cut', 10, 503],
  ['no memory', '/whole', MEMORY + 1, 503],
])('everything is free again after %s', async (_, path, bytes, status) => {
  for (let time = 0; time < 4; time++) {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', body: 'x'.repeat(bytes) })
    expect(response.status).toBe(status)
    await response.text().catch(() => {})
  }
  await expectAllFree()
})

test('an unreadable response leaves no connection open', async () => {
  for (let time = 0; time < 4; time++) expect((await post('/answer/large', 1)).status).toBe(503)
  await eventually(
    'the connections are closed',
    () =>
      new Promise<boolean>((resolve) => {
        web.getConnections((_, count) => resolve(count <= 1))
      }),
  )
})

test('bodies of HTTP/2 use the same memory', async () => {
  const client = http2.connect(`http://127.0.0.1:${port}`)
  using _ = { [Symbol.dispose]: () => client.destroy() }
  const begin = () => {
    const stream = client.request({ ':method': 'POST', ':path': '/whole', 'content-length': 50_000 })
    stream.on('error', () => {}).resume()
    stream.write('x'.repeat(49_999))
    return stream
  }
  let begun = begin()
  await eventually('the memory is taken', async () => {
    if (begun.closed) begun = begin()
    return (await post('/whole', 60_000)).status === 503
  })
  const other = client.request({ ':method': 'POST', ':path': '/whole' })
  other.end('x'.repeat(60_000))
  expect(await text(other)).toBe('no memory for the body')
  expect((await ask(client, { ':path': '/plain' })).status).toBe(200)
  begun.close(http2.constants.NGHTTP2_CANCEL)
  await expectAllFree()
})
