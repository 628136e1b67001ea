import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import type { KeptPlan } from './kept-plan.ts'
import { ENDPOINTS_TYPE, ITEM_TYPE } from './plan-resource.ts'
import { type ClientRig, frame, routeTo, startClient, startServer } from './testing.ts'

// Starts of proxies that have a kept plan.

const PLAN = [...frame(), ...routeTo('a')]
const CONFIRMED_MS = Date.UTC(2026, 0, 2)

/** What the proxy of a rig would keep. */
function keptBy({ client, target }: ClientRig): KeptPlan {
  const held = client.held!
  const itemsOf = (type: typeof ITEM_TYPE | typeof ENDPOINTS_TYPE) =>
    [...held[type].versions].map(([key, version]) => ({ item: target.items.get(key)!, version }))
  return {
    confirmedMs: CONFIRMED_MS,
    held: { [ITEM_TYPE]: itemsOf(ITEM_TYPE), [ENDPOINTS_TYPE]: itemsOf(ENDPOINTS_TYPE) },
  }
}

/** The plan that a proxy keeps of a server. */
async function keep(url: string): Promise<KeptPlan> {
  const rig = startClient(url)
  await eventually('whole', () => rig.client.held)
  const kept = keptBy(rig)
  rig.client.close()
  return kept
}

test('a proxy whose controller is away serves the kept plan, and says so', async () => {
  const server = await startServer(PLAN)
  const kept = await keep(server.url)
  const { client, target, logged } = startClient(`http://127.0.0.1:${await freePort()}`, { readKept: () => kept })
  await eventually('ready', () => client.whyNotReady === undefined)
  expect(target.keys).toEqual(PLAN.map(({ key }) => key).sort())
  expect(client.confirmedMs).toBe(CONFIRMED_MS)
  expect(client.whyUnconfirmed).toContain('connection-refused')
  expect(logged).toContainEqual(expect.stringContaining('serving the plan that was kept before the restart'))
  expect(logged).toContainEqual(expect.stringContaining('"confirmed":"2026-01-02T00:00:00.000Z"'))
})

test('when the controller is back, it sends only the difference', async () => {
  const server = await startServer(PLAN)
  const kept = await keep(server.url)
  const port = await freePort()
  const { client, target } = startClient(`http://127.0.0.1:${port}`, { readKept: () => kept })
  await eventually('ready', () => client.whyNotReady === undefined)
  target.deltas.length = 0
  const again = await startServer([...frame(), ...routeTo('a').slice(1), ...routeTo('b')], { port })
  await eventually('confirmed', () => client.whyUnconfirmed === undefined)
  await eventually('changed', () => target.keys.includes('HTTPRoute/default/b/0'))
  await eventually('acknowledged', () => again.proxy()?.isCurrent)
  const sent = target.deltas.flatMap(({ set }) => set.map(({ key }) => key))
  expect(sent.sort()).toEqual(['Endpoints/default/b/80', 'HTTPRoute/default/b/0', 'Service/default/b/80'])
  expect(target.deltas.flatMap(({ removed }) => removed)).toContain('HTTPRoute/default/a/0')
  expect(client.confirmedMs).toBeGreaterThan(CONFIRMED_MS)
})

test('a proxy whose controller answers does not look for a kept plan', async () => {
  const server = await startServer(PLAN)
  let reads = 0
  const { client } = startClient(server.url, {
    readKept: () => {
      reads++
      return undefined
    },
  })
  await eventually('ready', () => client.whyNotReady === undefined)
  server.server.revoke(() => true, 'the token has ended')
  await eventually('left', () => server.left.length > 0)
  await eventually('again', () => client.whyUnconfirmed === undefined)
  expect(reads).toBe(0)
})

test('a controller that accepts and does not answer counts as away', async () => {
  const silent = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void silent.close())
  await once(silent, 'listening')
  const server = await startServer(PLAN)
  const kept = await keep(server.url)
  const { port } = silent.address() as AddressInfo
  const { client, target } = startClient(`http://127.0.0.1:${port}`, { readKept: () => kept })
  await eventually('ready', () => client.whyNotReady === undefined)
  expect(target.keys).toEqual(PLAN.map(({ key }) => key).sort())
})

test('a kept plan with an item that this version cannot read is not used, not even in part', async () => {
  const server = await startServer(PLAN)
  const kept = await keep(server.url)
  const foreign = kept.held[ITEM_TYPE].map((each) =>
    each.item.kind === 'route' ? { ...each, item: { ...each.item, kind: 'of-a-newer-version' } } : each,
  ) as unknown as KeptPlan['held'][typeof ITEM_TYPE]
  const { client, target, logged } = startClient(`http://127.0.0.1:${await freePort()}`, {
    readKept: () => ({ ...kept, held: { ...kept.held, [ITEM_TYPE]: foreign } }),
  })
  await eventually('told', () => logged.some((line) => line.includes('the kept plan cannot be used')))
  expect(target.deltas).toEqual([])
  expect(client.whyNotReady).toContain('gives no plan')
})
