import { expect, test } from 'vitest'
import type { PlanItem } from '#plan/item.ts'
import {
  backendItem,
  exchangeReading,
  type FieldName,
  listenerItem,
  livePlan,
  matchOf,
  policyItem,
  routeItem,
  rules,
  toBackend,
} from '../testing.ts'
import { Decision, decide } from './decide.ts'
import { prepareAttempt } from './prepare-attempt.ts'

const GATEWAY = 'Gateway/default/main'
const OPEN = 'HTTPRoute/default/open'
const ADMIN = 'HTTPRoute/default/admin'

/** A route that matches everything, and one for `/admin`. */
const BASE_ITEMS = [
  listenerItem(),
  routeItem('open', { backends: toBackend('b') }),
  routeItem('admin', { matches: [matchOf('prefix /admin')], backends: toBackend('b') }),
  backendItem('b'),
]

/** The result of a request: the name of its route, or the code of its refusal with the detail. */
async function resultOf(target: string, ...items: readonly PlanItem[]) {
  const { plan, socket } = livePlan(...new Map([...BASE_ITEMS, ...items].map((item) => [item.key, item])).values())
  const { exchange } = exchangeReading({ target }, '')
  const decision = new Decision()
  let outcome = await decide({ index: plan.index, socket, random: () => 0 }, exchange, decision)
  const endpoint = decision.backend?.groups[0]?.[0]
  if (outcome === undefined && endpoint !== undefined) outcome = await prepareAttempt(endpoint, exchange, decision)
  const refusal = outcome?.kind === 'refusal' ? outcome : undefined
  return {
    end: refusal?.code ?? decision.rule?.item.route.name,
    detail: refusal?.detail,
    forwarded: exchange.request.target,
  }
}

test.each<[target: string, end: string]>([
  ['/%61dmin/x', 'admin'],
  ['//admin/x', 'admin'],
  ['/./admin', 'path-invalid'],
  ['/admin%2fx', 'path-ambiguous'],
  ['/admin%5cx', 'path-ambiguous'],
  ['/%2fadmin', 'path-ambiguous'],
  ['/admin;x/y', 'path-ambiguous'],
  ['/;x/admin', 'path-ambiguous'],
  ['/pub/..%2fadmin/x', 'path-invalid'],
  ['/pub/%2e%2e%2fadmin/x', 'path-invalid'],
  ['/.%2fadmin/x', 'path-invalid'],
  ['/admin/a%2fb', 'admin'],
  ['/@scope%2fname', 'open'],
  ['/bucket/key%2Fof;an%5Cobject', 'open'],
  ['/administrator%2fx', 'open'],
])('%s ends at %s', async (target, end) => {
  expect((await resultOf(target)).end).toBe(end)
})

test('a forwarded path is normalised, with its slashes and separators unchanged', async () => {
  expect((await resultOf('//%61/b%2fc?%61')).forwarded).toBe('//a/b%2Fc?%61')
})

test('the detail names the other path and both rules', async () => {
  expect((await resultOf('/admin%2fx')).detail).toBe(
    'a server may read /admin%2Fx as /admin/x, which HTTPRoute/default/admin/0 matches instead of HTTPRoute/default/open/0',
  )
  const narrow = routeItem('open', { matches: [matchOf('pattern /[^/]*')], backends: toBackend('b') })
  expect((await resultOf('/a%2fb', narrow)).detail).toBe('a server may read /a%2Fb as /a/b, which no rule matches')
})

test('the query does not depend on how the path is read', async () => {
  const queryParams = [{ name: 'v', type: 'Exact', value: '2' }] as const
  const next = routeItem('next', { matches: [matchOf('prefix /', { queryParams })], backends: toBackend('b') })
  expect((await resultOf('/a%2fb?v=2', next)).end).toBe('next')
})

test('a rule for a path with parameters matches it', async () => {
  const maps = routeItem('maps', { matches: [matchOf('prefix /maps;v=1')], backends: toBackend('b') })
  expect((await resultOf('/maps;v=1/x', maps)).end).toBe('maps')
  expect((await resultOf('/maps;v=2/x', maps)).end).toBe('open')
})

