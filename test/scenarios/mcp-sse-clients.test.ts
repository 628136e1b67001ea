import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectTypescript1 } from '#test/interop/mcp/sdks/typescript/client-1.ts'
import { startTypescript1 } from '#test/interop/mcp/sdks/typescript/server-1.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'

/** Clients with HTTP+SSE that misbehave, at a gateway with two workers; and Services with that transport behind it. */

const stops = new AsyncDisposableStack()
const LONG = 1_000_000
let port: number
let gateway: TestGateway
/** What the raw target has seen: methods, and `left` when a call was aborted. */
let seen: string[] = []

/** Its tools `slow...` never respond, and `long` responds with 1 MB. */
async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = Buffer.concat((await request.toArray()) as Buffer[]).toString()
  const message = JSON.parse(body || '{}') as { id?: number; method?: string; params?: { name?: string } }
  const { id, method = request.method ?? '', params } = message
  seen.push(method)
  const answer = (result: object) =>
    response
      .writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 's' })
      .end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  if (method === 'GET') return void response.writeHead(405).end()
  if (id === undefined) return void response.writeHead(202).end()
  if (method === 'initialize') {
    const serverInfo = { name: 'raw', version: '1' }
    return void answer({ protocolVersion: '2024-11-05', capabilities: { tools: {} }, serverInfo })
  }
  if (params?.name?.startsWith('slow')) {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    response.once('close', () => seen.push('left'))
  } else answer({ content: [{ type: 'text', text: params?.name === 'long' ? 'x'.repeat(LONG) : 'short' }] })
}

const backendYaml = (name: string, target: string) => `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: ${name} }
spec: { mcp: { targets: [${target}] } }
`

const serviceYaml = (name: string, at: number, protocol: string) => `
apiVersion: v1
kind: Service
metadata: { name: ${name}, labels: { kind: mcp } }
spec: { ports: [{ name: mcp, port: 80, appProtocol: gatewright.dev/${protocol} }] }
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: ${name}-1, labels: { kubernetes.io/service-name: ${name} } }
addressType: IPv4
ports: [{ name: mcp, port: ${at} }]
endpoints: [{ addresses: [127.0.0.1], conditions: { ready: true } }]
`

beforeAll(async () => {
  const target = createServer((request, response) => void serve(request, response).catch(() => response.destroy()))
  await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve))
  stops.defer(() => {
    target.closeAllConnections()
    target.close()
  })
  const official = await startTypescript1()
  stops.defer(official.close)
  const raw = `{ name: raw, static: { host: 127.0.0.1, port: ${(target.address() as AddressInfo).port} } }`
  port = await freePort()
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      backendYaml('raw', raw),
      routeYaml('raw', '/raw', 'raw'),
      backendYaml('other', raw),
      routeYaml('other', '/other', 'other'),
      serviceYaml('older', official.port, 'mcp-sse'),
      serviceYaml('newer', official.port, 'mcp'),
      backendYaml('found', '{ name: found, selector: { services: { matchLabels: { kind: mcp } } } }'),
      routeYaml('found', '/found', 'found'),
    ),
  })
  stops.defer(folder.remove)
  gateway = stops.use(await startGateway({ files: [folder.path], workers: 2 }))
})

afterAll(() => stops.disposeAsync())

interface OpenStream {
  readonly endpoint: string
  /** All that has come. */
  readonly text: () => string
  readonly stopReading: () => void
  readonly leave: () => void
}

/** A client that opens a stream on a connection of its own, and sends its request in pieces of one byte. */
async function open(path: string): Promise<OpenStream> {
  const socket = connect(port, '127.0.0.1').setNoDelay()
  socket.on('error', () => {})
  stops.defer(() => void socket.destroy())
  let text = ''
  socket.on('data', (piece) => {
    text += piece.toString()
  })
  for (const byte of `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: text/event-stream\r\n\r\n`) socket.write(byte)
  const endpoint = await eventually('the endpoint', () => /event: endpoint\ndata: (.*)\n/.exec(text)?.[1])
  return {
    endpoint,
    text: () => text,
    stopReading: () => void socket.pause(),
    leave: () => void socket.destroy(),
  }
}

