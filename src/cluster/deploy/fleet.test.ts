import { expect, test } from 'vitest'
import type { Manifest } from '#deploy/manifest.ts'
import type { ApplyOptions } from '../api-client.ts'
import { ApiUnreadable } from '../api-unreadable.ts'
import { type Members, membersOf } from '../kubeconfig.ts'
import { Fleet, type FleetApi } from './fleet.ts'

const OWNER = { namespace: 'default', name: 'main', uid: 'u1', selector: 'gateway=main' }

function manifest(kind: string, spec: object = {}, { name = 'main', uid = 'u1' } = {}): Manifest {
  const ownerReferences = [{ kind: 'Gateway', name: 'main', uid, controller: true }]
  return {
    apiVersion: 'v1',
    kind,
    metadata: { name, namespace: 'default', ownerReferences },
    spec: { ...spec },
  } as Manifest
}

const REFUSAL = new ApiUnreadable('POST https://api responded with status 422: not permitted', {
  status: 422,
  said: 'not permitted',
})

/** An API that keeps objects by path, and tells which calls changed them. `refuses`: kinds that it refuses, and how. */
function fakeApi(refuses: readonly string[] = [], refusal = REFUSAL) {
  const stored = new Map<string, Members>()
  const calls: string[] = []
  let version = 0
  const put = (path: string, object: object) => {
    const uid = membersOf(stored.get(path)?.metadata).uid ?? `o${++version}`
    const metadata = { ...membersOf((object as Members).metadata), uid, resourceVersion: `${++version}` }
    const kept = { ...(object as Members), metadata }
    stored.set(path, kept)
    return { status: 200, body: kept }
  }
  const admit = (object: object) => {
    const { kind } = object as Members
    if (refuses.includes(`${kind}`)) throw refusal
  }
  const api: FleetApi = {
    async get(path) {
      const [list = '', query] = path.split('?')
      if (query === undefined) {
        const body = stored.get(list)
        return body === undefined ? { status: 404, body: {} } : { status: 200, body }
      }
      const items = [...stored].filter(([key]) => key.startsWith(`${list}/`)).map(([, object]) => object)
      return { status: 200, body: { items } }
    },
    async create(path, object) {
      admit(object)
      const [list, query] = path.split('?')
      const name = membersOf((object as Members).metadata).name
      expect(query).toContain('fieldManager=gatewright&fieldValidation=Strict')
      if (query?.startsWith('dryRun=All')) return { status: 201, body: {} }
      calls.push(`create ${list}/${name}`)
      const { metadata, ...others } = object as Members
      const fieldsV1 = { 'f:spec': { 'f:replicas': {} } }
      const managedFields = [{ manager: 'gatewright', operation: 'Update', fieldsV1 }]
      return put(`${list}/${name}`, { ...others, metadata: { ...membersOf(metadata), managedFields } })
    },
    async apply(path, object, { manager, dryRun = false }: ApplyOptions = {}) {
      admit(object)
      if (dryRun) return { status: 200, body: {} }
      calls.push(`apply ${path}${manager === undefined ? '' : ` by ${manager}`}`)
      if (manager !== undefined) return { status: 200, body: stored.get(path)! }
      const { managedFields } = membersOf(stored.get(path)?.metadata)
      const { metadata, ...others } = object as Members
      return put(path, { ...others, metadata: { ...membersOf(metadata), managedFields } })
    },
    async merge(path, patch) {
      const { metadata, ...others } = stored.get(path)!
      const { managedFields, ...expected } = membersOf((patch as Members).metadata)
      expect(metadata).toMatchObject(expected)
      const operations = (managedFields as Members[]).map(({ operation }) => operation)
      calls.push(`${operations} ${path}`)
      return put(path, { ...others, metadata: { ...membersOf(metadata), managedFields } })
    },
    async delete(path) {
      calls.push(`delete ${path}`)
      stored.delete(path)
      return { status: 200, body: {} }
    },
  }
  return { api, stored, takeCalls: () => calls.splice(0) }
}

const DEPLOYMENT = '/apis/apps/v1/namespaces/default/deployments/main'
const CONFIG = '/api/v1/namespaces/default/configmaps/main'
const AUTOSCALER = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers/main'

test('objects are created once, and applied again only when they, or what the cluster has, have changed', async () => {
  const { api, stored, takeCalls } = fakeApi()
  const fleet = new Fleet(api)
  const wanted = [manifest('ConfigMap'), manifest('Deployment', { paused: false })]
  expect(await fleet.deploy(OWNER, wanted)).toBeUndefined()
  expect(takeCalls()).toEqual([`create ${CONFIG}`, `create ${DEPLOYMENT}`])
  await fleet.deploy(OWNER, wanted)
  expect(takeCalls()).toEqual([])
  await fleet.deploy(OWNER, [manifest('ConfigMap'), manifest('Deployment', { paused: true })])
  expect(takeCalls()).toEqual([`Apply ${DEPLOYMENT}`, `apply ${DEPLOYMENT}`])
  const { metadata, ...others } = stored.get(CONFIG)!
  stored.set(CONFIG, { ...others, metadata: { ...membersOf(metadata), resourceVersion: 'changed by hand' } })
  await fleet.deploy(OWNER, [manifest('ConfigMap'), manifest('Deployment', { paused: true })])
  expect(takeCalls()).toEqual([`Apply ${CONFIG}`, `apply ${CONFIG}`])
})

