import { expect, onTestFinished, test, vi } from 'vitest'
import { findKind } from '#api/kinds.ts'
import type { StatusWrites } from '#store/store.ts'
import { eventually } from '#test/support/eventually.ts'
import { answerJson } from '#test/support/json-server.ts'
import { ClusterStore } from './cluster-store.ts'
import { startFakeApi } from './testing.ts'

const PODS = '/api/v1/pods'
const SECRETS = '/api/v1/secrets'
const GATEWAYS = '/apis/gateway.networking.k8s.io/v1/gateways'
const ROUTES = '/apis/gateway.networking.k8s.io/v1/httproutes'
const TLS_ROUTES = '/apis/gateway.networking.k8s.io/v1alpha2/tlsroutes'
const POLICIES = '/apis/gatewright.dev/v1alpha1/proxypolicies'
const CORE = { '/api/v1/services': [], [SECRETS]: [], '/api/v1/configmaps': [], '/api/v1/namespaces': [], [PODS]: [] }
const TIMES = { firstBackOff: 10, maxBackOff: 40, absent: 40 }
const TARGET = { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'main' }

const named = (name: string, rest: object = {}) => ({ metadata: { name, namespace: 'default' }, ...rest })
const route = (name: string, rest: object = {}) => named(name, { spec: { parentRefs: [{ name: 'main' }] }, ...rest })
const secret = (name: string, labels = {}) => ({
  ...named(name, { data: { a: 'YQ==' } }),
  metadata: { name, namespace: 'default', labels },
})
const gateway = (...secrets: readonly object[]) => {
  const tls = { certificateRefs: secrets }
  const listeners = [{ name: 'a', port: 8443, protocol: 'HTTPS', tls }]
  return named('main', { spec: { gatewayClassName: 'gatewright', listeners } })
}
const policy = (apiKeyAuthentication: object) =>
  named('keys', { spec: { targetRefs: [TARGET], traffic: { apiKeyAuthentication } } })

type FakeApi = Awaited<ReturnType<typeof startFakeApi>>
type Lists = Parameters<typeof startFakeApi>[0]

/** A store with the objects of a fake API. `names` follows its changes, `turns` has what arrived together. */
async function open(
  lists: Lists,
  { special, namespaces }: { special?: FakeApi['special']; namespaces?: string[] } = {},
) {
  const api = await startFakeApi({ ...CORE, ...lists })
  if (special !== undefined) api.special = special
  const writes: StatusWrites[] = []
  const store = new ClusterStore({
    client: api.client,
    statuses: { write: (each) => writes.push(each) },
    times: TIMES,
    ...(namespaces && { namespaces }),
  })
  onTestFinished(async () => {
    store.close()
    await api[Symbol.asyncDispose]()
  })
  const turns: string[][] = []
  const told = vi.fn()
  store.subscribe(told)
  store.subscribe(() => {
    const { set, removed, statusWritten = [] } = store.takeChange()
    const turn = [
      ...set.map(({ kind, metadata }) => `+${kind} ${metadata.name}`),
      ...removed.map(({ kind, metadata }) => `-${kind} ${metadata.name}`),
      ...statusWritten.map((key) => `status ${key}`),
    ]
    if (turn.length > 0) turns.push(turn)
  })
  const names = () => store.list().map(({ kind, metadata }) => `${kind} ${metadata.name}`)
  const codes = () => store.problems().map(({ code, message }) => `${code} ${message}`)
  return { api, store, writes, turns, told, names, codes }
}

test('the first change has everything, and each later one what changed', async () => {
  const { api, store, turns } = await open({ [GATEWAYS]: [gateway()], [ROUTES]: [route('a'), route('b')] })
  expect(store.takeChange()).toEqual({ set: [], removed: [] })
  await store.synced
  await eventually('the first change', () => turns.length === 1)
  expect(turns[0]!.toSorted()).toEqual(['+Gateway main', '+HTTPRoute a', '+HTTPRoute b'])
  await eventually('a watch', () => api.isWatched(ROUTES))
  api.put(ROUTES, route('c'))
  await eventually('an object', () => turns.length === 2)
  api.put(ROUTES, route('a', { spec: { parentRefs: [{ name: 'other' }] } }))
  await eventually('a change', () => turns.length === 3)
  api.remove(ROUTES, 'default/b')
  await eventually('a removal', () => turns.length === 4)
  expect(turns.slice(1)).toEqual([['+HTTPRoute c'], ['+HTTPRoute a'], ['-HTTPRoute b']])
})