/** @returns the status */
async function post(target: string, message: object, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}${target}`, {
    method: 'POST',
    // Each POST has a connection of its own, so any worker may get it.
    headers: { 'content-type': 'application/json', connection: 'close', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
  })
  await response.arrayBuffer()
  return response.status
}

const INITIALIZE = {
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
}
const call = (id: number, name: string) => ({ id, method: 'tools/call', params: { name } })

async function begin(path = '/raw/sse'): Promise<OpenStream> {
  seen = []
  const stream = await open(path)
  expect(await post(stream.endpoint, INITIALIZE)).toBe(202)
  await eventually('the session', () => stream.text().includes('"id":0') || undefined)
  return stream
}

test('a client that leaves ends its call, its session and its endpoint', async () => {
  const { endpoint, leave } = await begin()
  expect(await post(endpoint, call(1, 'slow'))).toBe(202)
  await eventually('the call', () => seen.includes('tools/call') || undefined)
  leave()
  await eventually('the end of the call and of the session', () => seen.includes('left') && seen.includes('DELETE'))
  await eventually('404', async () => (await post(endpoint, call(2, 'short'))) === 404)
})

test('the log line of a call has its outcome, and is written when the call has ended', async () => {
  const { endpoint, text, leave } = await begin()
  const linesOf = (tool: string) =>
    gateway.output.stdout.split('\n').filter((line) => line.includes(`gen_ai.tool.name=${tool} `))
  expect(await post(endpoint, call(1, 'slow-2'))).toBe(202)
  expect(await post(endpoint, call(2, 'logged'))).toBe(202)
  await eventually('the response', () => text().includes('"id":2') || undefined)
  await eventually('its line', () => linesOf('logged').length > 0 || undefined)
  expect(linesOf('logged')).toEqual([
    expect.stringMatching(/http.status=202 .*mcp.method.name=tools\/call mcp.target=raw /),
  ])
  expect(linesOf('slow-2')).toEqual([])
  leave()
  await eventually('the other line', () => linesOf('slow-2').length > 0 || undefined)
  expect(linesOf('slow-2')).toEqual([
    expect.stringMatching(/ error="the stream of the client ended before the response"/),
  ])
})

test('an endpoint is of one stream and one backend', async () => {
  const [first, second] = [await begin(), await begin()]
  expect(first.endpoint).not.toBe(second.endpoint)
  expect(await post(first.endpoint, call(7, 'short'))).toBe(202)
  await eventually('the response', () => first.text().includes('"id":7') || undefined)
  expect(second.text()).not.toContain('"id":7')
  const forged = `${first.endpoint.slice(0, -1)}${first.endpoint.endsWith('A') ? 'B' : 'A'}`
  for (const wrong of [forged, first.endpoint.replace('/raw', '/other'), '/raw/sse?sessionId=x']) {
    expect(await post(wrong, call(8, 'short'))).toBe(404)
  }
  first.leave()
  second.leave()
})

test('a client that does not read holds up itself only, and what waits for it ends with it', async () => {
  const [stuck, other] = [await begin(), await begin()]
  stuck.stopReading()
  for (let id = 1; id <= 40; id++) expect(await post(stuck.endpoint, call(id, 'long'))).toBe(202)
  expect(await post(other.endpoint, call(1, 'long'))).toBe(202)
  await eventually('the response of the other', () => other.text().length > LONG || undefined)
  stuck.leave()
  await eventually('404', async () => (await post(stuck.endpoint, call(41, 'short'))) === 404)
  other.leave()
})

test('huge messages and those of the wrong kind are refused, and the stream goes on', async () => {
  const { endpoint, text, leave } = await begin()
  const huge = { ...call(1, 'short'), params: { name: 'short', arguments: { x: 'x'.repeat(3 * 1024 * 1024) } } }
  expect(await post(endpoint, huge)).toBe(413)
  expect(await post(endpoint, call(2, 'short'), { 'content-type': 'text/plain' })).toBe(415)
  expect(await post(endpoint, call(3, 'short'))).toBe(202)
  await eventually('the response', () => text().includes('"id":3') || undefined)
  leave()
})

test('Services with the older and the newer transport, found by a selector, behind both kinds of clients', async () => {
  const url = `http://127.0.0.1:${port}/found`
  for (const session of [await connectTypescript1(url), await connectTypescript1(`${url}/sse`, 'sse')]) {
    const added = (await session.tools()).filter((name) => name.endsWith('_add')).sort()
    expect(added).toHaveLength(2)
    expect(added.join()).toMatch(/newer.*older/)
    for (const name of added) expect(await session.call(name, { a: 2, b: 3 })).toBe('5')
    await session.close()
  }
})
