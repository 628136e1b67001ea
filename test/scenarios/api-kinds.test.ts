import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiCall, apiClient } from '#test/support/api-client.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { createObjectsFolder } from '#test/support/objects-folder.ts'
import { verifies } from '#test/support/verifies.ts'

const OWN = '/apis/gatewright.dev/v1alpha1/namespaces'
const ROUTES = '/apis/gateway.networking.k8s.io/v1/namespaces/default/httproutes'
const API_VERSION = 'gatewright.dev/v1alpha1'

/** Of each kind: a spec, another one, and where both differ from each other. */
const KINDS = [
  {
    kind: 'ProxyBackend',
    plural: 'proxybackends',
    spec: { static: { host: 'a.test', port: 80 } },
    next: { static: { host: 'b.test', port: 80 } },
    hasStatus: true,
  },
  {
    kind: 'ProxyParameters',
    plural: 'proxyparameters',
    spec: { logging: { level: 'info' } },
    next: { logging: { level: 'debug' } },
    hasStatus: false,
  },
  {
    kind: 'ProxyPolicy',
    plural: 'proxypolicies',
    spec: policySpec(200),
    next: policySpec(201),
    hasStatus: true,
  },
] as const

function policySpec(status: number) {
  return {
    targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'main' }],
    traffic: { directResponse: { status } },
  }
}

const stops = new AsyncDisposableStack()
let call: ReturnType<typeof apiClient>
let port: number

beforeAll(async () => {
  const state = mkdtempSync(join(tmpdir(), 'gatewright-test-'))
  stops.defer(() => rmSync(state, { recursive: true }))
  port = await freePort()
  const objects = await createObjectsFolder({
    'gateway.yaml': `
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: gatewright }
spec: { controllerName: gatewright.dev/controller }
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: main }
spec:
  gatewayClassName: gatewright
  listeners: [{ name: http, protocol: HTTP, port: ${port} }]
`,
  })
  stops.defer(() => objects.remove())
  const environment = { GATEWRIGHT_API_ADDR: '127.0.0.1:0' }
  const gateway = await startGateway({ files: [objects.path], workers: 1, stateFolder: state, environment })
  stops.defer(async () => void (await gateway.close()))
  call = apiClient(state)
})
afterAll(() => stops.disposeAsync())

const path = (plural: string, name: string, namespace = 'default') => `${OWN}/${namespace}/${plural}/${name}`
const collection = (plural: string, namespace = 'default') => `${OWN}/${namespace}/${plural}`

/** Sends a request that must succeed. @returns the object in the answer */
async function send(target: string, options: ApiCall) {
  const { status, body } = await call(target, options)
  expect([status, body.message]).toEqual([options.method === 'POST' ? 201 : 200, undefined])
  return body
}

/** Replaces an object; again if the gateway wrote its status at the same time. */
async function replace(target: string, change: (stored: { metadata: object }) => object) {
  return eventually('the object is replaced', async () => {
    const { status, body } = await call(target, { method: 'PUT', body: change(await send(target, {})) })
    expect([200, 409]).toContain(status)
    return status === 200 ? body : undefined
  })
}

verifies(
  ['api/create', 'api/read', 'api/update', 'api/delete', 'api/payload'],
  'objects of the three kinds are created in a namespace, read, updated and deleted',
  async () => {
    await send('/api/v1/namespaces', { method: 'POST', body: { metadata: { name: 'team-a' } } })
    for (const { kind, plural, spec, next } of KINDS) {
      const written = { apiVersion: API_VERSION, kind, metadata: { name: 'one', namespace: 'team-a' }, spec }
      const created = await send(collection(plural, 'team-a'), { method: 'POST', body: written })
      expect(created).toMatchObject({ ...written, metadata: { name: 'one', namespace: 'team-a', generation: 1 } })
      const one = path(plural, 'one', 'team-a')
      const read = await send(one, {})
      expect([read.metadata.uid, read.spec]).toEqual([created.metadata.uid, created.spec])
      const { items } = await send(collection(plural, 'team-a'), {})
      expect(items.map(({ metadata }: typeof read) => metadata.uid)).toEqual([read.metadata.uid])
      // The same name elsewhere is another object.
      expect((await call(path(plural, 'one'))).status).toBe(404)

      const updated = await replace(one, (stored) => ({ ...stored, spec: next }))
      expect(updated).toMatchObject({ spec: next, metadata: { uid: read.metadata.uid, generation: 2 } })
      const patched = await send(one, { method: 'PATCH', body: { spec } })
      expect(patched).toMatchObject({ spec, metadata: { generation: 3 } })

      await send(one, { method: 'DELETE' })
      expect((await call(one)).body).toMatchObject({ kind: 'Status', reason: 'NotFound', code: 404 })
    }
  },
)