type FieldSpec = (expression: string) => [field: FieldName, spec: object]

const readers: [what: string, name: FieldName, target: string, spec: object][] = [
  ['a pre-routing rule', 'PreRouting.authorization', GATEWAY, rules('Deny', 'request.path == "/x"')],
  ['a rule of the route', 'traffic.authorization', OPEN, rules('Deny', 'request.uri.endsWith("x")')],
  ['a rule that may read everything', 'traffic.authorization', OPEN, rules('Deny', 'toJson(variables()) == "x"')],
  [
    'a condition',
    'traffic.directResponse',
    OPEN,
    { conditional: [{ condition: 'request.pathAndQuery == "/x"', policy: { status: 204 } }] },
  ],
  [
    'a transformation of the response',
    'traffic.transformation',
    OPEN,
    { response: { set: [{ name: 'x', value: 'request.path' }] } },
  ],
  [
    'a transformation of the backend',
    'backend.transformation',
    'ProxyBackend/default/b',
    { request: { set: [{ name: 'x', value: 'request.path' }] } },
  ],
]
test.each(readers)('where %s reads the path, an ambiguous path is refused', async (_, name, at, spec) => {
  const policy = policyItem(name, at, spec)
  expect((await resultOf('/a%2fb', policy)).end).toBe('path-ambiguous')
  expect((await resultOf('/a;b', policy)).end).toBe('path-ambiguous')
  expect((await resultOf('/a%20b', policy)).end).toBe('open')
})

test.each<[what: string, backend: PlanItem, spec: FieldSpec]>([
  [
    'MCP rules',
    backendItem('b', {
      type: 'mcp',
      spec: { sessionRouting: 'Stateful', targets: [{ name: 't', entry: 'fixed', host: 'mcp.test', port: 81 }] },
    }),
    (expression) => ['backend.mcp', { authorization: rules('Deny', expression) }],
  ],
  [
    'AI transformations',
    backendItem('b', { type: 'ai', spec: { provider: { providerOne: {} } } }),
    (expression) => [
      'backend.ai',
      { routes: { '*': 'Passthrough' }, transformations: [{ field: 'user', expression: `string(${expression})` }] },
    ],
  ],
])('with %s that read the path, an ambiguous path is refused', async (_, backend, specOf) => {
  const endWith = async (expression: string) => {
    const [field, spec] = specOf(expression)
    return (await resultOf('/a%2fb', backend, policyItem(field, 'ProxyBackend/default/b', spec))).end
  }
  expect(await endWith('request.path == "/x"')).toBe('path-ambiguous')
  expect(await endWith('request.method == "PUT"')).toBe('open')
})

test('the detail names the expression', async () => {
  const policy = policyItem(
    'traffic.authorization',
    OPEN,
    rules('Deny', 'request.method == "PUT"', 'request.path == "/x"'),
  )
  expect((await resultOf('/a%2fb', policy)).detail).toBe(
    'a server may read /a%2Fb as /a/b, and spec.traffic.authorization.policy.matchExpressions[1] of ProxyPolicy default/policy reads the path',
  )
})

const indifferent: [what: string, name: FieldName, target: string, spec: object][] = [
  ['that reads something else', 'traffic.authorization', OPEN, rules('Deny', 'request.host == "x"')],
  ['of another route', 'traffic.authorization', ADMIN, rules('Deny', 'request.path == "/x"')],
  ['of the log', 'frontend.accessLog', GATEWAY, { filter: 'request.path == "/x"' }],
  ['of metrics', 'frontend.metrics', GATEWAY, { attributes: { add: [{ name: 'x', expression: 'request.path' }] } }],
  [
    'of health',
    'backend.health',
    'ProxyBackend/default/b',
    { unhealthyCondition: 'request.path == "/x" && response.code > 499' },
  ],
]
test.each(indifferent)('an expression %s does not cause a refusal', async (_, name, at, spec) => {
  expect((await resultOf('/a%2fb', policyItem(name, at, spec))).end).toBe('open')
})

