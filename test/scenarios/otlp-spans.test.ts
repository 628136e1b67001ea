import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startEcho } from '#examples/upstreams/echo.ts'
import { modelsYaml, startChatProvider } from '#test/support/chat-provider.ts'
import { arrival, type Collector, type Received, startCollector } from '#test/support/collector.ts'
import { envoyService } from '#test/support/envoy-definitions.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { GrpcCaller, startGrpcBackend, startGrpcService } from '#test/support/grpc-peers.ts'
import { post } from '#test/support/mcp-post.ts'
import {
  backendRef,
  backendYaml,
  createObjectsFolder,
  gatewayYaml,
  joinYaml,
  listenersYaml,
  routeYaml,
  serviceYaml,
} from '#test/support/objects-folder.ts'
import { PassingTime } from '#test/support/passing-time.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import { answerSession, startRawTarget } from '#test/support/raw-mcp-target.ts'
import { idsOf } from '#test/support/traced-gateway.ts'

/** The spans of attempts, calls, models and tools of a running gateway. */

const stops = new AsyncDisposableStack()
const arrives = arrival(stops.use(new PassingTime()))
let collector: Collector
let port: number
let rpcPort: number
let toolsHeaders: IncomingHttpHeaders[] = []

interface Served {
  readonly path: string
  readonly headers: IncomingHttpHeaders
}
/** What the server got that authorizes requests and receives copies. */
let served: Served[] = []

const SERVER = 'SPAN_KIND_SERVER'

function mcpYaml(name: string, target: number): string {
  return `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: ${name} }
spec: { mcp: { targets: [{ name: one, static: { host: 127.0.0.1, port: ${target} } }] } }
`
}

beforeAll(async () => {
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  const chat = stops.use(await startChatProvider())
  collector = stops.use(await startCollector())
  const server = createServer((request, response) => {
    served.push({ path: request.url!, headers: request.headers })
    response.writeHead(request.url?.startsWith('/denied') === true ? 403 : 200).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  const { Check } = { Check: () => ({ status: { code: 0 } }) }
  const authorization = envoyService('envoy/service/auth/v3/external_auth.proto', 'envoy.service.auth.v3.Authorization')
  const authorizer = await startGrpcService(authorization, { Check })
  stops.defer(authorizer.close)
  const rpc = await startGrpcBackend(['test.Echo'])
  stops.defer(rpc.close)
  const tools = await startRawTarget((call) => {
    toolsHeaders.push(call.headers)
    if (answerSession(call)) return
    const { id, params } = call.message
    if (params?.name === 'wrong') call.json({ jsonrpc: '2.0', id, error: { code: -32000, message: 'it failed' } })
    else call.json({ jsonrpc: '2.0', id, result: { content: [], tools: [] } })
  })
  stops.defer(tools.close)
  port = await freePort()
  rpcPort = await freePort()
  const tracing = { backendRef: backendRef('collector'), randomSampling: 'true' }
  const grpcRoute = {
    parentRefs: [{ name: 'rpc' }],
    rules: [{ matches: [{ method: { service: 'test.Echo' } }], backendRefs: [backendRef('rpc')] }],
  }
  const extAuth = (more: object) => ({ traffic: { extAuth: { ...more } } })
  const mirrorRoute = {
    parentRefs: [{ name: 'main' }],
    rules: [
      {
        matches: [{ path: { type: 'PathPrefix', value: '/mirrored' } }],
        filters: [{ type: 'RequestMirror', requestMirror: { backendRef: backendRef('served') } }],
        backendRefs: [backendRef('echo')],
      },
    ],
  }
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      listenersYaml('rpc', [`{ name: http, protocol: HTTP, port: ${rpcPort} }`]),
      policyYaml('traces', 'Gateway', 'main', { frontend: { tracing } }),
      policyYaml('rpc-traces', 'Gateway', 'rpc', { frontend: { tracing } }),
      backendYaml('collector', collector.grpcPort),
      backendYaml('echo', echo.port),
      backendYaml('served', server.address() === null ? 0 : (server.address() as AddressInfo).port),
      backendYaml('authorizer', authorizer.port),
      backendYaml('rpc', rpc.port),
      serviceYaml('flaky', [await freePort(), echo.port]),
      policyYaml('flaky', 'HTTPRoute', 'flaky', { traffic: { retry: { attempts: 2 } } }),
      backendYaml('dead', await freePort()),
      routeYaml('dead', '/dead', 'dead'),
      routeYaml('asked', '/asked', 'echo'),
      policyYaml('asked', 'HTTPRoute', 'asked', extAuth({ backendRef: backendRef('served'), http: {} })),
      routeYaml('denied', '/denied', 'echo'),
      policyYaml('denied', 'HTTPRoute', 'denied', extAuth({ backendRef: backendRef('served'), http: {} })),
      routeYaml('rpc-asked', '/rpc-asked', 'echo'),
      policyYaml('rpc-asked', 'HTTPRoute', 'rpc-asked', extAuth({ backendRef: backendRef('authorizer'), grpc: {} })),
      modelsYaml('models', chat.port),
      routeYaml('models', '/v1', 'models'),
      mcpYaml('tools', tools.port),
      routeYaml('tools', '/mcp', 'tools'),
      routeYaml('hidden', '/hidden', 'echo'),
      policyYaml('hidden', 'HTTPRoute', 'hidden', {
        traffic: { headerModifiers: { request: { remove: ['traceparent'] } } },
      }),
      `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: mirrored }
spec: ${JSON.stringify(mirrorRoute)}
`,
      `
apiVersion: gateway.networking.k8s.io/v1
kind: GRPCRoute
metadata: { name: rpc }
spec: ${JSON.stringify(grpcRoute)}
`,
    ),
  })
  stops.defer(folder.remove)
  stops.use(await startGateway({ files: [folder.path], workers: 1 }))
})

