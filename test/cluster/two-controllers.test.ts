import { expect, onTestFinished, test } from 'vitest'
import type { ApiClient } from '#cluster/api-client.ts'
import { ClusterStore } from '#cluster/cluster-store.ts'
import { BEHIND_SERVICES } from '#cluster/statuses/behind-services.ts'
import { ClassFinalizers } from '#cluster/statuses/class-finalizers.ts'
import { ClusterStatuses } from '#cluster/statuses/cluster-statuses.ts'
import { ControlPlane } from '#instance/control-plane.ts'
import { connectToTestServer } from './connect-to-test-server.ts'

const API = 'gateway.networking.k8s.io/v1'
const GROUP = `/apis/${API}`
const DEFAULT = 'namespaces/default'
const POLICIES = `/apis/gatewright.dev/v1alpha1/${DEFAULT}/proxypolicies`

/** A controller without servers and deployments. @returns what it could not do */
async function startController(client: ApiClient, name: string) {
  const failures: string[] = []
  const failed = (message: string) => void failures.push(message)
  const controller = `${name}.example/controller`
  const statuses = new ClusterStatuses({ client, controller, failed })
  const finalizers = new ClassFinalizers({ client, controller, failed })
  const store = new ClusterStore({ client, statuses })
  const control = new ControlPlane({
    names: { controller, gatewayClass: name },
    store,
    plans: { take: () => new Map() },
    addresses: BEHIND_SERVICES,
    takes: () => {},
    taken: () => finalizers.update(store.list()),
    translated: () => {},
    onFault: ({ error }) => failures.push(String(error)),
  })
  onTestFinished(() => {
    control.close()
    statuses[Symbol.dispose]()
    finalizers[Symbol.dispose]()
  })
  await store.synced
  control.start()
  return failures
}

async function startTwo() {
  const { server, client } = await connectToTestServer()
  const create = async (path: string, object: { readonly kind: string; readonly apiVersion?: string }) => {
    const { status, body } = await server.call(path, { method: 'POST', body: { apiVersion: API, ...object } })
    expect(status, JSON.stringify(body)).toBe(201)
  }
  for (const name of ['a', 'b']) {
    const spec = { controllerName: `${name}.example/controller` }
    await create(`${GROUP}/gatewayclasses`, { kind: 'GatewayClass', ...named(name, spec) })
    const listeners = [{ name: 'http', port: 80, protocol: 'HTTP' }]
    await create(`${GROUP}/${DEFAULT}/gateways`, {
      kind: 'Gateway',
      ...named(name, { gatewayClassName: name, listeners }),
    })
  }
  const failures = [await startController(client, 'a'), await startController(client, 'b')]
  const replace = client.replace.bind(client)
  const writes: string[] = []
  client.replace = (path, object) => {
    writes.push(path)
    return replace(path, object)
  }
  const statusOf = async (path: string) => (await server.call(path)).body.status
  return { server, create, failures, writes, statusOf }
}

function named(name: string, spec: object) {
  return { metadata: { name }, spec }
}

const targeting = (kind: string, ...names: readonly string[]) =>
  names.map((name) => ({ group: 'gateway.networking.k8s.io', kind, name }))

function policy(name: string, targetRefs: readonly object[]) {
  const spec = { targetRefs, traffic: { timeouts: { request: '5s' } } }
  return { apiVersion: 'gatewright.dev/v1alpha1', kind: 'ProxyPolicy', ...named(name, spec) }
}

/** Who says what about which object. */
const entries = (list: readonly Entry[] | undefined) =>
  (list ?? [])
    .map(({ controllerName, parentRef, ancestorRef }) => `${controllerName} ${(parentRef ?? ancestorRef)!.name}`)
    .sort()

interface Entry {
  readonly controllerName: string
  readonly parentRef?: { readonly name: string }
  readonly ancestorRef?: { readonly name: string }
}

const OF_BOTH = ['a.example/controller a', 'b.example/controller b']

test('two controllers write their own Gateways, classes, parents and ancestors, and come to rest', async () => {
  const { server, create, failures, writes, statusOf } = await startTwo()
  const routes = `${GROUP}/${DEFAULT}/httproutes`
  const parentRefs = ['a', 'b', 'gone'].map((name) => ({ name }))
  await create(routes, { kind: 'HTTPRoute', ...named('shared', { parentRefs, rules: [{ name: 'all' }] }) })
  await create(routes, { kind: 'HTTPRoute', ...named('of-b', { parentRefs: [{ name: 'b' }] }) })
  await create(POLICIES, policy('shared', targeting('HTTPRoute', 'shared')))
  await create(POLICIES, policy('of-both', targeting('Gateway', 'a', 'b')))
  await create(POLICIES, policy('of-b', targeting('HTTPRoute', 'of-b')))
  await create(POLICIES, policy('nowhere', targeting('HTTPRoute', 'gone')))

  await expect.poll(async () => entries((await statusOf(`${routes}/shared`))?.parents)).toEqual(OF_BOTH)
  await expect.poll(async () => entries((await statusOf(`${routes}/of-b`))?.parents)).toEqual(OF_BOTH.slice(1))
  const ancestorsOf = async (name: string) => entries((await statusOf(`${POLICIES}/${name}`))?.ancestors)
  const typesOf = async (name: string) =>
    ((await statusOf(`${POLICIES}/${name}`))?.conditions ?? []).map(({ type }: { type: string }) => type)
  for (const name of ['shared', 'of-both']) {
    await expect.poll(() => ancestorsOf(name)).toEqual(OF_BOTH)
    await expect.poll(() => typesOf(name)).toEqual([])
  }
  await expect.poll(() => ancestorsOf('of-b')).toEqual(OF_BOTH.slice(1))
  await expect.poll(() => typesOf('of-b')).toEqual(['Accepted', 'Attached'])
  // One of the two says that there is no target, the other leaves it at that.
  await expect.poll(() => ancestorsOf('nowhere')).toEqual([expect.stringMatching(/^[ab]\.example\/controller Status/)])
  for (const name of ['a', 'b']) {
    const object = async () => (await server.call(`${GROUP}/gatewayclasses/${name}`)).body
    const finalizers = ['gateway-exists-finalizer.gateway.networking.k8s.io']
    const conditions = [{ type: 'Accepted', status: 'True' }]
    await expect.poll(object).toMatchObject({ metadata: { finalizers }, status: { conditions } })
    const listeners = [{ name: 'http', attachedRoutes: name === 'a' ? 1 : 2 }]
    await expect.poll(() => statusOf(`${GROUP}/${DEFAULT}/gateways/${name}`)).toMatchObject({ listeners })
  }
  expect((await server.call(`${GROUP}/${DEFAULT}/gateways/a`, { method: 'DELETE' })).status).toBe(200)
  await expect.poll(async () => entries((await statusOf(`${routes}/shared`))?.parents)).toEqual(OF_BOTH.slice(1))
  await expect.poll(() => ancestorsOf('shared')).toEqual(OF_BOTH.slice(1))
  await expect.poll(() => typesOf('shared')).toEqual(['Accepted', 'Attached'])
  // Each write of one wakes the other: if they disagreed, they would never end. Writes that lose and are repeated count, too.
  expect(writes.length).toBeLessThan(300)
  expect(failures).toEqual([[], []])
})