verifies('api/namespace-delete', 'a namespace is deleted with its objects of the three kinds', async () => {
  for (const name of ['team-b', 'team-c']) {
    await send('/api/v1/namespaces', { method: 'POST', body: { metadata: { name } } })
    for (const { plural, spec } of KINDS) {
      await send(collection(plural, name), { method: 'POST', body: { metadata: { name: 'one' }, spec } })
    }
  }
  await send('/api/v1/namespaces/team-b', { method: 'DELETE' })
  await eventually('it is gone', async () => (await call('/api/v1/namespaces/team-b')).status === 404)
  for (const { plural } of KINDS) {
    expect((await call(path(plural, 'one', 'team-b'))).status).toBe(404)
    expect((await call(path(plural, 'one', 'team-c'))).status).toBe(200)
  }
})

verifies('api/response-stored-object', 'answers to writes are what a read gives, with the status', async () => {
  for (const { plural, spec, hasStatus } of KINDS) {
    const one = path(plural, 'stored', 'default')
    const created = await send(collection(plural), { method: 'POST', body: { metadata: { name: 'stored' }, spec } })
    expect(created.metadata).toMatchObject({ uid: expect.any(String), resourceVersion: expect.any(String) })
    const read = await eventually('the gateway writes its status', async () => {
      const { body } = await call(one)
      return !hasStatus || body.status?.conditions !== undefined ? body : undefined
    })
    const labels = { team: 'a' }
    const answered = await send(one, { method: 'PATCH', body: { metadata: { labels } } })
    expect(answered.status).toEqual(read.status)
    expect(answered.spec).toEqual(read.spec)
    expect(await send(one, {})).toEqual(answered)
    await send(one, { method: 'DELETE' })
  }
})

verifies(
  ['resource/api-version-optional', 'resource/kind-optional', 'version/kind-inferred'],
  'apiVersion and kind come from the endpoint if the object leaves them out, and must otherwise agree with it',
  async () => {
    for (const { kind, plural, spec } of KINDS) {
      const bare = { metadata: { name: 'bare' }, spec }
      expect(await send(collection(plural), { method: 'POST', body: bare })).toMatchObject({
        apiVersion: API_VERSION,
        kind,
      })
      expect(await send(path(plural, 'bare'), {})).toMatchObject({ apiVersion: API_VERSION, kind, spec })
      await send(path(plural, 'bare'), { method: 'DELETE' })
      for (const wrong of [{ kind: 'Proxy' }, { apiVersion: 'gatewright.dev/v1' }]) {
        const { status, body } = await call(collection(plural), { method: 'POST', body: { ...bare, ...wrong } })
        expect([status, body.reason]).toEqual([400, 'BadRequest'])
        expect(body.message).toContain(`(${Object.values(wrong)[0]}) does not match the expected`)
      }
    }
  },
)

