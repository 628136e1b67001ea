import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import type { Finding } from '#base/finding.ts'
import type { EndpointsItem, PlanItem, RouteItem } from '#plan/item.ts'
import { eventually } from '#test/support/eventually.ts'
import { PlanServer } from './plan-server.ts'
import { everybody, frame, routeTo, secretItem, startClient, startServer } from './testing.ts'

// A server and a client over real sockets.

const KEYS = [
  'Endpoints/default/a/80',
  'Gateway/default/main',
  'HTTPRoute/default/a/0',
  'Listener/default/main/http',
  'Service/default/a/80',
]
const PLAN = [...frame(), ...routeTo('a')]

test('the first plan is one change, and the proxy is ready when it is in force', async () => {
  const server = await startServer([...PLAN, ...routeTo('elsewhere').slice(1)])
  const { client, target } = startClient(server.url)
  expect(client.whyNotReady).toBe(`the plan of the controller at ${server.url}, without a token, has not arrived yet`)
  await eventually('ready', () => client.whyNotReady === undefined)
  expect(target.keys).toEqual(KEYS)
  expect(target.deltas).toMatchObject([{ version: 1, removed: [] }])
  const proxy = await eventually('reported', () => (server.proxy()?.report?.inForce ? server.proxy() : undefined))
  expect(proxy).toMatchObject({ gateway: 'Gateway/default/main', identity: 'pod-1', isCurrent: true, refusals: [] })
  expect(proxy.inForce).toBe(1)
})

test('an empty plan is whole, too', async () => {
  const server = await startServer([])
  const { client, target } = startClient(server.url)
  await eventually('ready', () => client.whyNotReady === undefined)
  expect(target.deltas).toEqual([{ version: 1, set: [], removed: [] }])
})

test('proxies get nothing before the plan of the controller is whole', async () => {
  const server = new PlanServer({ host: '127.0.0.1', port: 0, authorise: everybody, reportBug: () => {} })
  const { client, target } = startClient(`http://127.0.0.1:${await server.listen()}`)
  server.take({ version: 1, set: PLAN.slice(0, 2), removed: [] })
  await sleep(100)
  expect(target.deltas).toEqual([])
  server.take({ version: 2, set: PLAN.slice(2), removed: [] })
  server.open()
  await eventually('ready', () => client.whyNotReady === undefined)
  expect(target.keys).toEqual(KEYS)
  client.close()
  await server.close()
})

/** A server and a client that has its plan. */
async function deliver(items = PLAN) {
  const server = await startServer(items)
  const rig = startClient(server.url)
  await eventually('ready', () => rig.client.whyNotReady === undefined)
  await eventually('acknowledged', () => server.proxy()?.isCurrent)
  rig.target.deltas.length = 0
  return { server, ...rig }
}

test('one edit is one change; edits of what the Gateway does not use are none', async () => {
  const { server, target } = await deliver()
  const [route] = routeTo('a')
  server.edit([...routeTo('b').slice(1), secretItem('other', { key: 'secret' })])
  server.edit([{ ...route, created: 'later' }])
  await eventually('changed', () => target.deltas.length > 0)
  await eventually('acknowledged', () => server.proxy()?.isCurrent)
  expect(target.deltas).toEqual([{ version: 2, set: [{ ...route, created: 'later' }], removed: [] }])
})

test('the version in force at a proxy is the newest one that holds there what its Gateway uses', async () => {
  const { server, client, target } = await deliver()
  await eventually('in force', () => server.proxy()?.inForce === 1)
  server.edit(routeTo('b').slice(1))
  expect(server.proxy()!.inForce, 'of other Gateways').toBe(2)

  const inForce = vi.spyOn(client, 'inForce').mockImplementation(() => {})
  server.edit([{ ...routeTo('a')[0], created: 'later' }])
  expect(server.proxy()!.inForce, 'on its way').toBe(1)
  await eventually('acknowledged', () => server.proxy()?.isCurrent)
  expect(server.proxy()!.inForce, 'acknowledged, but not in force').toBe(1)
  inForce.mockRestore()
  client.inForce(target.deltas.at(-1)!.version)
  await eventually('in force', () => server.proxy()?.inForce === 3)

  server.server.revoke(() => true, '')
  await eventually('left', () => server.proxy() === undefined)
  await eventually('again', () => server.proxy()?.inForce === 3)
})

