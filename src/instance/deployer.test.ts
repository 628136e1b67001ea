import { afterEach, expect, test, vi } from 'vitest'
import type { ApiObject } from '#api/object.ts'
import { clock } from '#base/clock.ts'
import type { Finding } from '#base/finding.ts'
import { ApiUnreadable } from '#cluster/api-unreadable.ts'
import type { FleetApi } from '#cluster/deploy/fleet.ts'
import { defaultSettings } from '#deploy/settings.ts'
import { admitObject } from '#test/support/admit-object.ts'
import { Deployer } from './deployer.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

const GATEWAY_API = 'gateway.networking.k8s.io/v1'

function gateway(name: string, { uid = `uid-${name}`, className = 'gatewright', parameters = '' } = {}): ApiObject {
  const parametersRef = { group: 'gatewright.dev', kind: 'ProxyParameters', name: parameters }
  const admitted = admitObject({
    apiVersion: GATEWAY_API,
    kind: 'Gateway',
    metadata: { name, namespace: 'default' },
    spec: {
      gatewayClassName: className,
      ...(parameters !== '' && { infrastructure: { parametersRef } }),
      listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }],
    },
  })
  return { ...admitted, metadata: { ...admitted.metadata, uid } } as ApiObject
}

const deploying = (...objects: ApiObject[]) => deployingAs('gatewright', objects)

/** The deployer of a controller with this class, and an API that keeps objects by path. */
function deployingAs(gatewayClass: string, objects: ApiObject[]) {
  const stored = new Map<string, object>()
  const state = {
    failure: undefined as Error | undefined,
    /** The end of a path that cannot be written, or not be read, and why. */
    refused: undefined as readonly [string, Error] | undefined,
    hidden: undefined as readonly [string, Error] | undefined,
    waits: [] as [number, () => void][],
  }
  vi.spyOn(clock, 'after').mockImplementation((ms, run) => {
    state.waits.push([ms, run])
    return { cancel: () => {} }
  })
  let version = 0
  const put = (path: string, object: object) => {
    const { metadata } = object as { metadata: object }
    const kept = { ...object, metadata: { ...metadata, uid: 'o', resourceVersion: `${++version}` } }
    stored.set(path, kept)
    return { status: 200, body: kept as Record<string, unknown> }
  }
  const api: FleetApi = {
    async get(path) {
      if (state.failure !== undefined) throw state.failure
      if (state.hidden !== undefined && path.endsWith(state.hidden[0])) throw state.hidden[1]
      if (path.includes('?')) return { status: 200, body: { items: [] } }
      const body = stored.get(path) as Record<string, unknown> | undefined
      return body === undefined ? { status: 404, body: {} } : { status: 200, body }
    },
    async create(path, object) {
      const [list, query] = path.split('?')
      const { metadata } = object as { metadata: { name: string } }
      if (state.refused !== undefined && `${list}/${metadata.name}`.endsWith(state.refused[0])) throw state.refused[1]
      return query?.startsWith('dryRun=All') ? { status: 201, body: {} } : put(`${list}/${metadata.name}`, object)
    },
    merge: async (path) => ({ status: 200, body: stored.get(path) as Record<string, unknown> }),
    apply: async (path, object, options) => (options?.dryRun ? { status: 200, body: {} } : put(path, object)),
    delete: async () => ({ status: 200, body: {} }),
  }
  const found = new Map<string, readonly Finding[]>()
  const failed: string[] = []
  const bugs: unknown[] = []
  const deployer = new Deployer({
    api,
    names: { controller: `${gatewayClass}.example/controller`, gatewayClass },
    settings: { ...defaultSettings('1.2.3'), authority: 'CA' },
    objects: () => objects,
    portsOf: () => [80],
    found: (key, findings) => found.set(key, findings),
    failed: (message) => failed.push(message),
    reportBug: (error) => bugs.push(error),
    random: () => 1,
  })
  return { deployer, stored, state, found, failed, bugs, objects }
}

const names = (stored: ReadonlyMap<string, object>) =>
  [...stored.keys()].map((path) => path.split('/').slice(-2).join('/'))

test('the objects of each Gateway of our class are deployed, with a session key', async () => {
  const { deployer, stored, found, bugs, state } = deploying(gateway('main'), gateway('other', { className: 'nginx' }))
  deployer.update()
  await vi.waitFor(() => expect(state.waits).toHaveLength(1))
  expect(names(stored).sort()).toEqual([
    'configmaps/main',
    'deployments/main',
    'secrets/main-session-key',
    'serviceaccounts/main',
    'services/main',
  ])
  expect([...found]).toEqual([['Gateway/default/main', []]])
  expect(bugs).toEqual([])
  expect(JSON.stringify([...stored.values()])).toContain('checksum/session-key')
})

test.each(['a', 'b'])('of two controllers, %s deploys the Gateways of its class', async (own) => {
  const gatewayClass = (name: string, controllerName: string) =>
    admitObject({ kind: 'GatewayClass', metadata: { name }, spec: { controllerName } })
  const objects = [
    gatewayClass('x', 'a.example/controller'),
    gatewayClass('y', 'b.example/controller'),
    ...['a', 'b'].map((className) => gateway(`by-name-${className}`, { className })),
    ...['x', 'y'].map((className) => gateway(`by-class-${className}`, { className })),
  ]
  const { deployer, stored, state } = deployingAs(own, objects)
  deployer.update()
  await vi.waitFor(() => expect(state.waits).toHaveLength(1))
  const deployments = names(stored).filter((name) => name.startsWith('deployments/'))
  expect(deployments).toEqual([`deployments/by-class-${own === 'a' ? 'x' : 'y'}`, `deployments/by-name-${own}`])
})

