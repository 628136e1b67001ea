import { fstatSync, openSync } from 'node:fs'
import { createServer } from 'node:net'
import { expect, test, vi } from 'vitest'
import type { Finding } from '#base/finding.ts'
import type { LiveEndpoint } from '#engine/backend/live-backend.ts'
import { backendItem, listenerItem, policyItem } from '#engine/testing.ts'
import type { EndpointId } from '#plan/endpoint-key.ts'
import type { PlanItem } from '#plan/item.ts'
import { BucketLevels } from '#state/bucket-levels.ts'
import { Circuit } from '#state/circuit.ts'
import type { Eviction } from '#state/endpoint-health.ts'
import { createSlotMemory } from '#state/slots.ts'
import { freePort } from '#test/support/free-port.ts'
import { PlanPublisher } from './plan-publisher.ts'

/** A policy `default/<name>` for a route of the same name, with a rate limit. */
const limitItem = (name: string, limit: object) =>
  policyItem(
    'traffic.rateLimit',
    `HTTPRoute/default/${name}`,
    { local: [{ unit: 'Seconds', ...limit }] },
    { policy: name },
  )

/** A publisher with 16 slots, and the plans that it takes and publishes one after the other. */
function publisher() {
  const levels = new BucketLevels()
  const evictions: [EndpointId, Eviction | undefined][] = []
  const memory = createSlotMemory(16, false)
  const it = new PlanPublisher(memory, levels, { evicted: (...eviction) => evictions.push(eviction) })
  let before: ReadonlyMap<string, PlanItem> = new Map()
  let version = 0
  return {
    it,
    memory,
    levels,
    evictions,
    async publish(...items: readonly PlanItem[]) {
      const after = new Map(items.map((item) => [item.key, item]))
      const set = items.filter((item) => before.get(item.key) !== item)
      const removed = [...before.keys()].filter((key) => !after.has(key))
      before = after
      it.take({ version: ++version, set, removed })
      return it.publish()
    },
  }
}

async function occupy(port: number): Promise<AsyncDisposable> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return { [Symbol.asyncDispose]: () => new Promise((resolve) => void server.close(() => resolve())) }
}

test('listeners of a plan: sockets that are free are opened', async () => {
  const { it, publish } = publisher()
  const port = await freePort()
  const published = await publish(listenerItem({ port }), listenerItem({ name: 'b', port, hostname: 'b.test' }))
  expect(published).toMatchObject({ delta: { version: 1 }, sockets: [`127.0.0.1:${port}`] })
  expect(it.refused.size).toBe(0)
  expect([...it.bindings()]).toEqual([[`127.0.0.1:${port}`, { state: 'bound' }]])
})

test('a port in use is reported, the others are opened, and later it is tried again', async () => {
  const { it, publish } = publisher()
  const [taken, free] = [await freePort(), await freePort()]
  const items = [listenerItem({ port: taken }), listenerItem({ name: 'b', port: free })]
  {
    await using _ = await occupy(taken)
    expect((await publish(...items)).sockets).toEqual([`127.0.0.1:${free}`])
    expect([...it.refused]).toEqual([[`127.0.0.1:${taken}`, `127.0.0.1:${taken} is in use by another process`]])
    expect(it.bindings().get(`127.0.0.1:${taken}`)).toEqual({
      state: 'failed',
      reason: 'PortUnavailable',
      message: `127.0.0.1:${taken} is in use by another process`,
    })
  }
  expect((await publish(...items)).sockets.toSorted()).toEqual([`127.0.0.1:${taken}`, `127.0.0.1:${free}`].toSorted())
  expect(it.refused.size).toBe(0)
})

test('a socket that is open is not tried again: the workers have it', async () => {
  const { it, publish } = publisher()
  const port = await freePort()
  await publish(listenerItem({ port }))
  await using _ = await occupy(port)
  expect((await publish(listenerItem({ port, hostname: 'a.test' }))).sockets).toEqual([`127.0.0.1:${port}`])
  expect(it.refused.size).toBe(0)
})

