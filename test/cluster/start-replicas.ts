import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { ask } from '#admin/testing.ts'
import type { Finding } from '#base/finding.ts'
import { InstanceLog } from '#cli/instance-log.ts'
import type { ApiClient } from '#cluster/api-client.ts'
import { DEFAULT_NAMES } from '#control/context/controller.ts'
import { PlanClient } from '#deliver/plan-client.ts'
import { defaultSettings } from '#deploy/settings.ts'
import { Controller, type ControllerOptions } from '#instance/controller.ts'
import type { CertificateSource } from '#instance/controller-certificate.ts'
import { StateFolder } from '#instance/state-folder.ts'
import { ApplicationLog } from '#observe/log/application-log.ts'
import type { Binding } from '#plan/binding.ts'
import type { PlanDelta } from '#plan/delta.ts'
import { eventually } from '#test/support/eventually.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { connectToTestServer } from './connect-to-test-server.ts'
import { ReplicaFront } from './replica-front.ts'
import { serveLeases } from './serve-leases.ts'

// Replicas of one controller, and proxies of one Gateway, which are clients of the delivery only.

export type LeadTimes = NonNullable<ControllerOptions['leadTimes']>

const ANY = { host: '127.0.0.1', port: 0 }
export const NAMESPACE = 'gatewright-system'
export const SERVICE = 'gatewright-controller'
/** With the certificate of the replicas. */
export const SECRET = `/api/v1/namespaces/${NAMESPACE}/secrets/${SERVICE}-authority`
export const GATEWAY = 'main'
const GATEWAYS = '/apis/gateway.networking.k8s.io/v1/namespaces/default/gateways'
export const ROUTES = '/apis/gateway.networking.k8s.io/v1/namespaces/default/httproutes'
const LEASE = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases/${SERVICE}`
/** A cluster with a Gateway and a route, without any replica. */
export async function startCluster() {
  const { server, client } = await connectToTestServer()
  await serveLeases({ server, client })
  await client.create('/api/v1/namespaces', { kind: 'Namespace', metadata: { name: NAMESPACE } })
  const listeners = [{ name: 'http', port: 80, protocol: 'HTTP' }]
  const spec = { gatewayClassName: 'gatewright', listeners }
  await client.create(GATEWAYS, { kind: 'Gateway', metadata: { name: GATEWAY }, spec })
  const route = { parentRefs: [{ name: GATEWAY }], hostnames: ['a.example'] }
  await client.create(ROUTES, { kind: 'HTTPRoute', metadata: { name: 'shop' }, spec: route })
  // The server ends connections that were idle while the test waited.
  const write = (ask: (api: ApiClient) => Promise<unknown>) => eventually('a write', () => ask(client).then(() => true))
  const read = async (path: string) => (await server.call(path)).body
  return {
    server,
    write,
    read,
    holder: async () => (await read(LEASE)).spec?.holderIdentity as string | undefined,
    edit: (spec: object) => write((api) => api.merge(`${ROUTES}/shop`, { spec })),
    gateway: () => read(`${GATEWAYS}/${GATEWAY}`),
    route: () => read(`${ROUTES}/shop`),
    account: async () => (await read(`/api/v1/namespaces/default/serviceaccounts/${GATEWAY}`)).metadata,
  }
}

export type Cluster = Awaited<ReturnType<typeof startCluster>>

/** By default its certificate stays. */
export async function startReplica(
  { server, account }: Cluster,
  name: string,
  leadTimes: LeadTimes,
  certificate: CertificateSource = { lifeMs: 86_400_000 },
) {
  const front = new ReplicaFront({ ...server, account })
  const log: string[] = []
  const events = new InstanceLog(
    new ApplicationLog({ format: 'text', levels: { others: 'info' } }, (line) => {
      log.push(line)
      return true
    }),
  )
  const folder = temporaryFolder()
  const controller = new Controller(
    {
      access: { server: await front.start(), tls: {}, headers: { authorization: 'Bearer test-token' } },
      names: DEFAULT_NAMES,
      namespaces: [],
      ...{ admin: ANY, metrics: ANY, readiness: ANY, delivery: ANY },
      state: new StateFolder(folder, true, () => {}),
      ...{ namespace: NAMESPACE, service: SERVICE, hosts: ['127.0.0.1'] },
      certificate,
      settings: { ...defaultSettings('1.2.3'), version: '1.2.3' },
      ...{ identity: name, replicaHost: '127.0.0.1', leadTimes },
    },
    events,
  )
  onTestFinished(() => controller.close())
  await controller.start()
  const { admin, readiness, metrics, delivery } = controller.addresses
  const readyz = () => ask(readiness, '/readyz')
  await eventually('a ready replica', async () => (await readyz()).status === 200)
  const adminPort = Number(new URL(admin).port)
  return {
    front,
    controller,
    log,
    readyz,
    url: `https://127.0.0.1:${delivery}`,
    plan: async () => JSON.parse((await ask(adminPort, '/plan')).body).items,
    status: async () => JSON.parse((await ask(adminPort, '/status')).body),
    metrics: async () => (await ask(metrics, '/metrics')).body,
  }
}

export type Replica = Awaited<ReturnType<typeof startReplica>>

/** A proxy of the Gateway that is connected to a replica, whose sockets are as `binding` says. */
export async function startProxy(
  { read, account }: Cluster,
  { url }: Replica,
  name: string,
  binding: Binding = { state: 'bound' },
) {
  const folder = temporaryFolder()
  const [caFile, tokenFile] = [join(folder, 'ca.crt'), join(folder, 'token')]
  await eventually('its account', async () => (await account()).uid)
  const { data } = await read(SECRET)
  writeFileSync(caFile, Buffer.from(data['ca.crt'], 'base64'))
  writeFileSync(tokenFile, name)
  const found: { problems: ReadonlyMap<string, readonly Finding[]> } = { problems: new Map() }
  const causes: unknown[] = []
  const client = new PlanClient({
    ...{ url, caFile, tokenFile, identity: name, version: '1.2.3', readAuthoritiesMs: 50 },
    target: {
      take: ({ version }: PlanDelta) => {
        setImmediate(() => {
          client.inForce(version)
          client.bound(version, new Map([['0.0.0.0:80', binding]]))
        })
        return found.problems
      },
    },
    log: (_, __, { cause }) => causes.push(cause),
    reportBug: (error) => causes.push(error),
  })
  onTestFinished(() => client.close())
  client.start()
  await eventually('a ready proxy', () => client.whyNotReady === undefined)
  return { client, caFile, causes }
}