test('endpoints come before the items that use them, and go after the last one that used them', async () => {
  const { server, target } = await deliver()
  const [route] = routeTo('a')
  const [, backend, endpoints] = routeTo('b')
  const moved: RouteItem = { ...route, backends: [{ ...route.backends[0]!, backend: backend.key }] }
  server.edit([moved, backend, endpoints])
  await eventually('changed', () => target.deltas.length === 3)
  expect(target.deltas).toEqual([
    { version: 2, set: [endpoints], removed: [] },
    { version: 3, set: [moved, backend], removed: ['Service/default/a/80'] },
    { version: 4, set: [], removed: ['Endpoints/default/a/80'] },
  ])
})

test('a new set of endpoints is one change', async () => {
  const { server, target } = await deliver()
  const endpoints: EndpointsItem = { ...routeTo('a')[2], addresses: [] }
  server.edit([endpoints])
  await eventually('changed', () => target.deltas.length > 0)
  expect(target.deltas).toEqual([{ version: 2, set: [endpoints], removed: [] }])
})

test('removed items are removed', async () => {
  const { server, target } = await deliver()
  server.edit([], ['HTTPRoute/default/a/0', 'Service/default/a/80', 'Endpoints/default/a/80'])
  await eventually('changed', () => target.keys.length === 2)
  expect(target.keys).toEqual(['Gateway/default/main', 'Listener/default/main/http'])
})

test('a proxy that connects again gets the difference only', async () => {
  const { server, client, target } = await deliver()
  server.server.revoke(() => true, 'the token has ended')
  await eventually('left', () => server.proxy() === undefined)
  server.edit(routeTo('b'), ['HTTPRoute/default/a/0'])
  await eventually('changed', () => target.keys.includes('HTTPRoute/default/b/0'))
  await eventually('acknowledged', () => server.proxy()?.isCurrent)
  expect(client.whyNotReady).toBeUndefined()
  const sent = target.deltas.flatMap(({ set }) => set.map(({ key }) => key))
  expect(sent.sort()).toEqual(['Endpoints/default/b/80', 'HTTPRoute/default/b/0', 'Service/default/b/80'])
  expect(target.deltas.flatMap(({ removed }) => removed).sort()).toEqual(
    KEYS.filter((key) => key.includes('/a/')).sort(),
  )
  expect(server.left).toContain('the token has ended')
})

const finding = (name: string, severity: Finding['severity']): Finding => ({
  origin: { kind: 'HTTPRoute', namespace: 'default', name },
  path: 'spec.rules[0]',
  code: 'no-effect',
  message: 'is bad',
  severity,
})

test('what the data plane refuses is told by object, and everything else applies', async () => {
  const { server, target } = await deliver()
  target.problems = new Map([
    ['HTTPRoute/default/b', [finding('b', 'error')]],
    ['HTTPRoute/default/c', [finding('c', 'warning')]],
  ])
  server.edit([...routeTo('b'), ...routeTo('c')])
  await eventually('refused', () => server.proxy()?.refusals.length === 1)
  expect(server.proxy()!.refusals).toEqual([{ key: 'HTTPRoute/default/b', message: 'spec.rules[0]: is bad' }])
  expect(target.keys).toContain('HTTPRoute/default/c/0')
  await eventually('reported', () => server.proxy()?.report?.problems.length === 2)
  expect(server.proxy()!.report!.problems).toContainEqual(finding('c', 'warning'))

  target.problems = new Map([['HTTPRoute/default/b', []]])
  server.edit([{ ...routeTo('b')[0], created: 'later' }])
  await eventually('mended', () => server.proxy()?.refusals.length === 0)
  await eventually('reported', () => server.proxy()?.report?.problems.length === 1)
})

test('a refused item is not sent again, and is reported to the next server', async () => {
  const { server, target } = await deliver()
  target.problems = new Map([['HTTPRoute/default/b', [finding('b', 'error')]]])
  server.edit([...routeTo('b')])
  await eventually('refused', () => server.proxy()?.refusals.length === 1)
  target.deltas.length = 0
  server.server.revoke(() => true, '')
  await eventually('left', () => server.proxy() === undefined)
  await eventually('back', () => server.proxy()?.report?.problems.length === 1)
  expect(target.deltas).toEqual([])
})

