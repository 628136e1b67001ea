import { createServer, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Flood, type FloodingProvider, startFloodingProvider } from './flooding-provider.ts'
import { freePort } from './free-port.ts'
import { startGateway, type TestGateway } from './gateway.ts'
import { type GuardGauges, readGauges } from './guard-gauges.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, routeYaml, serviceYaml } from './objects-folder.ts'
import { policyYaml } from './policy-yaml.ts'

/** How a guarded stream reaches the gateway, by the name of its route. The provider of translated ones speaks the messages API. */
export const FLOODED = ['http1', 'http2', 'translated', 'translated-http2'] as const

export type FloodedRoute = (typeof FLOODED)[number] | 'patterns'

/** A gateway whose guarded providers send more than it takes, and a guard server that can be silent. */
export interface GuardedFloods {
  readonly gateway: TestGateway
  readonly provider: FloodingProvider
  readonly judge: SilentJudge
  open(route: FloodedRoute): GuardedClient
  gauges(): Promise<GuardGauges>
}

export interface SilentJudge {
  /** Lets everything pass that waits, and all that comes. */
  speak(): void
  /** Answers nothing from now on. */
  hush(): void
}

export interface GuardedClient {
  readonly status: number | undefined
  readonly text: string
  readonly ended: boolean
  leave(): void
}

const TEXT = 'a piece of a text of the model, about eighty characters long, for the guards. '

/** An event of chat completions. */
export function chatEvent(delta: object, index = 0): string {
  return `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [{ index, delta, finish_reason: null }] })}\n\n`
}

/** The events of a provider without end, in the API of the request that it got. */
export function textEvents(asked: string): string {
  const delta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: TEXT } }
  return asked.includes('"max_tokens"')
    ? `event: content_block_delta\ndata: ${JSON.stringify(delta)}\n\n`
    : chatEvent({ content: TEXT })
}

export async function startGuardedFloods(
  flood: (request: string) => Flood,
  stops: AsyncDisposableStack,
  environment: Readonly<Record<string, string>> = {},
): Promise<GuardedFloods> {
  const provider = stops.use(await startFloodingProvider(flood))
  const { judge, port: judgePort } = await startJudge(stops)
  const port = await freePort()
  const service = { response: [{ webhook: { backendRef: { name: 'judge', port: 80 } } }] }
  const { http1, http2 } = provider.ports
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      guardedYaml('http1', { providerOne: {}, port: http1 }, service),
      guardedYaml('http2', { providerOne: {}, port: http2 }, service),
      guardedYaml('translated', { providerFour: {}, port: http1 }, service),
      guardedYaml('translated-http2', { providerFour: {}, port: http2 }, service),
      guardedYaml('patterns', { providerOne: {}, port: http1 }, { response: [{ regex: { builtins: ['Email'] } }] }),
      ...['http2', 'translated-http2'].map((name) =>
        policyYaml(name, 'ProxyBackend', name, { backend: { http: { version: 'HTTP2' } } }),
      ),
      ...[...FLOODED, 'patterns'].map((name) => routeYaml(name, `/${name}`, name)),
      serviceYaml('judge', [judgePort]),
      // The longest that a guard may have: a busy machine needs time to fill the memory.
      policyYaml('judge', 'Service', 'judge', { backend: { http: { requestTimeout: '30s' } } }),
    ),
  })
  stops.defer(folder.remove)
  const gateway = stops.use(await startGateway({ files: [folder.path], workers: 1, environment }))
  return {
    gateway,
    provider,
    judge,
    open: (route) => openStream(`${gateway.url(port)}/${route}/v1/chat/completions`),
    gauges: () => readGauges(gateway),
  }
}

function guardedYaml(name: string, provider: object, promptGuard: object): string {
  return `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: ${name} }
spec: ${JSON.stringify({
    ai: { provider: { host: '127.0.0.1', ...provider } },
    policies: { ai: { routes: { '*': 'Completions' }, promptGuard } },
  })}
`
}

async function startJudge(stops: AsyncDisposableStack): Promise<{ judge: SilentJudge; port: number }> {
  const waiting = new Set<ServerResponse>()
  let isSilent = true
  const pass = (response: ServerResponse) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end('{"action":{}}')
  const server = createServer((incoming, response) => {
    incoming.resume()
    incoming.on('end', () => {
      if (!isSilent) return pass(response)
      waiting.add(response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.defer(() => new Promise((resolve) => void server.close(() => resolve())))
  stops.defer(async () => server.closeAllConnections())
  const judge = {
    speak() {
      isSilent = false
      for (const response of waiting) pass(response)
      waiting.clear()
    },
    hush() {
      isSilent = true
    },
  }
  return { judge, port: (server.address() as AddressInfo).port }
}

function openStream(url: string): GuardedClient {
  const client = { status: undefined as number | undefined, text: '', ended: false, leave: () => void made.destroy() }
  const made = request(url, { method: 'POST', agent: false, headers: { 'content-type': 'application/json' } })
  made.on('error', () => {})
  made.on('response', (response) => {
    client.status = response.statusCode
    response.setEncoding('utf8')
    response.on('data', (piece: string) => {
      client.text += piece
    })
    response.on('end', () => {
      client.ended = true
    })
    response.on('error', () => {})
  })
  made.end(JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'Hello.' }] }))
  return client
}