verifies(
  'resource/metadata',
  'metadata may be left out where the endpoint names the object, and is kept as written',
  async () => {
    const metadata = {
      labels: { team: 'a' },
      annotations: { 'example.com/note': 'b' },
      finalizers: ['example.com/keep'],
      ownerReferences: [{ apiVersion: 'v1', kind: 'Namespace', name: 'default', uid: await uidOfDefault() }],
    }
    for (const { plural, spec } of KINDS) {
      const apply = { method: 'PATCH', type: 'application/apply-patch+yaml' }
      const target = `${path(plural, 'named')}?fieldManager=test`
      const created = await call(target, { ...apply, body: { spec } })
      expect([created.status, created.body.metadata.name]).toEqual([201, 'named'])
      const read = await replace(path(plural, 'named'), (stored) => ({
        ...stored,
        metadata: { ...stored.metadata, ...metadata },
      }))
      expect(read.metadata).toMatchObject({ ...metadata, name: 'named', namespace: 'default' })
      // Without the list of finalizers, the object can go.
      await send(path(plural, 'named'), { method: 'PATCH', body: { metadata: { finalizers: null } } })
      await send(path(plural, 'named'), { method: 'DELETE' })
    }
    const { status, body } = await call(collection('proxybackends'), { method: 'POST', body: { spec: KINDS[0].spec } })
    expect([status, body.details.causes[0].field]).toEqual([422, 'metadata.name'])
  },
)

async function uidOfDefault(): Promise<string> {
  return (await send('/api/v1/namespaces/default', {})).metadata.uid
}

verifies('version/conversion', 'an object of an older version is converted to the one in force', async () => {
  const older = ROUTES.replace('/v1/', '/v1beta1/')
  const body = {
    apiVersion: 'gateway.networking.k8s.io/v1beta1',
    kind: 'HTTPRoute',
    metadata: { name: 'older' },
    spec: {
      parentRefs: [{ name: 'main' }],
      rules: [{ filters: [{ type: 'RequestRedirect', requestRedirect: { hostname: 'new.test' } }] }],
    },
  }
  const created = await send(older, { method: 'POST', body })
  const read = await send(`${ROUTES}/older`, {})
  expect(created.apiVersion).toBe('gateway.networking.k8s.io/v1beta1')
  expect([read.apiVersion, read.metadata.uid]).toEqual(['gateway.networking.k8s.io/v1', created.metadata.uid])
  const ask = () => fetch(`http://127.0.0.1:${port}/`, { redirect: 'manual' })
  const answer = await eventually('the route is in force', async () => {
    const response = await ask()
    return response.status === 302 ? response : undefined
  })
  expect(answer.headers.get('location')).toContain('new.test')
  await send(`${ROUTES}/older`, { method: 'DELETE' })
})

test.each([
  ['no token', undefined],
  ['another token', 'x'],
])('nothing is read or written with %s', async (_, token) => {
  const one = { metadata: { name: 'secret' }, spec: KINDS[0].spec }
  for (const options of [{}, { method: 'POST', body: one }, { method: 'DELETE' }]) {
    const { status, body, challenge } = await call(collection('proxybackends'), { ...options, token })
    expect([status, body.reason, challenge]).toEqual([401, 'Unauthorized', expect.stringContaining('Bearer')])
  }
  expect((await call(path('proxybackends', 'secret'))).status).toBe(404)
})

test('conditions that other controllers write stay beside those of the gateway', async () => {
  const gateway = '/apis/gateway.networking.k8s.io/v1/namespaces/default/gateways/main'
  const foreign = { type: 'example.com/Published', status: 'True', reason: 'Published', message: 'in DNS' }
  const stamped = { ...foreign, lastTransitionTime: '2026-01-01T00:00:00Z' }
  await eventually('the condition is written', async () => {
    const { body } = await call(gateway)
    const conditions = [...body.status.conditions, stamped]
    const { status } = await call(`${gateway}/status`, { method: 'PATCH', body: { status: { conditions } } })
    return status === 200
  })
  const route = { metadata: { name: 'published' }, spec: { parentRefs: [{ name: 'main' }] } }
  await send(ROUTES, { method: 'POST', body: route })
  const conditions = await eventually('the gateway writes its status again', async () => {
    const { status } = (await call(gateway)).body
    return status.listeners[0].attachedRoutes === 1 ? status.conditions : undefined
  })
  expect(conditions.map(({ type }: typeof foreign) => type)).toEqual(['Accepted', 'Programmed', foreign.type])
  expect(conditions.at(-1)).toEqual(stamped)
  await send(`${ROUTES}/published`, { method: 'DELETE' })
})
