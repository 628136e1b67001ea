import { isDeepStrictEqual } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import type { ApiObject } from '#api/object.ts'
import type { Finding } from '#base/finding.ts'
import { ApiUnreadable } from '#cluster/api-unreadable.ts'
import type { FleetApi } from '#cluster/deploy/fleet.ts'
import { defaultSettings } from '#deploy/settings.ts'
import { listenerItem } from '#engine/testing.ts'
import { admitObject } from '#test/support/admit-object.ts'
import { verifies } from '#test/support/verifies.ts'
import { VirtualTime } from '#test/support/virtual-time.ts'
import { Deployer } from './deployer.ts'

const GATEWAY_API = 'gateway.networking.k8s.io/v1'

function gateway(
  name: string,
  { uid = `uid-${name}`, className = 'gatewright', parameters = '', labels = {} } = {},
): ApiObject {
  const parametersRef = { group: 'gatewright.dev', kind: 'ProxyParameters', name: parameters }
  const admitted = admitObject({
    apiVersion: GATEWAY_API,
    kind: 'Gateway',
    metadata: { name, namespace: 'default' },
    spec: {
      gatewayClassName: className,
      infrastructure: { labels, ...(parameters !== '' && { parametersRef }) },
      listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }],
    },
  })
  return { ...admitted, metadata: { ...admitted.metadata, uid } } as ApiObject
}

const deploying = (...objects: ApiObject[]) => deployingAs('gatewright', objects)

/** The deployer of a controller with this class, and an API that keeps objects by path. The test advances the time. */
function deployingAs(
  gatewayClass: string,
  objects: ApiObject[],
  { stored = new Map<string, object>(), tag = '1.2.3' } = {},
) {
  const time = new VirtualTime()
  /** By the end of a path, why it cannot be read, or an object there not be created. */
  const hidden = new Map<string, Error>()
  const refused = new Map<string, Error>()
  const failureOf = (path: string, failures: ReadonlyMap<string, Error>) =>
    [...failures].find(([end]) => path.endsWith(end))?.[1]
  /** Names of objects that another program creates just before the controller does. */
  const raced = new Set<string>()
  /** Names of objects and lists of the API that were read; `objects`: those of the controller. */
  const read: string[] = []
  let version = 0
  const put = (path: string, object: object) => {
    const { metadata } = object as { metadata: object }
    const { spec, status } = (stored.get(path) ?? {}) as { spec?: unknown; status?: unknown }
    const isSame = isDeepStrictEqual(spec, (object as { spec?: unknown }).spec)
    const kept = {
      ...object,
      ...(isSame && { status }),
      metadata: { ...metadata, uid: 'o', resourceVersion: `${++version}` },
    }
    stored.set(path, kept)
    return { status: 200, body: kept as Record<string, unknown> }
  }
  const api: FleetApi = {
    async get(path) {
      read.push(nameOf(path))
      const failure = failureOf(path, hidden)
      if (failure !== undefined) throw failure
      if (path.includes('?')) return { status: 200, body: { items: [] } }
      const body = stored.get(path) as Record<string, unknown> | undefined
      return body === undefined ? { status: 404, body: {} } : { status: 200, body }
    },
    async create(path, object) {
      const [list, query] = path.split('?')
      const { metadata } = object as { metadata: { name: string } }
      const failure = failureOf(`${list}/${metadata.name}`, refused)
      if (failure !== undefined) throw failure
      if (query?.startsWith('dryRun=All')) return { status: 201, body: {} }
      const created = put(`${list}/${metadata.name}`, object)
      if (raced.delete(nameOf(`${list}/${metadata.name}`))) throw new ApiUnreadable('it exists', { status: 409 })
      return created
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
    settings: () => ({
      ...defaultSettings('1.2.3'),
      image: { registry: '', repository: 'proxy', tag },
      authority: 'CA',
    }),
    objects: () => {
      read.push('objects')
      return objects
    },
    found: (key, findings) => found.set(key, findings),
    failed: (message) => failed.push(message),
    reportBug: (error) => bugs.push(error),
    random: () => 1,
  })
  onTestFinished(() => {
    deployer.close()
    time[Symbol.dispose]()
    expect(bugs).toEqual([])
  })
  return {
    ...{ deployer, stored, hidden, refused, raced, found, failed, time },
    /** What was read since the last call. */
    takeRead: () => read.splice(0),
    /** Replaces all objects, waits for what follows at once. */
    update: async (...now: ApiObject[]) => {
      const removed = objects.splice(0, objects.length, ...now)
      deployer.update({ set: now, removed })
      await time.pass(0)
    },
    start: async () => {
      deployer.update({ set: objects, removed: [] })
      await time.pass(0)
    },
  }
}