test('a socket without listeners is closed, and can be opened again', async () => {
  const { publish } = publisher()
  const port = await freePort()
  await publish(listenerItem({ port }))
  expect((await publish()).sockets).toEqual([])
  expect((await publish(listenerItem({ port }))).sockets).toEqual([`127.0.0.1:${port}`])
})

test('a socket that a worker could not open counts as refused until the next plan', async () => {
  const { it, publish } = publisher()
  const port = await freePort()
  const item = listenerItem({ port })
  await publish(item)
  it.lost(`127.0.0.1:${port}`, 'gone')
  expect(it.bindings().get(`127.0.0.1:${port}`)).toEqual({
    state: 'failed',
    reason: 'PortUnavailable',
    message: 'gone',
  })
  {
    await using _ = await occupy(port)
    expect((await publish(item)).sockets).toEqual([])
  }
  expect((await publish(item)).sockets).toEqual([`127.0.0.1:${port}`])
})

test('an address of another machine is reported', async () => {
  const { it, publish } = publisher()
  await publish(listenerItem({ address: '192.0.2.1', port: 1 }))
  expect(it.refused.get('192.0.2.1:1')).toBe('192.0.2.1 is not an address of this machine')
})

test('state keeps its slot while its policy is there, and gives it back after', async () => {
  const { publish, levels } = publisher()
  const closed = vi.spyOn(levels, 'closed')
  const slots = new Map<string, number>()
  const take = async (...items: readonly PlanItem[]) => {
    const { assigned, freed } = (await publish(...items)).slots
    for (const key of freed) slots.delete(key)
    for (const [key, slot] of assigned) slots.set(key, slot)
    return new Map(slots)
  }
  const b = limitItem('b', { requests: 2 })
  const first = await take(limitItem('a', { requests: 1 }), b)
  expect(first.size).toBe(2)
  const second = await take(b, limitItem('c', { requests: 3 }))
  expect(second.size).toBe(2)
  expect([...first].filter(([key, slot]) => second.get(key) === slot)).toHaveLength(1)
  expect((await take()).size).toBe(0)
  expect(closed.mock.calls.flat(), 'their levels are not saved any more').toEqual(
    [...first.keys(), ...second.keys()].filter((key, i, all) => all.indexOf(key) === i),
  )
  expect((await publish()).slots, 'nothing has changed since').toEqual({ assigned: [], freed: [] })
  const many = (prefix: string) => Array.from({ length: 16 }, (_, i) => limitItem(`${prefix}${i}`, { requests: 1 }))
  await take(...many('x'))
  await take()
  expect((await take(...many('y'))).size, 'all 16 slots are free again').toBe(16)
})

test('the memory of a limit by value is assigned with its slot', async () => {
  const { publish } = publisher()
  const { slots, everything } = await publish(limitItem('a', { requests: 1, key: 'source.address' }))
  const [[, , values]] = slots.assigned as [(typeof slots.assigned)[number]]
  expect(values?.byteLength).toBeGreaterThan(0)
  expect(everything().slots.assigned).toEqual(slots.assigned)
})

test('a new worker gets the whole plan, one with the previous version gets the changes', async () => {
  const { publish } = publisher()
  const a = policyItem('traffic.csrf', 'Gateway/default/main', {})
  const b = policyItem('traffic.cors', 'Gateway/default/main', {})
  await publish(a)
  const published = await publish(a, b)
  expect(published.delta).toEqual({ version: 2, set: [b], removed: [] })
  expect(published.everything().delta).toEqual({ version: 2, set: [a, b], removed: [] })
  expect((await publish(b)).delta).toEqual({ version: 3, set: [], removed: [a.key] })
})

