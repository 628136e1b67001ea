import { expect, onTestFinished, test } from 'vitest'
import { ClusterStatuses } from '#cluster/statuses/cluster-statuses.ts'
import type { Resource } from '#store/resources/resource.ts'
import { connectToTestServer } from './connect-to-test-server.ts'

const ROUTES = '/apis/gateway.networking.k8s.io/v1/namespaces/default/httproutes'
const CONTROLLER = 'example.com/ours'
const KEY = 'HTTPRoute/default/shop'
const TIME = '2026-11-29T07:00:00.000Z'

function entry(controllerName: string, status = 'True', name = 'main') {
  const parentRef = { group: 'gateway.networking.k8s.io', kind: 'Gateway', name }
  const accepted = { type: 'Accepted', status, reason: 'Accepted', message: '', lastTransitionTime: TIME }
  return { parentRef, controllerName, conditions: [accepted] }
}

const OURS = entry(CONTROLLER)
const THEIRS = entry('example.com/other')

/** An API server with a route, and a writer of statuses. */
async function started() {
  const { server, client } = await connectToTestServer()
  const failures: string[] = []
  const written: unknown[] = []
  const known = new Map<string, Resource>()
  const statuses = new ClusterStatuses({
    client,
    controller: CONTROLLER,
    failed: (message) => failures.push(message),
    seen: (key) => known.get(key),
    written: (_, before, after) => written.push([before, after]),
  })
  onTestFinished(() => statuses[Symbol.dispose]())
  const spec = { parentRefs: [{ name: 'main' }] }
  const body = { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'HTTPRoute', metadata: { name: 'shop' }, spec }
  expect((await server.call(ROUTES, { method: 'POST', body })).status).toBe(201)
  const route = async () => (await server.call(`${ROUTES}/shop`)).body
  /** What another controller does. */
  const writeTheirs = async (parents: readonly object[]) => {
    const { status } = await server.call(`${ROUTES}/shop/status`, {
      method: 'PUT',
      body: { ...(await route()), status: { parents } },
    })
    expect(status).toBe(200)
  }
  const parents = async () => (await route()).status?.parents
  return { server, client, statuses, failures, written, known, route, parents, writeTheirs }
}

test('our entries are written beside those of others, and withdrawn', async () => {
  const { statuses, parents, writeTheirs, written, failures, route } = await started()
  await writeTheirs([THEIRS])
  statuses.write({ written: [[KEY, { parents: [OURS] }]], withdrawn: [] })
  await expect.poll(parents).toEqual([THEIRS, OURS])
  expect(written).toEqual([[{ parents: [] }, { parents: [OURS] }]])
  const { resourceVersion } = (await route()).metadata
  // The same again is no write.
  statuses.write({ written: [[KEY, { parents: [OURS] }]], withdrawn: [] })
  statuses.write({ written: [['HTTPRoute/default/gone', { parents: [OURS] }]], withdrawn: ['HTTPRoute/default/away'] })
  statuses.write({ written: [], withdrawn: ['HTTPRoute/default/never'] })
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect((await route()).metadata.resourceVersion).toBe(resourceVersion)
  statuses.write({ written: [], withdrawn: [KEY] })
  await expect.poll(parents).toEqual([THEIRS])
  expect(failures).toEqual([])
})

test('a write that loses against another controller is repeated with its entries', async () => {
  const { statuses, client, parents, writeTheirs, failures } = await started()
  const replace = client.replace.bind(client)
  let conflicts = 0
  client.replace = async (path, object) => {
    // Others write between our read and our write.
    if (conflicts++ < 2) await writeTheirs([entry('example.com/other', 'False', `g${conflicts}`)])
    return replace(path, object)
  }
  statuses.write({ written: [[KEY, { parents: [OURS] }]], withdrawn: [] })
  await expect.poll(parents).toEqual([entry('example.com/other', 'False', 'g2'), OURS])
  expect([conflicts, failures]).toEqual([3, []])
})

test('an object that is known is written without reading it; one that has changed since is read', async () => {
  const { statuses, client, known, route, parents, writeTheirs, failures } = await started()
  let reads = 0
  const get = client.get.bind(client)
  client.get = (path) => {
    reads++
    return get(path)
  }
  known.set(KEY, await route())
  statuses.write({ written: [[KEY, { parents: [OURS] }]], withdrawn: [] })
  await expect.poll(parents).toEqual([OURS])
  expect(reads).toBe(0)
  await writeTheirs([OURS, THEIRS])
  statuses.write({ written: [[KEY, { parents: [entry(CONTROLLER, 'False')] }]], withdrawn: [] })
  await expect.poll(parents).toEqual([entry(CONTROLLER, 'False'), THEIRS])
  expect([reads, failures]).toEqual([1, []])
})

test('the newest of many statuses is written', async () => {
  const { statuses, client, parents } = await started()
  let writes = 0
  const replace = client.replace.bind(client)
  client.replace = (path, object) => {
    writes++
    return replace(path, object)
  }
  for (let n = 0; n < 50; n++)
    statuses.write({ written: [[KEY, { parents: [entry(CONTROLLER, 'True', `g${n}`)] }]], withdrawn: [] })
  await expect.poll(parents).toEqual([entry(CONTROLLER, 'True', 'g49')])
  expect(writes).toBe(2)
})

test('a status that the API refuses is reported with address, object and error, and does not hold up others', async () => {
  const { statuses, client, failures, server, parents } = await started()
  const replace = client.replace.bind(client)
  client.replace = (path, object) => replace(path, path.includes('/bad/') ? { ...object, kind: 'Gateway' } : object)
  const body = { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'HTTPRoute', metadata: { name: 'bad' }, spec: {} }
  await server.call(ROUTES, { method: 'POST', body })
  statuses.write({ written: ['HTTPRoute/default/bad', KEY].map((key) => [key, { parents: [OURS] }]), withdrawn: [] })
  await expect.poll(parents).toEqual([OURS])
  await expect.poll(() => failures.length).toBe(1)
  expect(failures[0]).toMatch(
    /^PUT https:.*\/httproutes\/bad\/status responded with status 40\d: .*; next attempt in 0\.\d s$/,
  )
})