test('a watch that breaks goes on where it was, without a problem', async () => {
  const { api, store, turns, codes } = await open({ [ROUTES]: [route('a')] })
  await store.synced
  await eventually('a watch', () => api.isWatched(ROUTES))
  api.send(ROUTES, { type: 'BOOKMARK', object: { metadata: { resourceVersion: '77' } } })
  api.breakWatches(ROUTES)
  await eventually(
    'another watch',
    () => api.paths.filter((path) => /httproutes\?watch.*resourceVersion=77/.test(path)).length,
  )
  await eventually('another watch', () => api.isWatched(ROUTES))
  api.put(ROUTES, route('b'))
  await eventually('an object', () => turns.flat().includes('+HTTPRoute b'))
  expect(api.paths.filter((path) => path.startsWith(`${ROUTES}?limit`))).toHaveLength(1)
  expect(codes().filter((text) => text.startsWith('api-unreadable'))).toEqual([])
})

test.each<[string, (api: FakeApi) => void]>([
  [
    'an event',
    (api) => api.send(ROUTES, { type: 'ERROR', object: { code: 410, reason: 'Expired', message: 'too old' } }),
  ],
  [
    'a status',
    (api) => {
      let isTold = false
      api.special = ({ path }, response) => {
        if (isTold || !path.startsWith(`${ROUTES}?watch`)) return
        isTold = true
        answerJson(response, { reason: 'Expired' }, 410)
      }
      api.breakWatches(ROUTES)
    },
  ],
])('410 as %s: the list is read again, with what was missed', async (_, expire) => {
  const { api, store, names, codes } = await open({ [ROUTES]: [route('a'), route('b')] })
  await store.synced
  await eventually('a watch', () => api.isWatched(ROUTES))
  api.putSilently(ROUTES, route('c'))
  expire(api)
  await eventually('what was missed', () => names().includes('HTTPRoute c'))
  expect(names()).toEqual(['HTTPRoute a', 'HTTPRoute b', 'HTTPRoute c'])
  expect(codes().filter((text) => text.startsWith('api-unreadable'))).toEqual([])
})

test('a kind that is absent is off until the API serves it, in the version that it serves', async () => {
  const { api, store, names, codes } = await open({})
  await store.synced
  const absent = `kind-not-served ${api.address} serves no TLSRoute in v1, v1alpha3, v1alpha2, so there are none; they are read as soon as it does`
  expect(codes()).toContain(absent)
  api.serve(TLS_ROUTES)
  await eventually('a watch', () => api.isWatched(TLS_ROUTES))
  api.put(
    TLS_ROUTES,
    route('tls', { spec: { parentRefs: [{ name: 'main' }], rules: [{ backendRefs: [{ name: 'a', port: 1 }] }] } }),
  )
  await eventually('an object', () => names().includes('TLSRoute tls'))
  expect(codes()).not.toContain(absent)
  expect(store.resourceOf('TLSRoute/default/tls')?.apiVersion).toBe('gateway.networking.k8s.io/v1alpha2')
  expect([store.versionOf(findKind('TLSRoute')!), store.versionOf(findKind('TCPRoute')!)]).toEqual(['v1alpha2', 'v1'])
  api.withdraw(TLS_ROUTES)
  await eventually('no object', () => !names().includes('TLSRoute tls'))
  expect(codes()).toContain(absent)
})

test('a server that has just started and does not know a kind yet loses none of its objects', async () => {
  const { api, store, turns } = await open({ [ROUTES]: [route('a')] })
  await store.synced
  await eventually('a watch', () => api.isWatched(ROUTES))
  let [failures, absences] = [0, 0]
  api.special = ({ path }, response) => {
    if (!path.startsWith(ROUTES) || absences > 0) return
    if (path.includes('watch=true') || failures === 0) {
      failures++
      response.writeHead(503).end()
    } else {
      absences++
      response.writeHead(404).end()
    }
  }
  api.breakWatches(ROUTES)
  await eventually('a list without the kind', () => absences === 1)
  api.putSilently(ROUTES, route('b'))
  await eventually('the next list', () => turns.flat().includes('+HTTPRoute b'))
  expect(failures).toBeGreaterThan(1)
  expect(turns.flat()).not.toContain('-HTTPRoute a')
})

