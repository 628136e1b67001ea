import { expect, test } from 'vitest'
import type { Binding } from '#plan/binding.ts'
import { eventually } from '#test/support/eventually.ts'
import {
  type Cluster,
  GATEWAY,
  type Replica,
  ROUTES,
  startCluster,
  startProxy,
  startReplica,
} from './start-replicas.ts'

/** The lease is given back sooner than it expires; and it expires. */
const LONG = { durationMs: 15_000, giveUpMs: 10_000, retryMs: 100, settleMs: 1500 }
const SHORT = { ...LONG, durationMs: 6000, giveUpMs: 5000 }

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
    (await startProxy(cluster, a, 'pod-a', bindings[0])).client,
    (await startProxy(cluster, b, 'pod-b', bindings[1])).client,
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
