import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadPlan } from '#cli/load-plan.ts'
import { codeOf } from '#policies/shared/testing.ts'
import { FileStore } from '#store/files.ts'
import { backendYaml, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import { seeRequest } from '#test/support/see-request.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'

/** A route that is invalid at the very first start: its requests do not reach a less specific route without its policies (decision A-09). */

const OPEN = joinYaml(gatewayYaml(8080), backendYaml('web', 9000), routeYaml('all', '/', 'web'))
const AUTHORIZED = `      filters:
        - type: ExternalAuth
          externalAuth: { protocol: HTTP, backendRef: { group: gatewright.dev, kind: ProxyBackend, name: web }, http: {} }
`
const ADMIN = routeYaml('admin', '/admin', 'web', AUTHORIZED)

const refusing: [what: string, edit: (yaml: string) => string][] = [
  ['an unknown value in a filter', (yaml) => yaml.replace('protocol: HTTP', 'protocol: http')],
  [
    'a reference without a port',
    (yaml) => yaml.replace('group: gatewright.dev, kind: ProxyBackend, name: web }]', 'name: web }]'),
  ],
  ['a misspelt list of filters with an authorization server', (yaml) => yaml.replace('filters:', 'filter:')],
  ['filters in another place', (yaml) => yaml.replace('      filters:', '  filters:')],
  ['an unknown field of an authorization server', (yaml) => yaml.replace('http: {} }', 'http: {}, forwardbody: {} }')],
  [
    'a label that is none',
    (yaml) => yaml.replace('protocol: HTTP', 'protocol: http').replace('name: admin }', 'name: admin, labels: 7 }'),
  ],
  [
    'a second match that is unreadable',
    (yaml) => yaml.replace('value: /admin } }]', 'value: /admin } }, { path: { type: Prefix } }]'),
  ],
  ['a misspelt kind', (yaml) => yaml.replace('HTTPRoute', 'HTTPRout')],
  ['a kind in lower case', (yaml) => yaml.replace('HTTPRoute', 'httproute')],
  ['a misspelt group', (yaml) => yaml.replace('gateway.networking.k8s.io', 'gateway.network.k8s.io')],
  ['an unknown version', (yaml) => yaml.replace('k8s.io/v1', 'k8s.io/v2')],
  [
    'a second rule that is unreadable',
    (yaml) => yaml.replace('  rules:', '  rules:\n    - matches: [{ path: { type: Prefix } }]'),
  ],
]

test.each(refusing)('%s: the rules of the route refuse', async (_, edit) => {
  const seen = await seeRequest(joinYaml(OPEN, edit(ADMIN)), { target: '/admin/users' })
  expect(codeOf(seen.outcome)).toBe('no-valid-backends')
  expect(seen.outcome).toMatchObject({ detail: 'HTTPRoute default/admin has errors and no earlier valid version' })
  expect(seen.findings).toContainEqual(
    expect.objectContaining({
      code: 'route-refuses',
      origin: expect.objectContaining({ kind: 'HTTPRoute', name: 'admin' }),
      message: 'a gateway that starts with it refuses all requests that its rules match until it is valid',
    }),
  )
  const other = await seeRequest(joinYaml(OPEN, edit(ADMIN)), { target: '/' })
  expect(other.outcome).toBeUndefined()
})

test('policies of the route run first', async () => {
  const policy = policyYaml('users', 'HTTPRoute', 'admin', {
    traffic: { basicAuthentication: { users: ['ann:{SHA}QY7lFvHLCVxQ/y8Qp2GSiJwoHzo='] } },
  })
  const route = ADMIN.replace('protocol: HTTP', 'protocol: http')
  const seen = await seeRequest(joinYaml(OPEN, route, policy), { target: '/admin' })
  expect(codeOf(seen.outcome)).toBe('basic-missing')
})

test('a GRPCRoute refuses the calls that it matches', async () => {
  const route = `
apiVersion: gateway.networking.k8s.io/v1
kind: GRPCRoute
metadata: { name: calls }
spec:
  parentRefs: [{ name: main }]
  rules:
    - matches: [{ method: { service: shop.Orders } }]
      backendRefs: [{ name: web }]
`
  const request = { method: 'POST', target: '/shop.Orders/Cancel' }
  const seen = await seeRequest(joinYaml(gatewayYaml(8080), route), request)
  expect(codeOf(seen.outcome)).toBe('no-valid-backends')
})

test('a route without mistakes in what protects it is used without unknown fields', async () => {
  const seen = await seeRequest(joinYaml(OPEN, routeYaml('admin', '/admin', 'web', '      retries: {}\n')), {
    target: '/admin',
  })
  expect(seen.outcome).toBeUndefined()
})

function open(yaml: string) {
  const file = join(temporaryFolder(), 'objects.yaml')
  writeFileSync(file, yaml)
  const store = new FileStore([file])
  return {
    store,
    write: (next: string) => {
      writeFileSync(file, next)
      store.reload()
    },
  }
}

const unreadable: [what: string, edit: (yaml: string) => string][] = [
  ['no match is readable', (yaml) => yaml.replace('type: PathPrefix', 'type: pathprefix')],
  [
    'one of two matches is',
    (yaml) => yaml.replace('value: /admin } }]', 'value: /admin } }, { path: { type: Prefix } }]'),
  ],
  ['a hostname', (yaml) => yaml.replace('  rules:', '  hostnames: [a.test, "a b"]\n  rules:')],
  ['a parent', (yaml) => yaml.replace('{ name: main }]', '{ name: main }, { title: other }]')],
  ['no list of rules', (yaml) => yaml.replace(/rules:[\s\S]*/, 'rules: {}\n')],
]

test.each(unreadable)('what the route matches is unknown (%s): a gateway that starts is not ready', (_, edit) => {
  const wrong = edit(ADMIN)
  expect(wrong).not.toBe(ADMIN)
  const { store, write } = open(wrong)
  expect(store.unknownProtection().map(({ code, message }) => `${code} ${message}`)).toEqual([
    'route-matches-unknown not all requests that HTTPRoute default/admin matches are known because of its errors, so routes with other policies may serve them; a gateway that starts with it does not become ready',
  ])
  write(ADMIN)
  expect(store.unknownProtection()).toEqual([])
  write(wrong)
  expect(store.unknownProtection()).toEqual([])
})

test('a stand-in is no version of the route: it is replaced by every later one', () => {
  const wrong = ADMIN.replace('protocol: HTTP', 'protocol: http')
  const { store, write } = open(wrong)
  const specs = () =>
    store.list().map(({ refusal, spec }) => [refusal === undefined, JSON.stringify(spec).includes('/admin')])
  expect(specs()).toEqual([[false, true]])
  expect(store.stale()).toEqual([])
  expect([...store.refused()]).toEqual(['HTTPRoute/default/admin'])
  write(wrong.replace('/admin', '/other'))
  expect(specs()).toEqual([[false, false]])
  write(ADMIN)
  expect(specs()).toEqual([[true, true]])
  write(wrong)
  expect(specs()).toEqual([[true, true]])
  expect(store.stale()).toMatchObject([{ objects: ['HTTPRoute/default/admin'] }])
})

const duplicates: [what: string, first: string, second: string, target: string, code: string | undefined][] = [
  [
    'a more specific path',
    routeYaml('all', '/', 'web'),
    routeYaml('all', '/admin', 'web'),
    '/admin',
    'no-valid-backends',
  ],
  ['what the first route has', routeYaml('all', '/', 'web'), routeYaml('all', '/admin', 'web'), '/', undefined],
  ['a copy', routeYaml('all', '/', 'web'), routeYaml('all', '/', 'web'), '/', undefined],
  ['a less specific path', routeYaml('all', '/shop', 'web'), routeYaml('all', '/', 'web'), '/', 'no-valid-backends'],
  [
    'one with errors',
    routeYaml('all', '/', 'web'),
    ADMIN.replace('protocol: HTTP', 'protocol: x'),
    '/admin',
    'no-valid-backends',
  ],
]

test.each(duplicates)('a route with the name of another one refuses what it alone matches: %s', async (_, ...it) => {
  const [first, second, target, code] = it
  const objects = joinYaml(gatewayYaml(8080), backendYaml('web', 9000))
  const seen = await seeRequest(joinYaml(objects, first, second.replace('name: admin', 'name: all')), { target })
  expect(seen.outcome && codeOf(seen.outcome)).toBe(code)
})

test('the same across files: every duplicate refuses until it has a name of its own', async () => {
  const folder = temporaryFolder()
  const path = (name: string) => join(folder, name)
  writeFileSync(path('a.yaml'), OPEN)
  writeFileSync(path('b.yaml'), joinYaml(routeYaml('all', '/b', 'web'), routeYaml('all', '/c', 'web')))
  const store = new FileStore([folder])
  const routes = () =>
    store
      .list()
      .filter(({ kind }) => kind === 'HTTPRoute')
      .map(({ metadata, refusal, origin }) => `${metadata.name} ${refusal} ${origin.name}`)
  expect(routes()).toEqual(['all undefined all', 'all@2 duplicate all', 'all@3 duplicate all'])
  expect(store.problems()).toMatchObject([
    { code: 'duplicate-object', file: path('b.yaml') },
    { code: 'duplicate-object', file: path('b.yaml') },
  ])
  const { items, findings } = loadPlan(store)
  expect([...items.keys()].filter((key) => key.startsWith('HTTPRoute'))).toHaveLength(3)
  expect(findings).toContainEqual(
    expect.objectContaining({
      code: 'route-refuses',
      severity: 'error',
      origin: expect.objectContaining({ name: 'all', file: path('b.yaml') }),
      message:
        'refuses all requests that its rules match until it has a name of its own, because less specific routes would serve them with other policies',
    }),
  )
  store.takeChange()
  writeFileSync(path('b.yaml'), joinYaml(routeYaml('b', '/b', 'web')))
  store.reload()
  expect(routes()).toEqual(['all undefined all', 'b undefined b'])
  const { set, removed } = store.takeChange()
  expect(set.map(({ metadata }) => metadata.name)).toEqual(['b'])
  expect(removed.map(({ metadata }) => metadata.name)).toEqual(['all@2', 'all@3'])
})

test('the stand-in of a misspelt kind is replaced by the route, and is found in its file', () => {
  const { store, write } = open(joinYaml(OPEN, ADMIN.replace('HTTPRoute', 'HTTPRout')))
  const standIn = store.list().find(({ refusal }) => refusal !== undefined)!
  expect(store.locate(standIn.origin, 'spec.rules')).toMatchObject({ line: standIn.origin.line! + 5 })
  expect(store.problems()).toMatchObject([
    { code: 'unknown-kind', message: 'unknown kind "HTTPRout", did you mean "HTTPRoute"?' },
  ])
  write(joinYaml(OPEN, ADMIN))
  write(joinYaml(OPEN, ADMIN.replace('HTTPRoute', 'HTTPRout')))
  expect(store.list().filter(({ refusal }) => refusal !== undefined)).toEqual([])
  expect(store.stale()).toMatchObject([{ objects: ['HTTPRoute/default/admin'] }])
})

test.each(['UDPRoute', 'HTTPRouteList'])(
  'a kind that is not certainly a route for requests has no stand-in: %s',
  (kind) => {
    const { store } = open(ADMIN.replace('HTTPRoute', kind))
    expect(store.list()).toEqual([])
  },
)