test('a bug of the data plane is a refusal without its text', async () => {
  const bugs: unknown[] = []
  const server = await startServer(PLAN)
  const target = {
    take: () => {
      throw new Error('secret-text')
    },
  }
  startClient(server.url, { target, reportBug: (error) => bugs.push(error) })
  await eventually('refused', () => server.proxy()?.refusals.length === 1)
  expect(server.proxy()!.refusals).toEqual([
    { key: '', message: 'a bug of the proxy stopped this change; its log has it' },
  ])
  expect(bugs).toHaveLength(1)
})

test('a proxy uses what it knows of the plan of a newer controller, and says what not, until an older one is back', async () => {
  const { server, client, target } = await deliver()
  const [route, backend, endpoints] = routeTo('b')
  const newer = [{ ...backend, shield: {} }, { ...route, cookies: [] }, endpoints] as unknown as PlanItem[]
  server.edit(newer)
  const unknown = (at: string) => `${at} is of another version than the proxy`
  const { report } = await eventually('reported', () =>
    server.proxy()?.report?.unreadable.length === 2 ? server.proxy() : undefined,
  )
  expect(report).toMatchObject({ version: '1.2.3' })
  expect(report!.unreadable.toSorted((a, b) => (a.key < b.key ? -1 : 1))).toEqual([
    { key: 'HTTPRoute/default/b/0', message: `${unknown('cookies')}, so what it may protect is refused` },
    { key: 'Service/default/b/80', message: `${unknown('shield')}, so what it may protect is refused` },
  ])
  expect([client.whyNotReady, target.keys]).toEqual([
    undefined,
    [...KEYS, ...routeTo('b').map(({ key }) => key)].sort(),
  ])
  expect(target.items.get(route.key)).toMatchObject({ backends: [], broken: expect.stringContaining('cookies') })

  server.edit([route, backend])
  await eventually('all is known', () => server.proxy()?.report?.unreadable.length === 0)
  expect(target.items.get(route.key)).toEqual(route)
  await eventually('in force', () => server.proxy()?.inForce === 3)
})

test('bindings and facts are reported; facts about an older plan are not', async () => {
  const { server, client, target } = await deliver()
  client.bound(1, new Map([['0.0.0.0:80', { state: 'failed', reason: 'PortUnavailable', message: 'in use' }]]))
  const fact = { backend: 'Service/default/a/80', code: 'backend-not-http2', at: '10.0.0.1:8080' } as const
  client.observed(1, fact)
  client.observed(1, fact)
  client.observed(7, { ...fact, at: 'x' })
  const { report } = await eventually('reported', () =>
    server.proxy()?.report?.facts.length === 1 ? server.proxy() : undefined,
  )
  expect(report!.bindings).toEqual(
    new Map([['0.0.0.0:80', { state: 'failed', reason: 'PortUnavailable', message: 'in use' }]]),
  )
  expect(report!.facts).toEqual([fact])
  server.edit([{ ...routeTo('a')[0], created: 'later' }])
  await eventually('changed', () => target.deltas.length > 0)
  await eventually('forgotten', () => server.proxy()?.report?.facts.length === 0)
})

test('a plan of 5,000 routes arrives as one change, and an edit of it as two small ones', async () => {
  const routes = Array.from({ length: 5000 }, (_, i) => routeTo(`r${i}`))
  const { server, target } = await deliver([...frame(), ...routes.flat()])
  expect(target.items.size).toBe(15_002)
  server.edit(routeTo('new'))
  await eventually('changed', () => target.items.has('HTTPRoute/default/new/0'))
  expect(target.deltas.map(({ set }) => set.length)).toEqual([1, 2])
})

test('a large item goes alone, and a large plan in parts', async () => {
  const secrets = Array.from({ length: 8 }, (_, i) => secretItem(`s${i}`, { key: `${i}`.repeat(700_000) }))
  const { target } = await deliver([...frame(...secrets.map(({ key }) => key)), ...secrets])
  expect(target.items.get('Secret/default/s7')).toEqual(secrets[7])
})

test('a proxy with too many resources for one request gets all of them on its next stream', async () => {
  const [gateway, listener] = frame()
  const many = Array.from({ length: 8000 }, (_, i) => ({ ...listener!, key: `Listener/${i}/${'x'.repeat(2030)}` }))
  const { server, target } = await deliver([gateway!, ...many])
  server.server.revoke(() => true, 'the token has ended')
  await eventually('left', () => server.proxy() === undefined)
  const [first, ...others] = many.map(({ key }) => key)
  server.edit([], others)
  await eventually('changed', () => target.items.size === 2)
  expect(target.keys).toEqual(['Gateway/default/main', first])
})