test('an object of somebody else is not adopted, and nothing is changed', async () => {
  for (const [uid, owner] of [
    ['u2', 'Gateway main owns it'],
    ['', 'no controller owns it'],
  ] as const) {
    const { api, stored, takeCalls } = fakeApi()
    stored.set(DEPLOYMENT, uid === '' ? { metadata: {} } : manifest('Deployment', {}, { uid }))
    const refusal = await new Fleet(api).deploy(OWNER, [manifest('ConfigMap'), manifest('Deployment')])
    expect(refusal).toMatchObject({ reason: 'foreign', object: 'Deployment default/main' })
    expect(refusal?.message).toContain(owner)
    expect(takeCalls()).toEqual([])
  }
})

test('an object that the API refuses leaves all others as they are', async () => {
  const { api, takeCalls } = fakeApi(['Deployment'])
  const refusal = await new Fleet(api).deploy(OWNER, [manifest('ConfigMap'), manifest('Deployment')])
  expect(refusal).toEqual({
    reason: 'invalid',
    object: 'Deployment default/main',
    message: 'not permitted',
  })
  expect(takeCalls()).toEqual([])
})

test('an object that another writer changes meanwhile is a conflict, and is read anew by the next attempt', async () => {
  const { api, takeCalls } = fakeApi()
  const conflict = new ApiUnreadable('status 409', { status: 409 })
  const { apply, merge } = api
  const fleet = new Fleet(api)
  await fleet.deploy(OWNER, [manifest('Deployment', { paused: false })])
  takeCalls()
  const wanted = [manifest('Deployment', { paused: true })]
  api.apply = api.merge = async () => Promise.reject(conflict)
  await expect(fleet.deploy(OWNER, wanted)).rejects.toBe(conflict)
  Object.assign(api, { merge })
  await expect(fleet.deploy(OWNER, wanted)).rejects.toBe(conflict)
  Object.assign(api, { apply })
  expect(await fleet.deploy(OWNER, wanted)).toBeUndefined()
  expect(takeCalls().at(-1)).toBe(`apply ${DEPLOYMENT}`)
})

test('fields of other types are a refusal, and other failures of the API are none', async () => {
  const failing = (said: string) => fakeApi(['Deployment'], new ApiUnreadable('status 500', { status: 500, said })).api
  const said =
    'failed to create typed patch object (default/main; apps/v1, Kind=Deployment): .spec.x: field not declared'
  const refusal = await new Fleet(failing(said)).deploy(OWNER, [manifest('Deployment')])
  expect(refusal).toMatchObject({ reason: 'invalid', message: said })
  await expect(new Fleet(failing('etcd')).deploy(OWNER, [manifest('Deployment')])).rejects.toThrow('status 500')
})

test('an autoscaler gets the replicas before the Deployment gives them up, and is deleted when it is no longer wanted', async () => {
  const { api, stored, takeCalls } = fakeApi()
  const fleet = new Fleet(api)
  await fleet.deploy(OWNER, [manifest('Deployment', { replicas: 3 })])
  takeCalls()
  await fleet.deploy(OWNER, [manifest('Deployment'), manifest('HorizontalPodAutoscaler')])
  expect(takeCalls()).toEqual([
    `Apply ${DEPLOYMENT}`,
    `apply ${DEPLOYMENT} by gatewright-handover`,
    `apply ${DEPLOYMENT}`,
    `create ${AUTOSCALER}`,
  ])
  stored.set(AUTOSCALER.replace('main', 'other'), manifest('HorizontalPodAutoscaler', {}, { name: 'other', uid: 'u2' }))
  await fleet.deploy(OWNER, [manifest('Deployment', { replicas: 2 })])
  expect(takeCalls()).toEqual([`apply ${DEPLOYMENT}`, `delete ${AUTOSCALER}`])
})

test('replicas that somebody else has set are left alone', async () => {
  const { api, stored, takeCalls } = fakeApi()
  const fleet = new Fleet(api)
  await fleet.deploy(OWNER, [manifest('Deployment')])
  const { metadata, spec, ...others } = stored.get(DEPLOYMENT)!
  const managedFields = [{ manager: 'autoscaler', operation: 'Update', subresource: 'scale', fieldsV1: {} }]
  stored.set(DEPLOYMENT, { ...others, spec: { replicas: 4 }, metadata: { ...membersOf(metadata), managedFields } })
  takeCalls()
  await fleet.deploy(OWNER, [manifest('Deployment', { paused: true })])
  expect(takeCalls()).toEqual([`apply ${DEPLOYMENT}`])
})

test('a Gateway that was deleted is forgotten', async () => {
  const { api, takeCalls } = fakeApi()
  const fleet = new Fleet(api)
  await fleet.deploy(OWNER, [manifest('Deployment')])
  fleet.forget(OWNER)
  takeCalls()
  await fleet.deploy(OWNER, [manifest('Deployment')])
  expect(takeCalls()).toEqual([`Apply ${DEPLOYMENT}`, `apply ${DEPLOYMENT}`])
})
