import { createServer } from 'node:http'
import { type AddressInfo, connect as connectTo } from 'node:net'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, gatewayYaml, type ObjectsFolder } from '#test/support/objects-folder.ts'
import { verifies } from '#test/support/verifies.ts'

/** Sessions of a running gateway with two workers, while targets restart, replicas fail and the configuration changes. */

interface Server {
  readonly port: number
  /** Sessions that it has begun. */
  readonly begun: number
  /** Forgets all sessions, as a restart does. */
  forget(): void
  close(): Promise<void>
}

/** A server with sessions in memory and one tool, which tells the name of the server. */
async function startServer(name: string): Promise<Server> {
  const sessions = new Set<string>()
  let begun = 0
  const http = createServer(async (request, response) => {
    const body = Buffer.concat((await request.toArray()) as Buffer[]).toString()
    const { id, method } = JSON.parse(body || '{}') as { id?: number; method?: string }
    const reply = (result: object, headers: Record<string, string> = {}) =>
      response
        .writeHead(200, { 'content-type': 'application/json', ...headers })
        .end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    if (method === 'initialize') {
      const session = `${name}-${++begun}`
      sessions.add(session)
      const result = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name, version: '1' } }
      return reply(result, { 'mcp-session-id': session })
    }
    if (!sessions.has(String(request.headers['mcp-session-id']))) return response.writeHead(404).end()
    if (request.method === 'GET') return response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    if (request.method === 'DELETE') return response.writeHead(204).end()
    if (id === undefined) return response.writeHead(202).end()
    if (method === 'tools/list') return reply({ tools: [{ name: 'who', inputSchema: { type: 'object' } }] })
    return reply({ content: [{ type: 'text', text: name }] })
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  return {
    port: (http.address() as AddressInfo).port,
    get begun() {
      return begun
    },
    forget: () => sessions.clear(),
    close: async () => {
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    },
  }
}

const stops = new AsyncDisposableStack()
let one: Server
let two: Server
let folder: ObjectsFolder
let url: string

beforeAll(async () => {
  one = await startServer('one')
  stops.defer(one.close)
  two = await startServer('two')
  stops.defer(two.close)
  const port = await freePort()
  url = `http://127.0.0.1:${port}`
  folder = await createObjectsFolder({
    'gateway.yaml': gatewayYaml(port),
    'restarting.yaml': backendYaml('restarting', staticTarget('one', one)),
    'replicas.yaml': serviceYaml('replicas', [await freePort(), two.port]),
    'pair.yaml': serviceYaml('pair', [one.port, two.port]),
    'growing.yaml': backendYaml('growing', staticTarget('one', one)),
    'routes.yaml': ['restarting', 'replicas', 'pair', 'growing'].map(routeYaml).join('---'),
  })
  stops.defer(folder.remove)
  stops.use(await startGateway({ files: [folder.path], workers: 2 }))
})

afterAll(() => stops.disposeAsync())

function staticTarget(name: string, { port }: Server): string {
  return `- { name: ${name}, static: { host: 127.0.0.1, port: ${port} } }`
}

function backendYaml(name: string, targets: string): string {
  return `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: ${name} }
spec:
  mcp:
    targets:
      ${targets.replaceAll('\n', '\n      ')}
`
}

/** A backend with one target: a Service with an endpoint at each of these ports. */
function serviceYaml(name: string, ports: readonly number[]): string {
  const slices = ports.map(
    (port, index) => `
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: ${name}-${index}, labels: { kubernetes.io/service-name: ${name} } }
addressType: IPv4
ports: [{ name: http, port: ${port} }]
endpoints: [{ addresses: [127.0.0.1], conditions: { ready: true } }]
`,
  )
  const service = `
apiVersion: v1
kind: Service
metadata: { name: ${name} }
spec:
  ports: [{ name: http, port: 80, appProtocol: gatewright.dev/mcp }]
`
  const target = `- { name: all, static: { backendRef: { name: ${name} }, port: 80 } }`
  return [backendYaml(name, target), service, ...slices].join('---')
}

function routeYaml(name: string): string {
  return `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: ${name} }
spec:
  parentRefs: [{ name: main }]
  rules:
    - matches: [{ path: { type: Exact, value: /${name} } }]
      backendRefs: [{ group: gatewright.dev, kind: ProxyBackend, name: ${name} }]
`
}

