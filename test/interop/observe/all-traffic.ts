import { once } from 'node:events'
import net from 'node:net'
import { startA2a } from '../../../examples/upstreams/a2a.ts'
import { startLlm } from '../../../examples/upstreams/llm.ts'
import { startNotes } from '../../../examples/upstreams/mcp.ts'
import { modelsYaml, startChatProvider } from '../../support/chat-provider.ts'
import { type Collector, startCollector } from '../../support/collector.ts'
import { envoyService } from '../../support/envoy-definitions.ts'
import { freePort } from '../../support/free-port.ts'
import { startGrpcService } from '../../support/grpc-peers.ts'
import { backendYaml, listenersYaml, routeYaml } from '../../support/objects-folder.ts'
import { policyYaml } from '../../support/policy-yaml.ts'
import { type Front, proxyBackend, startFront } from '../front.ts'

/** A gateway with all that its metrics know, and what was exported of its traces. */
export interface AllTraffic {
  readonly front: Front
  readonly collector: Collector
  /** Sends something of each kind. @returns the statuses */
  send(): Promise<Readonly<Record<string, number | string>>>
}

const RATE_LIMITS = envoyService('envoy/service/ratelimit/v3/rls.proto', 'envoy.service.ratelimit.v3.RateLimitService')
const JSON_BODY = { 'content-type': 'application/json' }

/** Starts a gateway in front of an LLM provider, an MCP server, an A2A agent, a relayed server and a rate limit service. All of its requests are traced. */
export async function startAllTraffic(stops: AsyncDisposableStack): Promise<AllTraffic> {
  const collector = stops.use(await startCollector())
  const provider = stops.use(await startChatProvider())
  const [streaming, notes, agent] = await Promise.all([
    startLlm({ port: 0 }),
    startNotes({ port: 0 }),
    startA2a({ port: 0 }),
  ])
  for (const upstream of [streaming, notes, agent]) stops.defer(upstream.close)
  const limits = await startGrpcService(RATE_LIMITS, { shouldRateLimit: () => ({ overallCode: 'OK', statuses: [] }) })
  stops.defer(limits.close)
  const relayedPort = await freePort()
  const relayed = net.createServer((socket) => socket.on('error', () => {}).pipe(socket)).listen(0, '127.0.0.1')
  await once(relayed, 'listening')
  stops.defer(() => void relayed.close())
  const rateLimit = {
    global: {
      backendRef: proxyBackend('limits'),
      domain: 'shop',
      descriptors: [{ entries: [{ name: 'method', expression: 'request.method' }] }],
    },
  }
  const promptGuard = { request: [{ regex: { action: 'Reject', matches: ['forbidden'] } }] }
  const front = await startFront(
    stops,
    backendYaml('collector', collector.grpcPort),
    policyYaml('traced', 'Gateway', 'main', {
      frontend: { tracing: { backendRef: proxyBackend('collector'), randomSampling: 'true' } },
    }),
    routeYaml('plain', '/', 'echo'),
    routeYaml('limited', '/limited', 'echo'),
    policyYaml('limited', 'HTTPRoute', 'limited', {
      traffic: { rateLimit: { local: [{ requests: 1, unit: 'Hours' }] } },
    }),
    backendYaml('limits', limits.port),
    routeYaml('asked', '/asked', 'echo'),
    policyYaml('asked', 'HTTPRoute', 'asked', { traffic: { rateLimit } }),
    backendYaml('closed', await freePort()),
    routeYaml('closed', '/closed', 'closed'),
    policyYaml('closed', 'HTTPRoute', 'closed', { traffic: { retry: { attempts: 1, codes: [503] } } }),
    modelsYaml('models', provider.port),
    routeYaml('chat', '/chat', 'models'),
    policyYaml('models', 'ProxyBackend', 'models', {
      backend: { ai: { routes: { '/chat': 'Completions' }, promptGuard } },
    }),
    modelsYaml('streaming', streaming.port),
    routeYaml('stream', '/v1', 'streaming'),
    mcpYaml(notes.port),
    routeYaml('mcp', '/mcp', 'notes'),
    a2aYaml(agent.port),
    routeYaml('agent', '/rpc', 'agent'),
    listenersYaml('relayed', [`{ name: tcp, protocol: TCP, port: ${relayedPort} }`]),
    backendYaml('relayed', (relayed.address() as net.AddressInfo).port),
    tcpRouteYaml('relayed'),
  )
  const post = (path: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
    front.ask(path, { method: 'POST', headers: { ...JSON_BODY, ...headers }, body: JSON.stringify(body) })
  const send = async () => ({
    plain: await statusOf(front.ask('/x')),
    asked: await statusOf(front.ask('/asked')),
    limited: [await statusOf(front.ask('/limited')), await statusOf(front.ask('/limited'))].at(-1)!,
    closed: await statusOf(front.ask('/closed')),
    chat: await statusOf(post('/chat', chat('hello'))),
    guarded: await statusOf(post('/chat', chat('this is forbidden'))),
    streamed: await statusOf(post('/v1/chat/completions', { ...chat('hello'), model: 'mock-small', stream: true })),
    mcp: await callTool(post),
    a2a: await statusOf(post('/rpc', MESSAGE, { 'a2a-version': '1.0' })),
    malformed: (await sendBytes(front.port, 'NO REQUEST\r\n\r\n')).slice(9, 12),
    relayed: await sendBytes(relayedPort, 'relayed'),
  })
  return { front, collector, send }
}

async function statusOf(asked: Promise<Response>): Promise<number> {
  const response = await asked
  await response.arrayBuffer()
  return response.status
}

/** A model whose price is known. */
function chat(content: string): object {
  return { model: 'gpt-4o', messages: [{ role: 'user', content }] }
}

const MESSAGE = {
  ...{ jsonrpc: '2.0', id: 1, method: 'SendMessage' },
  params: { message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hello' }] } },
}

/** Opens a session and calls a tool. @returns the status of the call */
async function callTool(
  post: (path: string, body: object, headers: Readonly<Record<string, string>>) => Promise<Response>,
): Promise<number> {
  const accept = { accept: 'application/json, text/event-stream' }
  const message = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params })
  const clientInfo = { name: 'check', version: '1' }
  const opened = await post(
    '/mcp',
    message('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }),
    accept,
  )
  await opened.arrayBuffer()
  const session = { ...accept, 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
  await statusOf(post('/mcp', { jsonrpc: '2.0', method: 'notifications/initialized' }, session))
  return await statusOf(post('/mcp', message('tools/call', { name: 'add', arguments: { text: 'a note' } }), session))
}

/** @returns what came back until the other side ended, or as much as was sent */
function sendBytes(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = ''
    const socket = net.connect(port, '127.0.0.1', () => void socket.write(text))
    socket.on('data', (bytes) => {
      received += bytes
      if (received.length >= text.length) socket.end()
    })
    socket.on('error', reject).on('close', () => resolve(received))
  })
}

function mcpYaml(port: number): string {
  return `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: notes }
spec: { mcp: { targets: [{ name: notes, static: { host: 127.0.0.1, port: ${port} } }] } }
`
}

function a2aYaml(port: number): string {
  return `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: agent }
spec: { a2a: { host: 127.0.0.1, port: ${port} } }
`
}

/** From the Gateway of that name to the ProxyBackend of that name. */
function tcpRouteYaml(name: string): string {
  return `
apiVersion: gateway.networking.k8s.io/v1
kind: TCPRoute
metadata: { name: ${name} }
spec: ${JSON.stringify({ parentRefs: [{ name }], rules: [{ backendRefs: [proxyBackend(name)] }] })}
`
}
