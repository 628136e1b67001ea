import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ask } from '#admin/testing.ts'
import type { Finding } from '#base/finding.ts'
import { InstanceLog } from '#cli/instance-log.ts'
import type { ApiClient } from '#cluster/api-client.ts'
import { DEFAULT_NAMES } from '#control/context/controller.ts'
import { PlanClient } from '#deliver/plan-client.ts'
import { defaultSettings } from '#deploy/settings.ts'
import { Controller } from '#instance/controller.ts'
import { StateFolder } from '#instance/state-folder.ts'
import { ApplicationLog } from '#observe/log/application-log.ts'
import type { Binding } from '#plan/binding.ts'
import type { PlanDelta } from '#plan/delta.ts'
import { eventually } from '#test/support/eventually.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { connectToTestServer } from './connect-to-test-server.ts'
import { ReplicaFront } from './replica-front.ts'
import { serveLeases } from './serve-leases.ts'

// Two replicas of one controller, and proxies of one Gateway, which are clients of the delivery only.

const ANY = { host: '127.0.0.1', port: 0 }
const NAMESPACE = 'gatewright-system'
const GATEWAY = 'main'
const GATEWAYS = '/apis/gateway.networking.k8s.io/v1/namespaces/default/gateways'
const ROUTES = '/apis/gateway.networking.k8s.io/v1/namespaces/default/httproutes'
const LEASE = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases/gatewright-controller`
/** The lease is given back sooner than it expires; and it expires. */
const LONG = { durationMs: 15_000, giveUpMs: 10_000, retryMs: 100, settleMs: 1500 }
const SHORT = { ...LONG, durationMs: 6000, giveUpMs: 5000 }

/** A cluster with a Gateway and a route, without any replica. */
async function startCluster() {
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

type Cluster = Awaited<ReturnType<typeof startCluster>>

async function startReplica({ server, account }: Cluster, name: string, leadTimes: typeof LONG) {
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
      ...{ namespace: NAMESPACE, service: 'gatewright-controller', hosts: ['127.0.0.1'] },
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

type Replica = Awaited<ReturnType<typeof startReplica>>

/** A proxy of the Gateway that is connected to a replica, whose sockets are as `binding` says. */
async function startProxy({ read }: Cluster, { url }: Replica, name: string, binding: Binding = { state: 'bound' }) {
  const folder = temporaryFolder()
  const [caFile, tokenFile] = [join(folder, 'ca.crt'), join(folder, 'token')]
  const { data } = await read(`/api/v1/namespaces/${NAMESPACE}/secrets/gatewright-controller-authority`)
  writeFileSync(caFile, Buffer.from(data['ca.crt'], 'base64'))
  writeFileSync(tokenFile, name)
  const found: { problems: ReadonlyMap<string, readonly Finding[]> } = { problems: new Map() }
  const causes: unknown[] = []
  const client = new PlanClient({
    ...{ url, caFile, tokenFile, identity: name },
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
  return client
}

interface Conditions {
  readonly conditions: readonly { readonly type: string; readonly status: string; readonly message: string }[]
}

const conditionOf = (status: Conditions | undefined, type: string) =>
  status?.conditions?.find((condition) => condition.type === type)

const programmed = async (cluster: Cluster) => conditionOf((await cluster.gateway()).status, 'Programmed')

/** Two replicas, of which the first one leads, with a proxy each. */
async function startBoth(times: typeof LONG, ...bindings: readonly Binding[]) {
  const cluster = await startCluster()
  const a = await startReplica(cluster, 'a', times)
  await expect.poll(cluster.holder).toBe('a')
  const b = await startReplica(cluster, 'b', times)
  const proxies = [
    await startProxy(cluster, a, 'pod-a', bindings[0]),
    await startProxy(cluster, b, 'pod-b', bindings[1]),
  ]
  return { cluster, a, b, proxies }
}

const said = ({ log }: Replica, text: string) => log.filter((line) => line.includes(text)).length
const LEADS = 'this replica leads'
const ENDED = 'this replica does not lead any more'

/** What the API has, with the versions of the objects and the times of their conditions. */
const stored = async ({ gateway, route }: Cluster) => [await gateway(), await route()]

test('all replicas have the same plan and serve proxies; one writes, and hears of the proxies of the others', async () => {
  const { cluster, a, b, proxies } = await startBoth(LONG)
  await expect.poll(() => programmed(cluster)).toMatchObject({ status: 'True' })
  await cluster.edit({ hostnames: ['b.example'] })
  await expect.poll(a.plan).toEqual(await a.plan())
  await expect.poll(async () => JSON.stringify(await b.plan())).toBe(JSON.stringify(await a.plan()))
  await expect
    .poll(async () => (await a.status()).proxies)
    .toMatchObject([
      { proxy: 'default/pod-a', isCurrent: true },
      { proxy: 'default/pod-b', isCurrent: true },
    ])
  expect((await b.status()).proxies).toMatchObject([{ proxy: 'default/pod-b', isCurrent: true }])
  // Each counts its own.
  for (const replica of [a, b])
    await expect.poll(replica.metrics).toContain('gatewright_proxies{gateway="default/main",state="current"} 1')
  expect(await a.metrics()).toContain('gatewright_leader 1')
  expect(await b.metrics()).toContain('gatewright_leader 0')
  // Only the proxy of the replica that follows cannot use it.
  proxies[1]!.bound(1, new Map([['0.0.0.0:80', { state: 'failed', reason: 'PortUnavailable', message: 'in use' }]]))
  await expect
    .poll(() => programmed(cluster))
    .toMatchObject({ status: 'False', message: expect.stringContaining('pod-b') })
  proxies[1]!.bound(1, new Map([['0.0.0.0:80', { state: 'bound' }]]))
  await expect.poll(() => programmed(cluster)).toMatchObject({ status: 'True' })
  proxies[1]!.close()
  await expect.poll(async () => (await a.status()).proxies).toMatchObject([{ proxy: 'default/pod-a' }])
  expect(b.front.writes).toEqual([])
  expect([said(a, LEADS), said(b, LEADS)]).toEqual([1, 0])
})

test('when the leader stops, the next one writes nothing that is there already, and everything that changes', async () => {
  const taken: Binding = { state: 'failed', reason: 'PortUnavailable', message: 'in use' }
  const { cluster, a, b } = await startBoth(LONG, { state: 'bound' }, taken)
  await expect.poll(() => programmed(cluster)).toMatchObject({ status: 'False' })
  const before = await stored(cluster)
  await a.controller.close()
  await expect.poll(cluster.holder).toBe('b')
  // A change shows when it has begun to write.
  const spec = { parentRefs: [{ name: 'absent' }, { name: GATEWAY }], hostnames: ['later.example'] }
  await cluster.write((api) => api.create(ROUTES, { kind: 'HTTPRoute', metadata: { name: 'later' }, spec }))
  await expect
    .poll(async () => (await cluster.read(`${ROUTES}/later`)).status?.parents)
    .toMatchObject([{ parentRef: { name: GATEWAY } }])
  const [gatewayBefore, routeBefore] = before
  expect(await cluster.route()).toEqual(routeBefore)
  // The new route is attached, and nothing else has changed.
  await expect.poll(async () => (await cluster.gateway()).status.listeners[0].attachedRoutes).toBe(2)
  expect((await cluster.gateway()).status.conditions).toEqual(gatewayBefore.status.conditions)
  const writes = b.front.writes.filter((write) => write.includes('/status'))
  expect(writes.filter((write) => write.includes('/httproutes/shop'))).toEqual([])
})

test('a leader that cannot reach the API is replaced, writes nothing any more, and follows when it can', async () => {
  const { cluster, a, b } = await startBoth(SHORT)
  await expect.poll(() => programmed(cluster)).toMatchObject({ status: 'True' })
  // It has not been sent when the connection breaks.
  const kept = a.front.keep('/httproutes/shop/status')
  const gateway = await cluster.gateway()
  await cluster.edit({ parentRefs: [{ name: GATEWAY, sectionName: 'absent' }] })
  const sendOn = await kept
  a.front.cut(true)
  const writes = a.front.writes.length
  await eventually('the end of its term', () => said(a, ENDED) > 0)
  await expect.poll(cluster.holder).toBe('b')
  await cluster.edit({ parentRefs: [{ name: GATEWAY, sectionName: 'http' }] })
  const accepted = async () => conditionOf((await cluster.route()).status?.parents?.[0], 'Accepted')
  await expect.poll(accepted).toMatchObject({ status: 'True' })
  // The late write names an older version.
  expect(await sendOn()).toBe(409)
  expect((await a.readyz()).status).toBe(200)
  a.front.cut(false)
  await expect
    .poll(async () => (await b.status()).proxies)
    .toMatchObject([{ proxy: 'default/pod-b' }, { proxy: 'default/pod-a' }])
  expect(a.front.writes.slice(writes)).toEqual([])
  expect(await accepted()).toMatchObject({ status: 'True' })
  expect((await cluster.gateway()).status.conditions).toEqual(gateway.status.conditions)
})

test('a late write that the API takes is undone', async () => {
  const { cluster, a } = await startBoth(LONG)
  await expect.poll(() => programmed(cluster)).toMatchObject({ status: 'True' })
  await a.controller.close()
  await expect.poll(cluster.holder).toBe('b')
  const route = await cluster.route()
  const parents = route.status.parents.map((parent: Conditions) => ({
    ...parent,
    conditions: parent.conditions.map((condition) => ({ ...condition, status: 'False' })),
  }))
  await cluster.write((api) => api.replace(`${ROUTES}/shop/status`, { ...route, status: { parents } }))
  const accepted = async () => conditionOf((await cluster.route()).status.parents[0], 'Accepted')
  await expect.poll(accepted).toMatchObject({ status: 'True' })
})

test('an outage of the API leaves all replicas ready, and changes no status', async () => {
  const { cluster, a, b, proxies } = await startBoth(SHORT)
  await expect.poll(() => programmed(cluster)).toMatchObject({ status: 'True' })
  const before = await stored(cluster)
  for (const { front } of [a, b]) front.cut(true)
  await eventually('the end of the term', () => said(a, ENDED) > 0)
  for (const replica of [a, b]) expect((await replica.readyz()).status).toBe(200)
  expect(await a.metrics()).toContain('gatewright_leader 0')
  expect(await a.metrics()).toMatch(/gatewright_config_findings\{severity="\w+",code="[\w-]+"\} [1-9]/)
  for (const { front } of [a, b]) front.cut(false)
  const leads = async () => (await a.metrics()).includes('leader 1') || (await b.metrics()).includes('leader 1')
  await eventually('a leader', leads)
  await cluster.edit({ hostnames: ['later.example'] })
  const generation = async () => conditionOf((await cluster.route()).status.parents[0], 'Accepted')
  await expect.poll(generation).toMatchObject({ status: 'True', observedGeneration: 2 })
  expect(await cluster.gateway()).toEqual(before[0])
  expect(proxies.map(({ whyNotReady }) => whyNotReady)).toEqual([undefined, undefined])
})