/** A client that counts how often it is told that the tools have changed. */
async function connect(path: string) {
  const client = new Client({ name: 'test', version: '1' })
  let changes = 0
  client.setNotificationHandler('notifications/tools/list_changed', () => {
    changes++
  })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/${path}`)))
  stops.defer(() => client.close())
  const call = async (name: string): Promise<unknown> => {
    const { content } = await client.callTool({ name })
    return (content as { readonly text?: string }[])[0]?.text
  }
  return { client, call, changes: () => changes }
}

test('a session outlasts a restart of its target, at every worker', async () => {
  const { call } = await connect('restarting')
  expect(await call('who')).toBe('one')
  const begun = one.begun
  one.forget()
  // Connections of their own, so that both workers serve some of them.
  expect(await Promise.all(Array.from({ length: 8 }, () => call('who')))).toEqual(Array(8).fill('one'))
  expect(one.begun - begun).toBeLessThanOrEqual(2)
  const settled = one.begun
  expect(await call('who')).toBe('one')
  expect(one.begun).toBe(settled)
})

test('a replica of a Service that cannot be reached is passed over', async () => {
  for (let i = 0; i < 5; i++) {
    const { call } = await connect('replicas')
    expect(await call('who')).toBe('two')
  }
})

verifies('backend.mcp/stateful-same-replica', 'a session stays at the replica that began it', async () => {
  const replicas = new Set<unknown>()
  // Load balancing may prefer one of them for a while.
  for (let i = 0; i < 80 && replicas.size < 2; i++) {
    const { call } = await connect('pair')
    const [first, ...others] = await Promise.all(Array.from({ length: 6 }, () => call('who')))
    expect(others).toEqual(Array(5).fill(first))
    replicas.add(first)
  }
  expect([...replicas].toSorted()).toEqual(['one', 'two'])
})

test('a target that is added is told to clients, and old names are valid until they have listed the tools again', async () => {
  const { client, call, changes } = await connect('growing')
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['who'])
  await folder.write('growing.yaml', backendYaml('growing', `${staticTarget('one', one)}\n${staticTarget('two', two)}`))
  await eventually('the client is told', () => changes() > 0)
  expect(await call('who')).toBe('one')
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['one_who', 'two_who'])
  expect(await call('two_who')).toBe('two')
  await expect(call('who')).rejects.toThrow('Unknown tool: who')
})

test('a client that leaves before the head of a response is noticed at once', async () => {
  const { promise: left, resolve: leave } = Promise.withResolvers<string>()
  const { promise: called, resolve: arrive } = Promise.withResolvers<void>()
  const slow = createServer(async (request, response) => {
    const { id, method } = JSON.parse(Buffer.concat((await request.toArray()) as Buffer[]).toString()) as {
      id?: number
      method: string
    }
    if (id === undefined) return response.writeHead(202).end()
    if (method === 'initialize') {
      const result = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: {} }
      return response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    }
    // A client of another protocol that ends its direction only counts as gone after 2 s.
    const late = setTimeout(() => leave('it was not noticed'), 1_500)
    response.on('close', () => {
      clearTimeout(late)
      leave('the call was canceled')
    })
    return arrive()
  })
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve))
  stops.defer(() => void slow.close())
  const { port } = slow.address() as AddressInfo
  await folder.write(
    'slow.yaml',
    `${backendYaml('slow', `- { name: slow, static: { host: 127.0.0.1, port: ${port} } }`)}---${routeYaml('slow')}`,
  )
  await eventually('the route is served', async () => (await fetch(`${url}/slow`, { method: 'POST' })).status !== 404)
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
  const begun = await fetch(`${url}/slow`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }),
  })
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x' } })
  const client = connectTo(Number(new URL(url).port), '127.0.0.1')
  stops.defer(() => void client.destroy())
  const fields = {
    host: '127.0.0.1',
    ...headers,
    'content-length': body.length,
    'mcp-session-id': begun.headers.get('mcp-session-id'),
  }
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  client.write(`POST /slow HTTP/1.1\r\n${head.join('')}\r\n${body}`)
  await called
  client.end()
  expect(await left).toBe('the call was canceled')
})