/** Plural and name of an object, or the plural of a list. */
const nameOf = (path: string) => path.replace(/^.*\/namespaces\/[^/]*\//, '').replace(/\?.*/, '')
const names = (stored: ReadonlyMap<string, object>) => [...stored.keys()].map(nameOf)

const DEPLOYMENT = '/apis/apps/v1/namespaces/default/deployments/main'
const AWAY = new ApiUnreadable('https://api cannot be read: connection refused')

verifies(
  ['service/controller-provisions'],
  'the objects of each Gateway of our class are deployed, with a session key',
  async () => {
    const { start, stored, found } = deploying(gateway('main'), gateway('other', { className: 'nginx' }))
    await start()
    expect(names(stored).sort()).toEqual([
      'configmaps/main',
      'deployments/main',
      'secrets/main-session-key',
      'serviceaccounts/main',
      'services/main',
    ])
    expect([...found]).toEqual([['Gateway/default/main', []]])
    expect(JSON.stringify([...stored.values()])).toContain('checksum/session-key')
  },
)

test.each(['a', 'b'])('of two controllers, %s deploys the Gateways of its class', async (own) => {
  const gatewayClass = (name: string, controllerName: string) =>
    admitObject({ kind: 'GatewayClass', metadata: { name }, spec: { controllerName } })
  const objects = [
    gatewayClass('x', 'a.example/controller'),
    gatewayClass('y', 'b.example/controller'),
    ...['a', 'b'].map((className) => gateway(`by-name-${className}`, { className })),
    ...['x', 'y'].map((className) => gateway(`by-class-${className}`, { className })),
  ]
  const { start, stored } = deployingAs(own, objects)
  await start()
  const deployments = names(stored).filter((name) => name.startsWith('deployments/'))
  expect(deployments.sort()).toEqual([`deployments/by-class-${own === 'a' ? 'x' : 'y'}`, `deployments/by-name-${own}`])
})

test('while the cluster does not answer, it tries again, later each time; then it looks each minute', async () => {
  const { start, stored, hidden, failed, time, takeRead } = deploying(gateway('main'))
  hidden.set('', AWAY)
  await start()
  for (const ms of [500, 1000, 2000]) {
    expect(time.nextMs).toBe(ms)
    if (ms === 2000) hidden.clear()
    await time.pass(ms)
  }
  expect(failed.map((message) => message.split(';')[0])).toEqual(Array.from({ length: 3 }, () => AWAY.message))
  expect([stored.size, time.nextMs]).toEqual([5, 60_000])
  takeRead()
  stored.delete(DEPLOYMENT)
  await time.pass(60_000)
  expect(takeRead()).toContain('deployments/main')
  expect([stored.has(DEPLOYMENT), time.nextMs]).toEqual([true, 60_000])
})

test('a Gateway at which the API fails waits by itself, longer each time', async () => {
  const { start, update, stored, hidden, failed, found, time } = deploying(gateway('a'), gateway('b'))
  hidden.set('services/a', new ApiUnreadable('status 500: x', { status: 500 }))
  await start()
  expect([names(stored).includes('deployments/b'), found.has('Gateway/default/a')]).toEqual([true, false])
  await time.pass(500)
  expect(time.nextMs).toBe(1000)
  await update(gateway('a'), gateway('b'), gateway('c'))
  expect(names(stored)).toContain('deployments/c')
  expect(time.nextMs).toBe(1000)
  hidden.clear()
  await time.pass(1000)
  expect(names(stored)).toContain('deployments/a')
  expect(failed).toEqual(['status 500: x; next attempt in 0.5 s'])
})

test('an object that changes while it is applied is read again at once', async () => {
  const { start, stored, found, raced, time } = deploying(gateway('main'))
  raced.add('services/main')
  await start()
  expect([stored.size, found.get('Gateway/default/main'), time.nextMs]).toEqual([5, [], 60_000])
})

test('only Gateways that have changed are looked at, and none for a route', async () => {
  const [a, b] = [gateway('a'), gateway('b')]
  const { start, update, deployer, takeRead, time } = deploying(a, b)
  await start()
  takeRead()
  const route = admitObject({ apiVersion: GATEWAY_API, kind: 'HTTPRoute', metadata: { name: 'r' }, spec: {} })
  deployer.update({ set: [route], removed: [route] })
  await time.pass(0)
  expect(takeRead()).toEqual([])
  // Another version with the same specification, and another status.
  await update({ ...a, metadata: { ...a.metadata, generation: 2 } }, { ...b, status: {} } as ApiObject)
  expect(takeRead()).toEqual(['objects'])
  await update(gateway('a', { labels: { x: 'y' } }), b)
  const read = takeRead()
  expect([read.includes('deployments/a'), read.includes('deployments/b')]).toEqual([true, false])
})

test('a Service follows the ports of the listeners', async () => {
  const { start, update, deployer, stored } = deploying(gateway('main'))
  deployer.take({ set: [listenerItem({ key: 'Listener/default/main/http', port: 80 })], removed: [] })
  await start()
  const ports = () => JSON.stringify(stored.get('/api/v1/namespaces/default/services/main'))
  expect([ports().includes('listener-80"'), deployer.portsOf('Gateway/default/main')]).toEqual([true, [80]])
  deployer.take({ set: [listenerItem({ key: 'Listener/default/main/more', port: 8080 })], removed: [] })
  // Those of a ListenerSet: no Gateway has changed.
  deployer.update({ set: [], removed: [] })
  await update(gateway('main'))
  expect(ports()).toContain('listener-8080"')
})

test('a session key that cannot be used, and an object of somebody else, are findings, and nothing is changed', async () => {
  const { start, stored, found, time } = deploying(gateway('main'))
  const key = '/api/v1/namespaces/default/secrets/main-session-key'
  const ownerReferences = [{ kind: 'Gateway', name: 'main', uid: 'uid-main', controller: true }]
  stored.set(key, { metadata: { ownerReferences }, data: { key: 'c2hvcnQ=' } })
  await start()
  expect(found.get('Gateway/default/main')).toMatchObject([
    { code: 'deployment-blocked', message: expect.stringContaining('it has no key of 64 hexadecimal digits') },
  ])
  expect(time.nextMs).toBe(5000)
  stored.delete(key)
  stored.set(DEPLOYMENT, { metadata: {} })
  await time.pass(5000)
  expect(found.get('Gateway/default/main')).toMatchObject([
    {
      code: 'deployment-blocked',
      message: expect.stringContaining('Deployment default/main: an object with this name exists'),
    },
  ])
  expect(names(stored).sort()).toEqual(['deployments/main', 'secrets/main-session-key'])
})

test('a Gateway whose objects the API refuses, or does not show, does not stop the others', async () => {
  const { start, stored, hidden, refused, found, time } = deploying(gateway('a'), gateway('b'), gateway('c'))
  refused.set('deployments/a', new ApiUnreadable('status 422: x', { status: 422, said: 'spec.x: wrong' }))
  hidden.set('services/b', new ApiUnreadable('status 403: no right', { status: 403, said: 'no right' }))
  await start()
  expect(found.get('Gateway/default/a')).toMatchObject([
    { code: 'parameters-invalid', message: 'Deployment default/a: spec.x: wrong' },
  ])
  expect(found.get('Gateway/default/b')).toMatchObject([{ code: 'deployment-blocked', message: 'no right' }])
  expect(names(stored)).toContain('deployments/c')
  expect(time.nextMs).toBe(5000)
})

test('nothing is made for a Gateway that is being deleted', async () => {
  const { metadata, ...others } = gateway('main')
  const deletionTimestamp = '2026-01-01T00:00:00Z'
  const { start, stored } = deploying({ ...others, metadata: { ...metadata, deletionTimestamp } } as ApiObject)
  await start()
  expect(stored.size).toBe(0)
})

test('problems of a Gateway that is gone are gone, and nothing looks at it any more', async () => {
  const { start, update, stored, found, time } = deploying(gateway('main'))
  stored.set(DEPLOYMENT, { metadata: {} })
  await start()
  expect(found.get('Gateway/default/main')).toHaveLength(1)
  await update()
  expect([found.get('Gateway/default/main'), time.nextMs]).toEqual([[], undefined])
})

test('a Gateway that is deleted while it is deployed has no problems', async () => {
  const { start, update, stored, found, time } = deploying(gateway('main'))
  stored.set(DEPLOYMENT, { metadata: {} })
  const starting = start()
  await Promise.all([starting, update()])
  expect([found.get('Gateway/default/main'), time.nextMs]).toEqual([[], undefined])
})

test('parameters that do not exist leave what runs as it is', async () => {
  const { start, update, stored, found, time } = deploying(gateway('main'))
  await start()
  const before = [...stored.values()]
  await update(gateway('main', { parameters: 'absent' }))
  expect([...stored.values()]).toEqual(before)
  expect([found.get('Gateway/default/main'), time.nextMs]).toEqual([[], undefined])
})

test('edits that come while it deploys are deployed once more, with one next look', async () => {
  const { deployer, update, takeRead, time } = deploying()
  await Promise.all(['a', 'b', 'c'].map((x) => update(gateway('main', { labels: { x } }))))
  expect(takeRead().filter((name) => name === 'deployments/main')).toHaveLength(2)
  expect([time.nextMs, deployer.queued]).toEqual([60_000, 0])
  await time.pass(60_000)
  expect(takeRead().filter((name) => name === 'deployments/main')).toHaveLength(1)
})

const TWENTY = Array.from({ length: 20 }, (_, i) => `g${String(i + 1).padStart(2, '0')}`)
const pathOf = (name: string) => DEPLOYMENT.replace('main', name)

/** The tag of the image of a Deployment. */
function tagOf(stored: ReadonlyMap<string, object>, name: string): string {
  const { spec } = stored.get(pathOf(name)) as { spec: { template: { spec: { containers: { image: string }[] } } } }
  return spec.template.spec.containers[0]!.image.split(':')[1]!
}

/** All proxies of a Gateway run and are ready, as the cluster says. */
function setReady(stored: Map<string, object>, name: string): void {
  stored.set(pathOf(name), { ...stored.get(pathOf(name)), status: { updatedReplicas: 1, availableReplicas: 1 } })
}

/** Deployments of twenty Gateways that are ready with the tag 1. */
async function twentyReady(...objects: ApiObject[]) {
  const first = deployingAs('gatewright', objects, { tag: '1' })
  await first.start()
  for (const name of TWENTY) setReady(first.stored, name)
  first.deployer.close()
  first.time[Symbol.dispose]()
  return first.stored
}

const withTag = (stored: ReadonlyMap<string, object>, tag: string) =>
  TWENTY.filter((name) => tagOf(stored, name) === tag)

test('another default image comes to five Gateways at a time, and stops at one that does not become ready, also under the next leader', async () => {
  const gateways = TWENTY.map((name) => gateway(name))
  const stored = await twentyReady(...gateways)
  const leader = deployingAs('gatewright', [...gateways], { stored, tag: '2' })
  await leader.start()
  expect([withTag(stored, '2'), leader.deployer.waiting]).toEqual([TWENTY.slice(0, 5), 15])
  for (const name of ['g01', 'g02', 'g04', 'g05']) setReady(stored, name)
  await leader.time.pass(110_000)
  expect([...leader.found.values()].flat()).toEqual([])
  await leader.time.pass(15_000)
  expect([...leader.found].filter(([, findings]) => findings.length > 0)).toMatchObject([
    ['Gateway/default/g03', [{ code: 'image-not-ready', message: expect.stringContaining('15 other Gateways') }]],
  ])
  const changed = gateway('g09', { labels: { team: 'a' } })
  await leader.update(...gateways.map((each) => (each.metadata.name === 'g09' ? changed : each)))
  expect(JSON.stringify(stored.get(pathOf('g09')))).toContain('"team":"a"')
  expect(withTag(stored, '2'), 'what changes meanwhile keeps its image').toEqual(TWENTY.slice(0, 5))
  setReady(stored, 'g09')
  leader.deployer.close()
  leader.time[Symbol.dispose]()

  const next = deployingAs(
    'gatewright',
    gateways.map((each) => (each.metadata.name === 'g09' ? changed : each)),
    { stored, tag: '2' },
  )
  await next.start()
  await next.time.pass(60_000)
  expect(withTag(stored, '2')).toEqual(TWENTY.slice(0, 5))
  setReady(stored, 'g03')
  await next.time.pass(60_000)
  expect(withTag(stored, '2')).toEqual(TWENTY.slice(0, 10))
  for (let n = 10; n < 20; n += 5) {
    for (const name of TWENTY.slice(0, n)) setReady(stored, name)
    await next.time.pass(5000)
    expect(withTag(stored, '2')).toEqual(TWENTY.slice(0, n + 5))
  }
  expect([next.deployer.waiting, [...next.found.values()].flat()]).toEqual([0, []])
})

test('a Gateway with an image of its own is deployed at once, and one that was not ready before comes last', async () => {
  const own = admitObject({
    apiVersion: 'gatewright.dev/v1alpha1',
    kind: 'ProxyParameters',
    metadata: { name: 'own', namespace: 'default' },
    spec: { image: { tag: '7' } },
  })
  const before = TWENTY.map((name) => gateway(name))
  const stored = await twentyReady(own, ...before)
  stored.set(pathOf('g01'), { ...stored.get(pathOf('g01')), status: {} })
  const now = before.map((each) => (each.metadata.name === 'g12' ? gateway('g12', { parameters: 'own' }) : each))
  const { start } = deployingAs('gatewright', [own, ...now], { stored, tag: '2' })
  await start()
  expect([withTag(stored, '2'), withTag(stored, '7')]).toEqual([TWENTY.slice(1, 6), ['g12']])
})

test('after its end, nothing is deployed', async () => {
  const { deployer, start, stored, time } = deploying(gateway('main'))
  deployer.close()
  await start()
  expect([stored.size, time.nextMs]).toEqual([0, undefined])
})