test('a publisher without a plan has version 0; listeners are in the order of their keys', () => {
  const { it } = publisher()
  expect(it.version).toBe(0)
  it.take({ version: 7, set: [listenerItem({ name: 'b' }), listenerItem({ name: 'a' })], removed: [] })
  expect(it.version).toBe(7)
  expect(it.listeners.map(({ name }) => name)).toEqual(['a', 'b'])
})

test('endpoints are in the order of their keys, with the health that calls of the main thread record', async () => {
  const { it, evictions, publish } = publisher()
  const key = 'ProxyBackend/default/a'
  const b = backendItem('b')
  await publish(b)
  await publish(
    b,
    backendItem('a'),
    policyItem('backend.health', key, { eviction: { consecutiveFailures: 1, duration: '1h' } }),
    limitItem('a', { requests: 1 }),
  )
  const [[called]] = it.calledBackend(key)!.groups as [readonly [LiveEndpoint]]
  called.health.recordUnhealthy(500)
  expect(it.endpoints).toMatchObject([
    { backend: key, endpoint: '127.0.0.1:9000', consecutiveFailures: 1, evictedUntilMs: expect.any(Number) },
    { backend: 'ProxyBackend/default/b', endpoint: '127.0.0.1:9000', consecutiveFailures: 0 },
  ])
  expect(evictions).toMatchObject([[{ backend: key, endpoint: '127.0.0.1:9000' }, { sign: 500 }]])
  expect(it.calledBackend('ProxyBackend/default/c')).toBeUndefined()
})

const guardsItem = (name: string, value: string) => {
  const backendRef = { group: 'gatewright.dev', kind: 'ProxyBackend', name: 'judge' }
  const forwardHeaderMatches = [{ type: 'Exact', name: 'x-a', value }]
  const promptGuard = {
    request: [{ webhook: { backendRef } }],
    response: [{ webhook: { backendRef, forwardHeaderMatches } }],
  }
  return policyItem('backend.ai', `ProxyBackend/default/${name}`, { promptGuard }, { policy: name })
}

test('circuits of guards are closed at first, open for all who use the guard, and end with its settings', async () => {
  const { it, memory, publish } = publisher()
  const judge = backendItem('judge')
  const [a, b] = [guardsItem('a', '1'), guardsItem('b', '1')]
  const { slots } = await publish(a, b, judge)
  const shown = () => it.circuits.map(({ phase, guard, isOpen }) => [phase, guard.split(' ')[0], isOpen])
  expect(shown()).toEqual([
    ['request', 'ProxyPolicy/default/a', false],
    ['request', 'ProxyPolicy/default/b', false],
    ['response', 'ProxyPolicy/default/a', false],
    ['response', 'ProxyPolicy/default/b', false],
  ])
  expect(it.circuits[3]).toEqual({
    phase: 'response',
    kind: 'webhook',
    backend: judge.key,
    guard: `ProxyPolicy/default/b ${b.path}.promptGuard.response[0]`,
    isOpen: false,
  })
  // As a worker does.
  for (const [key, slot] of slots.assigned) {
    const circuit = new Circuit(memory, slot)
    if (key.startsWith('Circuit') && key.includes('default/b')) for (let i = 0; i < 5; i++) circuit.fail('down')
  }
  const open = () => it.circuits.filter(({ isOpen }) => isOpen).map(({ guard }) => guard)
  expect(open()).toHaveLength(2)
  // Another policy changes nothing.
  await publish(guardsItem('a', '2'), b, judge)
  expect(open()).toHaveLength(2)
  // The settings of one guard of the policy change: it starts again.
  const changed = guardsItem('b', '2')
  await publish(changed, judge)
  expect(shown()).toHaveLength(2)
  expect(open()).toEqual([`ProxyPolicy/default/b ${b.path}.promptGuard.request[0]`])
  await publish()
  expect(it.circuits).toEqual([])
  // What they were is forgotten.
  await publish(b, judge)
  expect(open()).toEqual([])
})