afterAll(() => stops.disposeAsync())

beforeEach(() => {
  collector.received.length = 0
  served = []
  toolsHeaders = []
})

const request = (path: string, init?: RequestInit) =>
  fetch(`http://127.0.0.1:${port}${path}`, init).then(async (response) => ({
    status: response.status,
    text: await response.text(),
  }))

/** The spans of the only trace, once there are so many: that of the request, then its children by their start. */
async function spans(count: number): Promise<{ ofRequest: Received; children: readonly Received[] }> {
  const received = await arrives(`${count} spans`, () =>
    collector.received.length >= count ? collector.received : undefined,
  )
  expect(received).toHaveLength(count)
  const [ofRequest, ...others] = received.filter(({ item }) => item.kind === SERVER)
  expect(others).toEqual([])
  const { trace, span } = idsOf(ofRequest!)
  const children = received.filter((one) => one !== ofRequest)
  for (const child of children) expect(idsOf(child)).toMatchObject({ trace, parent: span })
  const startOf = ({ item }: Received) => Number(item.startTimeUnixNano)
  return { ofRequest: ofRequest!, children: children.toSorted((a, b) => startOf(a) - startOf(b)) }
}

const headerOf = (span: Received) => `00-${idsOf(span).trace}-${idsOf(span).span}-01`
const error = (message?: string) => ({ code: 'STATUS_CODE_ERROR', ...(message && { message }) })

test('each attempt has a span; the failed one is an error, the request is none', async () => {
  const { text } = await eventually('a retry', async () => {
    collector.received.length = 0
    const answer = await request('/flaky/a')
    const all = await arrives('spans', () =>
      collector.received.some(({ item }) => item.kind === SERVER) ? collector.received : undefined,
    )
    return all.length === 3 ? answer : undefined
  })
  const { ofRequest, children } = await spans(3)
  const [failed, succeeded] = children
  expect(failed!.item).toMatchObject({ name: 'GET', kind: 'SPAN_KIND_CLIENT', status: error() })
  expect(failed!.attributes).toMatchObject({ 'error.type': 'connection-refused' })
  expect(failed!.attributes).not.toHaveProperty(['http.response.status_code'])
  expect(succeeded!.attributes).toMatchObject({ 'http.request.resend_count': 1, 'http.response.status_code': 200 })
  expect(succeeded!.item.status).toBeUndefined()
  expect((JSON.parse(text) as Served).headers.traceparent).toBe(headerOf(succeeded!))
  expect(ofRequest.item.status).toBeUndefined()
  expect(ofRequest.attributes['retry.attempt']).toBe(1)
})

