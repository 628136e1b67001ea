import { expect, onTestFinished, test } from 'vitest'
import { startTestServer, TOKEN } from '#apiserver/testing.ts'
import { ApiClient } from '#cluster/api-client.ts'
import { ClusterStore } from '#cluster/cluster-store.ts'
import { BEHIND_SERVICES } from '#cluster/statuses/behind-services.ts'
import { ControlPlane } from '#instance/control-plane.ts'
import type { PlanItem } from '#plan/item.ts'
import type { StatusWrites } from '#store/store.ts'
import { eventually } from '#test/support/eventually.ts'

const GATEWAY_API = '/apis/gateway.networking.k8s.io/v1'
const ROUTES = `${GATEWAY_API}/namespaces/default/httproutes`
const POLICIES = '/apis/gatewright.dev/v1alpha1/namespaces/default/proxypolicies'
const SECRETS = '/api/v1/namespaces/default/secrets'

const object = (apiVersion: string, kind: string, name: string, rest: object) => ({
  apiVersion,
  kind,
  metadata: { name },
  ...rest,
})
const CLASS = object('gateway.networking.k8s.io/v1', 'GatewayClass', 'gatewright', {
  spec: { controllerName: 'gatewright.dev/controller' },
})
const GATEWAY = object('gateway.networking.k8s.io/v1', 'Gateway', 'main', {
  spec: { gatewayClassName: 'gatewright', listeners: [{ name: 'http', port: 8080, protocol: 'HTTP' }] },
})
const ROUTE = object('gateway.networking.k8s.io/v1', 'HTTPRoute', 'shop', {
  spec: { parentRefs: [{ name: 'main' }], rules: [{ backendRefs: [{ name: 'shop', port: 80 }] }] },
})
const POLICY = object('gatewright.dev/v1alpha1', 'ProxyPolicy', 'keys', {
  spec: {
    targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'main' }],
    traffic: { apiKeyAuthentication: { secretRef: { name: 'keys' } } },
  },
})
const SECRET = object('v1', 'Secret', 'keys', { stringData: { alice: 'k-alice' } })

type Server = Awaited<ReturnType<typeof startTestServer>>

/** A control plane that has its objects from an API server. */
function start(server: Server) {
  const client = new ApiClient({
    server: new URL(server.url),
    tls: { ca: server.ca },
    headers: { authorization: `Bearer ${TOKEN}` },
  })
  const writes: StatusWrites[] = []
  const store = new ClusterStore({ client, statuses: { write: (each) => writes.push(each) } })
  const items = new Map<string, PlanItem>()
  const control = new ControlPlane({
    addresses: BEHIND_SERVICES,
    store,
    plans: {
      take: ({ set, removed }) => {
        for (const item of set) items.set(item.key, item)
        for (const key of removed) items.delete(key)
        return new Map()
      },
    },
    takes: () => {},
    taken: () => {},
    translated: () => {},
    onFault: ({ error }) => {
      throw error
    },
  })
  onTestFinished(async () => {
    control.close()
    client[Symbol.dispose]()
    await server.close()
  })
  return { store, control, items, writes }
}

test('a control plane translates the objects of an API server, and their changes', async () => {
  const server = await startTestServer()
  for (const [path, body] of [
    [`${GATEWAY_API}/gatewayclasses`, CLASS],
    [`${GATEWAY_API}/namespaces/default/gateways`, GATEWAY],
    [SECRETS, SECRET],
    [SECRETS, { ...SECRET, metadata: { name: 'other' } }],
    [POLICIES, POLICY],
  ] as const)
    expect((await server.call(path, { method: 'POST', body })).status).toBe(201)
  const { store, control, items, writes } = start(server)
  await store.synced
  control.start()
  const kinds = () => [...items.values()].map(({ kind }) => kind)
  expect(kinds()).toContain('listener')
  expect(store.list().filter(({ kind }) => kind === 'Secret')).toHaveLength(1)
  const resolved = writes.flatMap(({ written }) => written).find(([key]) => key === 'ProxyPolicy/default/keys')
  expect(JSON.stringify(resolved)).not.toContain('secret-not-found')

  expect((await server.call(ROUTES, { method: 'POST', body: ROUTE })).status).toBe(201)
  await eventually('the route in the plan', () => kinds().includes('route'))
  const written = await eventually('its status', () =>
    writes.flatMap((each) => each.written).find(([key]) => key === 'HTTPRoute/default/shop'),
  )
  const isStored = await server.call(`${ROUTES}/shop/status`, {
    method: 'PATCH',
    body: { status: written[1] },
    headers: { 'content-type': 'application/merge-patch+json' },
  })
  expect(isStored.status).toBe(200)
  const count = writes.length
  await eventually('the stored status', () => {
    const stored = store.resourceOf('HTTPRoute/default/shop')
    return stored?.metadata.resourceVersion === isStored.body.metadata.resourceVersion
  })
  expect(writes.slice(count).flatMap((each) => each.written.map(([key]) => key))).not.toContain(
    'HTTPRoute/default/shop',
  )

  expect((await server.call(`${ROUTES}/shop`, { method: 'DELETE' })).status).toBe(200)
  await eventually('no route in the plan', () => !kinds().includes('route'))
})