test('while the cluster does not answer, it tries again, later each time; then the next look is a minute away', async () => {
  const { deployer, stored, state, failed } = deploying(gateway('main'))
  state.failure = new ApiUnreadable('https://api cannot be read: connection refused')
  deployer.update()
  for (const ms of [1000, 2000, 4000]) {
    await vi.waitFor(() => expect(state.waits.at(-1)?.[0]).toBe(ms))
    if (ms === 4000) state.failure = undefined
    state.waits.at(-1)![1]()
  }
  await vi.waitFor(() => expect(state.waits.at(-1)?.[0]).toBe(60_000))
  expect(failed).toEqual(Array.from({ length: 3 }, () => 'https://api cannot be read: connection refused'))
  expect(stored.size).toBe(5)
})

test('a session key that cannot be used, and an object of somebody else, are findings, and nothing is changed', async () => {
  const { deployer, stored, found, state } = deploying(gateway('main'))
  const key = '/api/v1/namespaces/default/secrets/main-session-key'
  const ownerReferences = [{ kind: 'Gateway', name: 'main', uid: 'uid-main', controller: true }]
  stored.set(key, { metadata: { ownerReferences }, data: { key: 'c2hvcnQ=' } })
  deployer.update()
  await vi.waitFor(() => expect(state.waits).toHaveLength(1))
  expect(found.get('Gateway/default/main')).toMatchObject([
    { code: 'deployment-blocked', message: expect.stringContaining('it has no key of 64 hexadecimal digits') },
  ])
  expect(state.waits.at(-1)?.[0]).toBe(5000)
  stored.delete(key)
  stored.set('/apis/apps/v1/namespaces/default/deployments/main', { metadata: {} })
  deployer.update()
  await vi.waitFor(() => expect(state.waits).toHaveLength(2))
  expect(found.get('Gateway/default/main')).toMatchObject([
    {
      code: 'deployment-blocked',
      message: expect.stringContaining('Deployment default/main: an object with this name exists'),
    },
  ])
  expect(names(stored).sort()).toEqual(['deployments/main', 'secrets/main-session-key'])
})

test('a Gateway whose objects the API refuses, or does not show, does not stop the others', async () => {
  const { deployer, stored, found, state } = deploying(gateway('a'), gateway('b'), gateway('c'))
  state.refused = ['deployments/a', new ApiUnreadable('status 422: x', { status: 422, said: 'spec.x: wrong' })]
  state.hidden = [
    'services/b',
    new ApiUnreadable('GET https://api responded with status 403: no right', { status: 403, said: 'no right' }),
  ]
  deployer.update()
  await vi.waitFor(() => expect(state.waits).toHaveLength(1))
  expect(found.get('Gateway/default/a')).toMatchObject([
    { code: 'parameters-invalid', message: 'Deployment default/a: spec.x: wrong' },
  ])
  expect(found.get('Gateway/default/b')).toMatchObject([{ code: 'deployment-blocked', message: 'no right' }])
  expect(names(stored)).toContain('deployments/c')
  expect(state.waits.at(-1)?.[0]).toBe(5000)
})

test('nothing is made for a Gateway that is being deleted', async () => {
  const { metadata, ...others } = gateway('main')
  const deletionTimestamp = '2026-01-01T00:00:00Z'
  const { deployer, stored, state } = deploying({
    ...others,
    metadata: { ...metadata, deletionTimestamp },
  } as ApiObject)
  deployer.update()
  await vi.waitFor(() => expect(state.waits).toHaveLength(1))
  expect(stored.size).toBe(0)
})

test('problems of a Gateway that is gone are gone', async () => {
  const { deployer, stored, found, state, objects } = deploying(gateway('main'))
  stored.set('/apis/apps/v1/namespaces/default/deployments/main', { metadata: {} })
  deployer.update()
  await vi.waitFor(() => expect(state.waits).toHaveLength(1))
  expect(found.get('Gateway/default/main')).toHaveLength(1)
  objects.splice(0, 1)
  deployer.update()
  await vi.waitFor(() => expect(state.waits).toHaveLength(2))
  expect(found.get('Gateway/default/main')).toEqual([])
})

test('parameters that do not exist leave what runs as it is', async () => {
  const { deployer, stored, state, objects } = deploying(gateway('main'))
  deployer.update()
  await vi.waitFor(() => expect(state.waits).toHaveLength(1))
  const before = [...stored.values()]
  objects.splice(0, 1, gateway('main', { parameters: 'absent' }))
  deployer.update()
  await vi.waitFor(() => expect(state.waits).toHaveLength(2))
  expect([...stored.values()]).toEqual(before)
})

test('edits that come while it deploys are deployed once more, with one next look', async () => {
  const { deployer, state } = deploying(gateway('main'))
  for (let i = 0; i < 5; i++) {
    deployer.update()
    await Promise.resolve()
  }
  await vi.waitFor(() => expect(state.waits.length).toBeGreaterThan(0))
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(state.waits).toHaveLength(1)
})

test('after its end, nothing is deployed', async () => {
  const { deployer, stored } = deploying(gateway('main'))
  deployer.close()
  deployer.update()
  await new Promise((resolve) => setImmediate(resolve))
  expect(stored.size).toBe(0)
})