test('without permission, a store is not synced and says why, until it is permitted', async () => {
  let isForbidden = true
  const { api, store } = await open(
    { [ROUTES]: [route('a')] },
    {
      special: ({ path }, response) => {
        if (isForbidden && path.startsWith(ROUTES)) answerJson(response, { message: 'httproutes is forbidden' }, 403)
      },
    },
  )
  const refusal = `HTTPRoute: ${api.address}${ROUTES}?limit=500 responded with status 403: httproutes is forbidden (credential: a user)`
  await eventually('a reason', () => store.whyNotReady().join() === `not read yet: ${refusal}`)
  expect(store.problems()).toContainEqual({
    path: '',
    code: 'api-unreadable',
    severity: 'error',
    message: `${refusal}; what was read before stays in force, and the gateway tries again`,
    file: '',
  })
  isForbidden = false
  await store.synced
  expect([store.whyNotReady(), store.list().length]).toEqual([[], 1])
})

test('an API that is gone leaves the objects, and is one problem', async () => {
  const { api, store, names, codes } = await open({ [ROUTES]: [route('a')] })
  await store.synced
  await api[Symbol.asyncDispose]()
  await eventually('a problem', () =>
    codes().some((text) => /^api-unreadable (?:\w+, )+\w+: .*cannot be read: connection refused/.test(text)),
  )
  expect(names()).toEqual(['HTTPRoute a'])
})

test('an invalid version leaves the last valid one in force, and an object that was never valid refuses', async () => {
  const valid = policy({ secretRef: { name: 'x' } })
  const { api, store, names, codes } = await open({
    [POLICIES]: [valid, { ...policy({ nonsense: 1 }), metadata: { name: 'never', namespace: 'default' } }],
  })
  await store.synced
  await eventually('a watch', () => api.isWatched(POLICIES))
  api.put(POLICIES, policy({ nonsense: 1 }))
  const edits = await eventually('a refused edit', () =>
    store.refusedEdits().size > 0 ? store.refusedEdits() : undefined,
  )
  expect([...edits]).toEqual([['ProxyPolicy/default/keys', expect.stringMatching(/nonsense.*\[unknown-field\]/)]])
  expect(names()).toEqual(['ProxyPolicy keys'])
  expect(codes()).toContainEqual(expect.stringMatching(/^unknown-field ProxyPolicy default\/keys: .*nonsense/))
  expect([...store.takeChange().refused!]).toEqual(['ProxyPolicy/default/never'])
  expect(store.takeChange().refusedPolicies!.map(({ origin }) => origin.name)).toEqual(['never'])
})