test('rules read the matched form', async () => {
  const deny = policyItem('PreRouting.authorization', GATEWAY, rules('Deny', 'request.path.startsWith("/admin/")'))
  for (const target of ['/admin/x', '/%61dmin/x', '//admin//x', '/admin/%2e%2e%2e']) {
    expect((await resultOf(target, deny)).end).toBe('authorization-denied')
  }
  const reserved = policyItem('PreRouting.authorization', GATEWAY, rules('Deny', 'request.path == "/@a:b"'))
  expect((await resultOf('/%40a%3ab', reserved)).end).toBe('authorization-denied')
})

// Paths that policies write.

const setPath = (name: FieldName, at: string, path: string) =>
  policyItem(name, at, { request: { set: [{ name: ':path', value: path }] } })

test.each<[what: string, name: FieldName, at: string]>([
  ['before routing', 'PreRouting.transformation', GATEWAY],
  ['of the route', 'traffic.transformation', OPEN],
  ['of the backend', 'backend.transformation', 'ProxyBackend/default/b'],
])('a transformation %s cannot write a path that would be refused from a client', async (_, name, at) => {
  expect(await resultOf('/x', setPath(name, at, '"/pub/%2e%2e%2fadmin"'))).toMatchObject({
    end: 'path-invalid',
    detail: 'the path set by policies has a dot segment',
  })
  expect((await resultOf('/x', setPath(name, at, '"/%zz"'))).end).toBe('path-invalid')
  expect((await resultOf('/x', setPath(name, at, '"//%61%2f"'))).forwarded).toBe('//a%2F')
})

test('a path that a policy wrote before routing can be ambiguous too', async () => {
  expect((await resultOf('/x', setPath('PreRouting.transformation', GATEWAY, '"/%61dmin/x"'))).end).toBe('admin')
  expect((await resultOf('/x', setPath('PreRouting.transformation', GATEWAY, '"/admin%2fx"'))).end).toBe(
    'path-ambiguous',
  )
  expect((await resultOf('/x', setPath('PreRouting.transformation', GATEWAY, '"/files/a%2fb"'))).end).toBe('open')
})

test('a path that a policy wrote after routing is checked against the expressions of the backend', async () => {
  const made = setPath('traffic.transformation', OPEN, '"/admin%2fx"')
  expect(await resultOf('/x', made)).toMatchObject({ end: 'open', forwarded: '/admin%2Fx' })
  const reader = policyItem('backend.transformation', 'ProxyBackend/default/b', {
    request: { set: [{ name: 'x', value: 'request.path' }] },
  })
  expect((await resultOf('/x', made, reader)).end).toBe('path-ambiguous')
})

test('a rewrite matches the prefix in any spelling, and forwards the rest unchanged', async () => {
  const rewrite = policyItem('traffic.urlRewrite', `${ADMIN}/0#0`, {
    path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/v1' },
  })
  const route = { ...rewrite, target: `${ADMIN}` }
  expect(await resultOf('//%61dmin///x%2fy?q', route)).toMatchObject({ end: 'admin', forwarded: '/v1///x%2Fy?q' })
})

test('for an LLM backend, the request type must not depend on how the path is read', async () => {
  const ai = backendItem('b', {
    type: 'ai',
    spec: { groups: [{ providers: [{ name: 'p', providerOne: {} }] }] },
  })
  const types = policyItem('backend.ai', 'ProxyBackend/default/b', {
    routes: { '/v1/models': 'Models', '*': 'Passthrough' },
  })
  const result = await resultOf('/v1%2fmodels', ai, types)
  expect(result).toMatchObject({
    end: 'path-ambiguous',
    detail: 'a server may read /v1%2Fmodels as /v1/models, which is of type Models, not Passthrough',
  })
  expect((await resultOf('/models/org%2fname', ai, types)).end).toBe('open')
})