test('key sets of policies are fetched, their problems are found, and they are forgotten', async () => {
  const { it, publish } = publisher()
  const backend = backendItem('keys')
  const backendRef = { group: 'gatewright.dev', kind: 'ProxyBackend', name: 'keys' }
  const jwks = { remote: { jwksPath: '/keys', cacheDuration: '5m', backendRef } }
  const providers = [{ issuer: 'https://id.test', audiences: ['api'], jwks }]
  const policy = policyItem('traffic.jwtAuthentication', 'HTTPRoute/default/a', { mode: 'Strict', providers })
  const id = 'ProxyBackend/default/keys /keys'
  const codes = (found: ReadonlyMap<string, readonly Finding[]>) => [...found.values()].flat().map(({ code }) => code)

  expect(it.sources.keySets).toEqual({ wanted: [], dropped: [] })
  await publish(backend, policy)
  expect(it.sources.keySets).toMatchObject({ wanted: [{ backend: backend.key, path: '/keys' }], dropped: [] })
  const state = { id, value: undefined, fetchedMs: 0, failure: 'timeout', final: true, restMs: 0 }
  expect(codes(it.keptChanged({ of: 'key-set', state }))).toEqual(['key-set-not-fetched'])
  await publish(backend)
  expect(it.sources.keySets).toEqual({ wanted: [], dropped: [id] })
  it.forgetKept('key-set', id)
  expect(codes(it.take({ version: 9, set: [policy], removed: [] }))).toEqual([])
})

test('problems of policies are known as soon as the plan is accepted', () => {
  const { it } = publisher()
  const broken = policyItem('frontend.accessLog', 'Gateway/default/main', { filter: '1 +' })
  const found = it.take({ version: 1, set: [broken], removed: [] })
  expect([...found.values()].flat().map(({ code }) => code)).toEqual(['cel-syntax'])
  expect([...it.take({ version: 2, set: [], removed: [broken.key] })]).toEqual([['ProxyPolicy/default/policy', []]])
  expect([it.version, it.items.size]).toEqual([2, 0])
})

test('secrets are published and withdrawn with the items that contain them', async () => {
  const { publish } = publisher()
  const at = (spec: unknown) => policyItem('backend.auth', 'Service/default/s', spec, { path: 'spec.backend.auth' })
  const other = listenerItem({ port: await freePort() })
  const { key } = at({})
  const item = at({ key: 'inline-key' })
  expect((await publish(item)).secrets).toEqual([[key, ['inline-key']]])
  const next = await publish(item, other)
  expect(next.secrets).toEqual([])
  expect(next.everything().secrets).toEqual([[key, ['inline-key']]])
  const withdrawn = await publish(at({ secretRef: { name: 'a' } }), other)
  expect(withdrawn.secrets).toEqual([[key, []]])
  expect(withdrawn.everything().secrets).toEqual([])
  await publish(at({ key: 'another-key' }))
  expect((await publish()).secrets).toEqual([[key, []]])
})

test('inherited sockets are given once, without a look whether they are free; those that no plan wants are closed', async () => {
  const port = await freePort()
  const socket = `127.0.0.1:${port}`
  await using _ = await occupy(port)
  const unwanted = openSync('/dev/null', 'r')
  const inherited = [
    { socket, descriptor: 100 },
    { socket, descriptor: 101 },
    { socket: '127.0.0.1:1', descriptor: unwanted },
  ]
  const it = new PlanPublisher(createSlotMemory(16, false), new BucketLevels(), { inherited })
  it.take({ version: 1, set: [listenerItem({ port })], removed: [] })
  expect(await it.publish()).toMatchObject({ sockets: [socket], inherited: inherited.slice(0, 2) })
  expect(await it.publish()).toMatchObject({ sockets: [socket], inherited: [] })
  it.closeInherited()
  expect(() => fstatSync(unwanted)).toThrow('EBADF')
})