test('only Secrets that objects refer to are read, and only while they do', async () => {
  const { api, store, turns, names } = await open({
    [GATEWAYS]: [gateway({ name: 'cert' }, { name: 'none' })],
    [POLICIES]: [policy({ secretSelector: { matchLabels: { app: 'shop' } } })],
    [SECRETS]: [secret('cert'), secret('other'), secret('labelled', { app: 'shop' })],
  })
  await store.synced
  await eventually('the first change', () => turns.length === 1)
  const secrets = () =>
    names()
      .filter((name) => name.startsWith('Secret'))
      .toSorted()
  expect(secrets()).toEqual(['Secret cert', 'Secret labelled'])
  // The first turn has them, so no plan is without them.
  expect(turns[0]).toEqual(expect.arrayContaining(['+Gateway main', '+Secret cert', '+Secret labelled']))
  const read = () => api.paths.filter((path) => /\/secrets\/\w/.test(path)).map((path) => path.replace(/.*\//, ''))
  expect(read().toSorted()).toEqual(['cert', 'labelled'])
  await eventually('a watch', () => api.isWatched(SECRETS) && api.isWatched(GATEWAYS))
  api.put(SECRETS, secret('none'))
  await eventually('a Secret that was missing', () => secrets().includes('Secret none'))
  api.put(SECRETS, secret('cert', { changed: 'yes' }))
  await eventually('a Secret that changed', () => read().filter((name) => name === 'cert').length === 2)
  api.put(SECRETS, secret('other', { app: 'shop' }))
  await eventually('a Secret that is selected now', () => secrets().includes('Secret other'))
  api.put(GATEWAYS, gateway({ name: 'none' }))
  await eventually('a Secret that nothing refers to', () => !secrets().includes('Secret cert'))
  api.remove(SECRETS, 'default/none')
  await eventually('a Secret that was deleted', () => !secrets().includes('Secret none'))
  expect(secrets()).toEqual(['Secret labelled', 'Secret other'])
})

test('an object and the Secret that it refers to arrive together', async () => {
  const { api, store, turns } = await open({ [GATEWAYS]: [], [SECRETS]: [secret('cert')] })
  await store.synced
  await eventually('a watch', () => api.isWatched(GATEWAYS))
  api.put(GATEWAYS, gateway({ name: 'cert' }))
  await eventually('the Gateway', () => turns.length > 0)
  expect(turns).toEqual([['+Gateway main', '+Secret cert']])
})

test('a Secret that cannot be read is a problem, and is read when that is permitted', async () => {
  let isForbidden = true
  const { api, store, names, codes } = await open(
    { [GATEWAYS]: [gateway({ name: 'cert' })], [SECRETS]: [secret('cert')] },
    {
      special: ({ path }, response) => {
        if (isForbidden && path.endsWith('/cert')) answerJson(response, { message: 'forbidden' }, 403)
      },
    },
  )
  await store.synced
  expect(codes()).toContain(
    `api-unreadable Secret default/cert: ${api.address}/api/v1/namespaces/default/secrets/cert responded with status 403: forbidden (credential: a user); what was read before stays in force, and the gateway tries again`,
  )
  isForbidden = false
  await eventually('the Secret', () => names().includes('Secret cert'))
  expect(codes().filter((text) => text.startsWith('api-unreadable'))).toEqual([])
})

test('objects of some namespaces, for a controller that may read nothing else', async () => {
  const elsewhere = (name: string) => ({ ...route(name), metadata: { name, namespace: 'b' } })
  const { api, store, names, codes } = await open(
    {
      [GATEWAYS]: [gateway({ name: 'cert', namespace: 'a' })],
      [ROUTES]: [route('mine'), elsewhere('theirs')],
    },
    {
      namespaces: ['default'],
      special: ({ path }, response) => {
        if (!path.includes('/namespaces/default/')) answerJson(response, { message: 'forbidden' }, 403)
      },
    },
  )
  await store.synced
  expect(names()).toEqual(['Gateway main', 'HTTPRoute mine'])
  expect(codes()).toContainEqual(expect.stringContaining('api-unreadable GatewayClass: '))
  expect(codes()).toContain(
    'secret-not-read Gateway default/main: Secret a/cert is outside of the namespaces that the gateway reads (default), so it is not used',
  )
  expect(api.paths).toContain('/api/v1/namespaces?limit=500&fieldSelector=metadata.name%3Ddefault')
})

test('a status that the gateway wrote is no change when it comes back, and one of another controller is', async () => {
  const { api, store, turns, told, writes } = await open({ [ROUTES]: [route('a')] })
  await store.synced
  await eventually('a watch', () => api.isWatched(ROUTES) && turns.length === 1)
  const ours = { parents: [{ controllerName: 'ours' }] }
  store.writeStatuses({
    written: [
      ['HTTPRoute/default/a', ours],
      ['HTTPRoute/default/gone', {}],
    ],
    withdrawn: [],
  })
  store.writeStatuses({ written: [['HTTPRoute/default/a', ours]], withdrawn: [] })
  expect(writes).toEqual([{ written: [['HTTPRoute/default/a', ours]], withdrawn: [] }])
  const statuses = () => [store.statusOf('HTTPRoute/default/a'), store.seen('HTTPRoute/default/a')?.status]
  expect(statuses()).toEqual([ours, undefined])
  const version = store.resourceOf('HTTPRoute/default/a')?.metadata.resourceVersion
  told.mockClear()
  api.put(ROUTES, route('a', { status: ours }))
  await eventually('a version', () => store.resourceOf('HTTPRoute/default/a')?.metadata.resourceVersion !== version)
  expect(statuses()).toEqual([ours, ours])
  api.put(ROUTES, route('a', { status: { parents: [{ controllerName: 'other' }] } }))
  await eventually('a change', () => turns.length === 2)
  expect(turns[1]).toEqual(['+HTTPRoute a', 'status HTTPRoute/default/a'])
  expect(told).toHaveBeenCalledOnce()
})

test('a status that another replica writes instead counts as it is in the API', async () => {
  const { api, store, turns, writes } = await open({ [ROUTES]: [route('a')] })
  await store.synced
  await eventually('a watch', () => api.isWatched(ROUTES) && turns.length === 1)
  const ours = { parents: [{ controllerName: 'ours' }] }
  const write = () => store.writeStatuses({ written: [['HTTPRoute/default/a', ours]], withdrawn: [] })
  write()
  store.forgetWrites()
  expect(store.statusOf('HTTPRoute/default/a')).toBeUndefined()
  // Nobody has written it.
  write()
  expect(writes).toHaveLength(2)
})

test('what is no Kubernetes API is said', async () => {
  const { api, store } = await open({}, { special: (_, response) => answerJson(response, {}, 404) })
  await eventually('a reason', () =>
    store.whyNotReady().some((text) => text.includes(`${api.address} serves no pods; is it a Kubernetes API?`)),
  )
})
