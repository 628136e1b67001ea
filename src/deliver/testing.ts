import { onTestFinished } from 'vitest'
import type { Finding } from '#base/finding.ts'
import { listenerItem, routeItem, toBackend } from '#engine/testing.ts'
import type { PlanDelta } from '#plan/delta.ts'
import type { BackendItem, EndpointsItem, GatewayItem, PlanItem, RouteItem, SecretItem } from '#plan/item.ts'
import type { PlanTarget } from '#plan/plan-link.ts'
import { PlanClient, type PlanClientOptions } from './plan-client.ts'
import { type Authorise, PlanServer, type PlanServerOptions } from './plan-server.ts'
import type { ServedProxy } from './proxy-stream.ts'

/** Test support: plans of one Gateway, servers and clients on loopback, which end with the test. */

const GATEWAY = 'Gateway/default/main'

const origin = { kind: 'Gateway', namespace: 'default', name: 'main' }
const gatewayItem: GatewayItem = {
  kind: 'gateway',
  key: GATEWAY,
  namespace: 'default',
  name: 'main',
  shutdown: undefined,
  origin,
}

/** A route to Service `default/<name>`, its backend, and an endpoint of it. */
export function routeTo(name: string, host = '10.0.0.1'): readonly [RouteItem, BackendItem, EndpointsItem] {
  const service = { kind: 'Service', namespace: 'default', name }
  const key = `Service/default/${name}/80`
  const backends = [{ ...toBackend(name)[0]!, backend: key }]
  return [
    routeItem(name, { backends }),
    {
      kind: 'backend',
      key,
      namespace: 'default',
      name,
      type: 'service',
      spec: { hostname: `${name}.default`, port: 80 },
      broken: undefined,
      origin: service,
    },
    { kind: 'endpoints', key: `Endpoints/default/${name}/80`, addresses: [{ host, port: 8080 }], origin: service },
  ]
}

export function secretItem(name: string, data: SecretItem['data']): SecretItem {
  return {
    kind: 'secret',
    key: `Secret/default/${name}`,
    namespace: 'default',
    name,
    labels: {},
    data,
    origin: { kind: 'Secret', namespace: 'default', name },
  }
}

/** The Gateway with its listener, which has these certificates. */
export function frame(...certificates: readonly string[]): readonly PlanItem[] {
  return [gatewayItem, listenerItem({ certificates })]
}

/** Records what a data plane gets; its plan is in force at once. */
class RecordingTarget implements PlanTarget {
  readonly deltas: PlanDelta[] = []
  readonly items = new Map<string, PlanItem>()
  /** What is found when routes change. */
  problems: ReadonlyMap<string, readonly Finding[]> = new Map()
  client: PlanClient | undefined

  take(delta: PlanDelta): ReadonlyMap<string, readonly Finding[]> {
    this.deltas.push(delta)
    for (const key of delta.removed) this.items.delete(key)
    for (const item of delta.set) this.items.set(item.key, item)
    setImmediate(() => this.client?.inForce(delta.version))
    return delta.set.some(({ kind }) => kind === 'route') ? this.problems : new Map()
  }

  get keys(): readonly string[] {
    return [...this.items.keys()].sort()
  }
}

export const everybody: Authorise = async () => ({ gateway: GATEWAY, identity: 'pod-1' })

function rethrow(error: unknown): never {
  throw error
}

/** A server with a plan. */
export interface ServerRig {
  readonly server: PlanServer
  readonly port: number
  readonly url: string
  readonly refused: string[]
  readonly left: string[]
  /** The only proxy. */
  proxy(): ServedProxy | undefined
  edit(set: readonly PlanItem[], removed?: readonly string[]): void
}

export async function startServer(
  items: readonly PlanItem[],
  more: Partial<PlanServerOptions> = {},
): Promise<ServerRig> {
  const refused: string[] = []
  const left: string[] = []
  const server = new PlanServer({
    host: '127.0.0.1',
    port: 0,
    authorise: everybody,
    refused: (_, why) => refused.push(why),
    left: (_, why) => left.push(why),
    reportBug: rethrow,
    ...more,
  })
  const port = await server.listen()
  onTestFinished(() => server.close())
  let version = 0
  const edit = (set: readonly PlanItem[], removed: readonly string[] = []) =>
    void server.take({ version: ++version, set, removed })
  edit(items)
  server.open()
  const scheme = more.tls === undefined ? 'http' : 'https'
  return {
    server,
    port,
    url: `${scheme}://127.0.0.1:${port}`,
    refused,
    left,
    proxy: () => [...server.proxies][0],
    edit,
  }
}

export interface ClientRig {
  readonly client: PlanClient
  readonly target: RecordingTarget
  readonly logged: string[]
  /** Why there is no connection, as the log says. */
  disconnected(): string | undefined
}

export function startClient(url: string, more: Partial<PlanClientOptions> = {}): ClientRig {
  const target = new RecordingTarget()
  const logged: string[] = []
  let cause: string | undefined
  const client = new PlanClient({
    url,
    identity: 'pod-1',
    version: '1.2.3',
    target,
    log: (level, message, fields) => {
      logged.push(`${level} ${message} ${JSON.stringify(fields)}`)
      cause = fields.cause as string | undefined
    },
    reportBug: rethrow,
    ...more,
  })
  target.client = client
  onTestFinished(() => client.close())
  client.start()
  return { client, target, logged, disconnected: () => cause }
}