test('a backend that is not there', async () => {
  await request('/dead')
  const { ofRequest } = await spans(2)
  expect(ofRequest.item.status).toEqual(error(expect.stringContaining('connection-refused')))
  expect(ofRequest.attributes).toMatchObject({
    'error.type': 'upstream-failed',
    'http.response.status_code': 503,
    code: 'upstream-failed',
  })
})

test('a status of the backend from 500 is an error, below it is none', async () => {
  await request('/asked?status=404')
  const found = await spans(3)
  expect(found.ofRequest.item.status).toBeUndefined()
  expect(found.children[1]!.attributes).toMatchObject({ 'error.type': '404' })
  collector.received.length = 0
  await request('/asked?status=500')
  expect((await spans(3)).ofRequest.attributes).toMatchObject({ 'error.type': '500', 'http.response.status_code': 500 })
})

test('a request that no route takes has a span without children', async () => {
  await request('/nowhere', { method: 'PROPFIND' })
  const { ofRequest } = await spans(1)
  expect(ofRequest.item).toMatchObject({ name: 'HTTP' })
  expect(ofRequest.attributes).toMatchObject({
    'http.request.method': '_OTHER',
    'http.request.method_original': 'PROPFIND',
    'http.response.status_code': 404,
    code: 'route-not-found',
  })
})

test('a question to an authorization server over HTTP has a span, which the server continues', async () => {
  await request('/asked/x', { headers: { baggage: 'user=alice' } })
  const { ofRequest, children } = await spans(3)
  expect(ofRequest.item.name).toBe('GET /asked/*')
  expect(children[0]!.item).toMatchObject({ name: 'GET', kind: 'SPAN_KIND_CLIENT' })
  expect(children[0]!.attributes).toMatchObject({
    'gatewright.call.purpose': 'authorization',
    'http.response.status_code': 200,
  })
  expect(children[1]!.attributes).not.toHaveProperty(['gatewright.call.purpose'])
  expect(served.map(({ headers }) => [headers.traceparent, headers.baggage])).toEqual([
    [headerOf(children[0]!), undefined],
  ])
})

test('a refusal of that server is an error of the call, not of the request', async () => {
  await request('/denied')
  const { ofRequest, children } = await spans(2)
  expect(ofRequest.item.status).toBeUndefined()
  expect(children[0]!.attributes).toMatchObject({ 'error.type': '403' })
})

test('the same over gRPC', async () => {
  await request('/rpc-asked')
  const { children } = await spans(3)
  expect(children[0]!.item.name).toBe('envoy.service.auth.v3.Authorization/Check')
  expect(children[0]!.attributes).toMatchObject({
    'gatewright.call.purpose': 'authorization',
    'rpc.response.status_code': 'OK',
  })
})

test('a copy of a request has a span', async () => {
  await request('/mirrored')
  const { children } = await spans(3)
  const copy = children.find(({ attributes }) => attributes['gatewright.call.purpose'] === 'mirror')
  expect(served.map(({ headers }) => headers.traceparent)).toEqual([headerOf(copy!)])
})

