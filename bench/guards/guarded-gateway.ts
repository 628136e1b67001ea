import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { freePort } from '#test/support/free-port.ts'
import { type GatewayProcess, startGatewayProcess } from '#test/support/gateway-process.ts'
import { type GuardGauges, readGauges } from '#test/support/guard-gauges.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'

/** A gateway with a guarded provider at `/guarded`, the same provider without guards at `/plain`, and a service for guards. */
export interface GuardedGateway {
  readonly url: string
  readonly process: GatewayProcess['process']
  gauges(): Promise<GuardGauges>
  /** Bytes that the provider has sent and the gateway has not read: they are in the buffers of the system. */
  unread(): number
}

export interface GuardedGatewayOptions {
  /** Undefined: no route has guards. */
  readonly promptGuard: object | undefined
  readonly provider: RequestListener
  /** The port of the provider without guards; by default it is the same one. */
  readonly plainPort?: number | undefined
  /** What answers the guards. */
  readonly judge?: RequestListener
}

export async function startGuardedGateway(
  { promptGuard, provider, plainPort, judge = (_, response) => pass(response) }: GuardedGatewayOptions,
  stops: AsyncDisposableStack,
): Promise<GuardedGateway> {
  const at = { host: '127.0.0.1', port: await serve(provider, stops) }
  const judgePort = await serve(judge, stops)
  const port = await freePort()
  const plain = { ...at, port: plainPort ?? at.port }
  const backend = (name: string, place: typeof at, ai: object) => ({
    apiVersion: 'gatewright.dev/v1alpha1',
    kind: 'ProxyBackend',
    metadata: { name },
    spec: { ai: { provider: { providerOne: {}, ...place } }, policies: { ai } },
  })
  const routes = { '*': 'Completions' }
  const objects = [
    backend('guarded', at, { routes, promptGuard }),
    backend('plain', plain, { routes }),
    { apiVersion: 'v1', kind: 'Service', metadata: { name: 'judge' }, spec: { ports: [{ port: 80 }] } },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'judge', labels: { 'kubernetes.io/service-name': 'judge' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['127.0.0.1'] }],
      ports: [{ port: judgePort }],
    },
  ].map((object) => `\n${JSON.stringify(object)}\n`)
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      ...objects,
      routeYaml('guarded', '/guarded', 'guarded'),
      routeYaml('plain', '/plain', 'plain'),
    ),
  })
  stops.defer(folder.remove)
  const gateway = stops.use(await startGatewayProcess({ files: [folder.path], workers: 1 }))
  return {
    url: gateway.url(port),
    process: gateway.process,
    gauges: () => readGauges(gateway),
    unread: () => unreadOf(at.port),
  }
}

/** Of the provider's sockets: what is sent and not acknowledged; of the gateway's: what is not read. */
function unreadOf(port: number): number {
  const provider = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const sockets = readFileSync('/proc/net/tcp', 'utf8').trim().split('\n').slice(1)
  let bytes = 0
  for (const socket of sockets) {
    const [, local, peer, , queues] = socket.trim().split(/\s+/)
    const [out, into] = queues!.split(':').map((part) => Number.parseInt(part, 16))
    if (local!.endsWith(provider)) bytes += out!
    if (peer!.endsWith(provider)) bytes += into!
  }
  return bytes
}

export async function serve(listener: RequestListener, stops: AsyncDisposableStack): Promise<number> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.defer(() => new Promise((resolve) => void server.close(() => resolve())))
  stops.defer(async () => server.closeAllConnections())
  return (server.address() as AddressInfo).port
}

/** The answer of a guard server that lets everything pass. */
export function pass(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end('{"action":{}}')
}

/** Reads a request to its end. */
export async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const piece of request) body += piece
  return body
}

/** An event of chat completions. */
export function chunk(delta: object, finish: string | null = null): string {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }]
  return `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'm', choices })}\n\n`
}

/** An answer of chat completions that is not streamed. */
export const WHOLE = JSON.stringify({
  id: 'c',
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
})

export const STREAMED = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'Hello.' }] }),
} as const
