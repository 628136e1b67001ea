import { statSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { afterEach, describe, expect, test } from 'vitest'
import { apiClient } from '#test/support/api-client.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { createObjectsFolder } from '#test/support/objects-folder.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'

let stops = new AsyncDisposableStack()
afterEach(async () => {
  await stops.disposeAsync()
  stops = new AsyncDisposableStack()
})

const GATEWAY = (port: number) => `
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
`
const ROUTES = '/apis/gateway.networking.k8s.io/v1/namespaces/default/httproutes'
const POLICIES = '/apis/gatewright.dev/v1alpha1/namespaces/default/proxypolicies'

function answering(name: string, body: string) {
  return {
    metadata: { name },
    spec: {
      targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', name: 'shop' }],
      traffic: { directResponse: { status: 200, body } },
    },
  }
}

const ROUTE = { metadata: { name: 'shop' }, spec: { parentRefs: [{ name: 'main' }] } }

async function start(port: number, state: string) {
  const objects = await createObjectsFolder({ 'gateway.yaml': GATEWAY(port) })
  stops.defer(() => objects.remove())
  const environment = { GATEWRIGHT_API_ADDR: '127.0.0.1:0' }
  return startGateway({ files: [objects.path], workers: 1, stateFolder: state, environment })
}

const conditionIn = (status: { conditions?: { type: string; status: string }[] } | undefined, type: string) =>
  status?.conditions?.find((condition) => condition.type === type)?.status

test('objects that are written through the API are in force, have a status, and outlive the gateway', async () => {
  const [port, state] = [await freePort(), temporaryFolder()]
  const first = await start(port, state)
  const ask = async () => (await fetch(`http://127.0.0.1:${port}/`)).text()
  let call = apiClient(state)
  expect(statSync(join(state, 'kubeconfig')).mode & 0o777).toBe(0o600)
  const gateway = await call('/apis/gateway.networking.k8s.io/v1/namespaces/default/gateways/main')
  expect(conditionIn(gateway.body.status, 'Programmed')).toBe('True')
  expect((await call(ROUTES, { method: 'POST', body: ROUTE })).status).toBe(201)
  expect((await call(POLICIES, { method: 'POST', body: answering('hello', 'one') })).status).toBe(201)
  await eventually('the policy is in force', async () => (await ask()) === 'one')
  const policy = await call(`${POLICIES}/hello`)
  expect([conditionIn(policy.body.status, 'Accepted'), conditionIn(policy.body.status, 'Attached')]).toEqual([
    'True',
    'True',
  ])
  const { status: parents } = (await call(`${ROUTES}/shop`)).body
  expect(conditionIn(parents.parents[0], 'Accepted')).toBe('True')
  await first.close()

  const second = await start(port, state)
  stops.defer(async () => void (await second.close()))
  call = apiClient(state)
  expect(await ask()).toBe('one')
  const kept = await call(`${POLICIES}/hello`)
  expect(kept.body.metadata.uid).toBe(policy.body.metadata.uid)
  await call(`${POLICIES}/hello`, { method: 'PATCH', body: { spec: answering('', 'two').spec } })
  await eventually('the change is in force', async () => (await ask()) === 'two')
  await call(`${POLICIES}/hello`, { method: 'DELETE' })
  await eventually('the policy is gone', async () => (await ask()) !== 'two')
})

test('objects of files are read, and changed only in the file', async () => {
  const [port, state] = [await freePort(), temporaryFolder()]
  const gateway = await start(port, state)
  stops.defer(async () => void (await gateway.close()))
  const call = apiClient(state)
  const path = '/apis/gateway.networking.k8s.io/v1/namespaces/default/gateways/main'
  const { body } = await call(path)
  expect(body.metadata.managedFields[0].manager).toContain('gateway.yaml')
  const refused = await call(path, { method: 'PATCH', body: { metadata: { labels: { a: 'b' } } } })
  expect([refused.status, refused.body.reason]).toEqual([403, 'Forbidden'])
  expect(refused.body.message).toContain('gateway.yaml')
})

test('a write answers with what the control plane found', async () => {
  const [port, state] = [await freePort(), temporaryFolder()]
  const gateway = await start(port, state)
  stops.defer(async () => void (await gateway.close()))
  const call = apiClient(state)
  const { status, warning } = await call(POLICIES, { method: 'POST', body: answering('lost', 'one') })
  expect([status, warning]).toEqual([201, expect.stringContaining('target-not-found')])
  const events = await eventually('an event tells it', async () => {
    const { body } = await call('/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3Dlost')
    return body.items.length > 0 ? body.items : undefined
  })
  expect(events[0]).toMatchObject({ type: 'Warning', reason: 'NotAttached', involvedObject: { kind: 'ProxyPolicy' } })
})

describe('statuses', () => {
  const OTHER = { ancestorRef: { name: 'elsewhere' }, controllerName: 'example.com/other', conditions: [] }
  type Ancestors = readonly { readonly controllerName: string }[]

  test.each(['file', 'api'])('an object of the %s has those of other controllers and ours', async (source) => {
    const [port, state] = [await freePort(), temporaryFolder()]
    const text = JSON.stringify({
      apiVersion: 'gatewright.dev/v1alpha1',
      kind: 'ProxyPolicy',
      ...answering('hello', 'one'),
    })
    const objects = await createObjectsFolder({
      'gateway.yaml': GATEWAY(port),
      'route.yaml': JSON.stringify({ ...ROUTE, apiVersion: 'gateway.networking.k8s.io/v1', kind: 'HTTPRoute' }),
      ...(source === 'file' ? { 'policy.yaml': text } : {}),
    })
    stops.defer(() => objects.remove())
    const environment = { GATEWRIGHT_API_ADDR: '127.0.0.1:0' }
    const gateway = await startGateway({ files: [objects.path], workers: 1, stateFolder: state, environment })
    stops.defer(async () => void (await gateway.close()))
    const call = apiClient(state)
    if (source === 'api') await call(POLICIES, { method: 'POST', body: answering('hello', 'one') })
    const ancestors = async () => ((await call(`${POLICIES}/hello`)).body.status?.ancestors ?? []) as Ancestors
    const controllers = async () => (await ancestors()).map(({ controllerName }) => controllerName).sort()
    const ours = 'gatewright.dev/controller'
    await eventually('the status is there', async () => (await controllers()).includes(ours))

    const both = [OTHER.controllerName, ours]
    await call(`${POLICIES}/hello/status`, { method: 'PATCH', body: { status: { ancestors: [OTHER] } } })
    await eventually('both are there', async () => isDeepStrictEqual(await controllers(), both))
    if (source === 'file') await objects.write('policy.yaml', text.replace('"one"', '"two"'))
    else await call(`${POLICIES}/hello`, { method: 'PATCH', body: { spec: answering('', 'two').spec } })
    const answer = async () => (await fetch(`http://127.0.0.1:${port}/`)).text()
    await eventually('the change is in force', async () => (await answer()) === 'two')
    await eventually('the status is of the change', async () => {
      const { body } = await call(`${POLICIES}/hello`)
      return body.status.conditions[0].observedGeneration === body.metadata.generation
    })
    expect(await controllers()).toEqual(both)

    const answered = await call(`${POLICIES}/hello/status`, { method: 'PATCH', body: { status: null } })
    expect([answered.status, answered.body.status]).toEqual([200, undefined])
    await eventually('ours returns', async () => isDeepStrictEqual(await controllers(), [ours]))
  })
})