test('a call of a model', async () => {
  const body = JSON.stringify({
    model: 'm-1',
    temperature: 0.5,
    messages: [{ role: 'user', content: 'a secret question' }],
  })
  await request('/v1/chat/completions', { method: 'POST', body, headers: { 'content-type': 'application/json' } })
  const { ofRequest, children } = await spans(2)
  const facts = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'm-1',
    'gen_ai.request.temperature': 0.5,
    'gen_ai.response.model': 'm',
    'gen_ai.response.id': 'c',
    'gen_ai.response.finish_reasons': ['stop'],
    'gen_ai.usage.input_tokens': 5,
    'gen_ai.usage.output_tokens': 3,
  }
  expect(ofRequest.item.name).toBe('POST /v1/*')
  expect(ofRequest.attributes).toMatchObject(facts)
  expect(children[0]!.item).toMatchObject({ name: 'chat m-1', kind: 'SPAN_KIND_CLIENT' })
  expect(children[0]!.attributes).toMatchObject({ ...facts, 'http.response.status_code': 200 })
  expect(JSON.stringify(collector.received)).not.toContain('secret question')
})

test('a call of an MCP tool', async () => {
  const url = `http://127.0.0.1:${port}/mcp`
  const initialize = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } }
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: initialize }),
  })
  await response.text()
  const session = response.headers.get('mcp-session-id')!
  await arrives(
    'the span',
    () => collector.received.some(({ item }) => item.name === 'initialize' && item.kind === SERVER) || undefined,
  )
  const headers = { 'mcp-session-id': session, 'mcp-protocol-version': '2025-06-18', baggage: 'user=alice' }
  const call = async (name: string) => {
    collector.received.length = 0
    toolsHeaders = []
    await post(url, { id: 2, method: 'tools/call', params: { name, arguments: { secret: 'argument' } } }, { headers })
    return spans(2)
  }
  const { ofRequest, children } = await call('add')
  expect(ofRequest.item.name).toBe('tools/call add')
  expect(ofRequest.attributes).toMatchObject({
    'mcp.method.name': 'tools/call',
    'gen_ai.tool.name': 'add',
    protocol: 'mcp',
  })
  expect(children[0]!.item).toMatchObject({ name: 'tools/call add', kind: 'SPAN_KIND_CLIENT' })
  expect(children[0]!.attributes).toMatchObject({
    'gatewright.call.purpose': 'mcp',
    'mcp.method.name': 'tools/call',
    'gen_ai.tool.name': 'add',
    'http.response.status_code': 200,
  })
  expect(toolsHeaders.map(({ traceparent, baggage }) => [traceparent, baggage])).toEqual([
    [headerOf(children[0]!), 'user=alice'],
  ])
  expect(JSON.stringify(collector.received)).not.toContain('argument')
  const wrong = await call('wrong')
  expect(wrong.ofRequest.item.status).toEqual(error('it failed'))
  expect(wrong.ofRequest.attributes).toMatchObject({ 'error.type': '-32000' })
})

test('a gRPC request', async () => {
  const caller = new GrpcCaller(`127.0.0.1:${rpcPort}`, 'test.Echo')
  try {
    await caller.ask('say', 'hi')
    const said = await spans(2)
    expect(said.ofRequest.item.name).toBe('test.Echo/Say')
    expect(said.ofRequest.attributes).toMatchObject({
      'rpc.system.name': 'grpc',
      'rpc.method': 'test.Echo/Say',
      'rpc.response.status_code': 'OK',
      'network.protocol.version': '2',
    })
    expect(said.children[0]!.attributes).toMatchObject({ 'rpc.response.status_code': 'OK' })
    collector.received.length = 0
    await caller.ask('fail', 'hi')
    const failed = await spans(2)
    expect(failed.ofRequest.item.status, 'a fault of the client').toBeUndefined()
    expect(failed.children[0]!.attributes).toMatchObject({ 'error.type': 'FAILED_PRECONDITION' })
  } finally {
    caller.client.close()
  }
})

test('a policy can keep the trace from a backend', async () => {
  const { text } = await request('/hidden')
  expect((JSON.parse(text) as Served).headers.traceparent).toBeUndefined()
  await spans(2)
})

test('calls pass the trace of a request that is not sampled', async () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00'
  await request('/asked/quiet', { headers: { traceparent, tracestate: 'a=b' } })
  expect(served.map(({ headers }) => [headers.traceparent, headers.tracestate])).toEqual([[traceparent, 'a=b']])
})
