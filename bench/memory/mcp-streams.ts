import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '#test/support/free-port.ts'
import { startGatewayProcess } from '#test/support/gateway-process.ts'
import { createObjectsFolder, gatewayYaml } from '#test/support/objects-folder.ts'
import { residentMb } from '../process-cost.ts'

/** Each needs two sockets of the gateway, and two of this process. The usual limit of open files is 20,000. */
const SESSIONS = Number(process.argv[2] ?? 9000)
const AT_ONCE = 50
/** Memory limit per open session with a stream of notifications (bench/README.md). */
const MOST_KB_PER_SESSION = 25
/** Time until a worker has shrunk its young generation, and V8 has returned the freed memory to the system. */
const SETTLE_MS = 20_000

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
})

/** Prints the memory of a session whose stream of notifications is open, through a gateway with one worker. */
async function main(): Promise<number> {
  await using stops = new AsyncDisposableStack()
  const target = http.createServer(serveTarget).listen(0, '127.0.0.1', 4096)
  stops.defer(() => target.closeAllConnections())
  await once(target, 'listening')
  const port = await freePort()
  const folder = await createObjectsFolder({
    'gateway.yaml': gatewayYaml(port),
    'mcp.yaml': objectsYaml((target.address() as AddressInfo).port),
  })
  stops.defer(folder.remove)
  const gateway = stops.use(await startGatewayProcess({ files: [folder.path], workers: 1 }))
  const memory = async () => {
    await sleep(SETTLE_MS)
    return residentMb(gateway.process.pid!)
  }

  // The first sessions pay for what all of them share.
  await openStreams(port, 500)
  const before = await memory()
  const streams = await openStreams(port, SESSIONS)
  const after = await memory()
  const perSession = ((after - before) * 1024) / SESSIONS
  console.log(`${SESSIONS} sessions with streams: from ${before.toFixed(0)} to ${after.toFixed(0)} MB`)
  console.log(`a session: ${perSession.toFixed(1)} KB (at most ${MOST_KB_PER_SESSION})`)
  for (const stream of streams) stream.destroy()
  console.log(`after they have left: ${(await memory()).toFixed(0)} MB`)
  return perSession <= MOST_KB_PER_SESSION ? 0 : 1
}

async function openStreams(port: number, count: number): Promise<http.ClientRequest[]> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: AT_ONCE })
  const opened: http.ClientRequest[] = []
  while (opened.length < count) {
    const missing = Math.min(AT_ONCE, count - opened.length)
    opened.push(...(await Promise.all(Array.from({ length: missing }, () => openStream(port, agent)))))
  }
  agent.destroy()
  return opened
}

async function openStream(port: number, agent: http.Agent): Promise<http.ClientRequest> {
  const address = { host: '127.0.0.1', port, path: '/mcp' }
  const begin = http.request({ ...address, method: 'POST', headers: HEADERS, agent })
  begin.end(INITIALIZE)
  const session = (await responseTo(begin)).headers['mcp-session-id']
  const listen = http.request({ ...address, headers: { ...HEADERS, 'mcp-session-id': session }, agent: false })
  listen.end()
  await responseTo(listen)
  // Streams end with an error when they are destroyed.
  return listen.on('error', () => {})
}

async function responseTo(request: http.ClientRequest): Promise<http.IncomingMessage> {
  const [response] = (await once(request, 'response')) as [http.IncomingMessage]
  if (response.statusCode !== 200) throw new Error(`a request was refused with ${response.statusCode}`)
  return response.resume()
}

/** An MCP server with one session for all, whose streams stay silent. */
function serveTarget(request: http.IncomingMessage, response: http.ServerResponse): void {
  request.resume()
  if (request.method === 'GET') {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    return
  }
  const serverInfo = { name: 'bench', version: '1' }
  const result = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo }
  response
    .writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'bench-session' })
    .end(JSON.stringify({ jsonrpc: '2.0', id: 1, result }))
}

function objectsYaml(port: number): string {
  return `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: tools }
spec:
  mcp:
    targets:
      - { name: tools, static: { host: 127.0.0.1, port: ${port} } }
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: tools }
spec:
  parentRefs: [{ name: main }]
  rules:
    - backendRefs: [{ group: gatewright.dev, kind: ProxyBackend, name: tools }]
`
}

process.exit(await main())
