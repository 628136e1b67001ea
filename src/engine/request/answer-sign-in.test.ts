import { expect, test } from 'vitest'
import type { PlanItem, RouteItem } from '#plan/item.ts'
import { type ExchangeInputs, exchangeWith } from '#policies/shared/testing.ts'
import { verifies } from '#test/support/verifies.ts'
import { backendItem, listenerItem, livePlan, matchOf, policyItem, routeItem, toBackend } from '../testing.ts'
import { Decision, decide } from './decide.ts'

const GATEWAY = 'Gateway/default/main'
const RESOURCE = '/.well-known/oauth-protected-resource'
const SERVER = '/.well-known/oauth-authorization-server'

function jwt(more: object = {}) {
  const jwks = { inline: '{"keys":[]}' }
  return { mode: 'Strict', providers: [{ issuer: 'https://id.example.com', audiences: ['a'], jwks }], mcp: {}, ...more }
}

/** A route of that name to backend `b`, with these matches. */
function route(name: string, ...matches: RouteItem['matches']): PlanItem {
  return routeItem(name, { backends: toBackend('b'), matches })
}

function guard(name: string, more?: object): PlanItem {
  return policyItem('traffic.jwtAuthentication', `HTTPRoute/default/${name}`, jwt(more))
}

type At = ReturnType<typeof livePlan>

const planOf = (...items: readonly PlanItem[]) => livePlan(listenerItem(), backendItem('b'), ...items)

/** The resource of an answer; else the code of a refusal, `forwarded`, or the status of another answer. */
async function ask({ plan, socket }: At, target: string, inputs: ExchangeInputs = {}): Promise<string> {
  const decision = new Decision()
  const exchange = exchangeWith({ target, ...inputs })
  const outcome = await decide({ index: plan.index, socket, random: () => 0 }, exchange, decision)
  if (outcome === undefined) return `forwarded to ${decision.rule?.item.route.name}`
  if (outcome.kind === 'refusal') return `${outcome.code} of ${decision.rule?.item.route.name ?? 'no route'}`
  const { resource } = JSON.parse(String(outcome.body ?? '{}')) as { resource?: string }
  return `${resource ?? outcome.head.status} of ${decision.rule?.item.route.name ?? 'no route'}`
}

verifies(
  'traffic.jwtAuthentication.mcp/metadata-endpoints',
  'the listener serves the endpoints of every path',
  async () => {
    const at = planOf(route('r', matchOf('prefix /mcp')), guard('r'))
    expect(await ask(at, `${RESOURCE}/mcp`)).toBe('http://example.com/mcp of r')
    expect(await ask(at, `${RESOURCE}/mcp/deeper`)).toBe('http://example.com/mcp/deeper of r')
    expect(await ask(at, `${RESOURCE}/mcp?x=1`)).toBe('http://example.com/mcp of r')
    expect(await ask(at, `${SERVER}/mcp`)).toBe('sign-in-unavailable of r')
    expect(await ask(at, `${SERVER}/mcp/client-registration`, { method: 'OPTIONS' })).toBe('204 of r')
    // The address without a path: there is only one resource.
    expect(await ask(at, RESOURCE)).toBe('http://example.com/mcp of r')
    expect(await ask(at, `${RESOURCE}/`)).toBe('http://example.com/mcp of r')
    // No such resource, and no such endpoint.
    for (const target of [
      `${RESOURCE}/other`,
      `${RESOURCE}X/mcp`,
      '/.well-known/openid-configuration',
      '/.well-known/x',
    ]) {
      expect(await ask(at, target), target).toBe('route-not-found of no route')
    }
    expect(await ask(at, '/mcp')).toBe('jwt-missing of r')
  },
)

test('without mcp nothing is served', async () => {
  const at = planOf(route('r', matchOf('prefix /')), guard('r', { mcp: undefined }))
  expect(await ask(at, `${RESOURCE}/mcp`)).toBe('jwt-missing of r')
})

test('the address without a path is that of the root, or of the only resource', async () => {
  const two = [route('r', matchOf('prefix /a')), guard('r'), route('s', matchOf('exact /b'))]
  expect(await ask(planOf(...two, guard('s')), RESOURCE)).toBe('route-not-found of no route')
  expect(await ask(planOf(...two), RESOURCE)).toBe('http://example.com/a of r')
  const root = planOf(...two, guard('s'), route('t', matchOf('prefix /')), guard('t'))
  expect(await ask(root, RESOURCE)).toBe('http://example.com of t')
  const same = planOf(route('r', matchOf('GET prefix /a'), matchOf('POST prefix /a')), guard('r'))
  expect(await ask(same, RESOURCE)).toBe('http://example.com/a of r')
  const byMethod = [
    route('r', matchOf('GET prefix /a/')),
    guard('r'),
    route('s', matchOf('POST prefix /a')),
    guard('s'),
  ]
  expect(await ask(planOf(...byMethod), RESOURCE)).toBe('http://example.com/a of r')
  const exact = planOf(route('r', matchOf('exact /')), guard('r'), route('s', matchOf('prefix /a')), guard('s'))
  expect(await ask(exact, RESOURCE)).toBe('http://example.com of r')
  const pattern = planOf(route('r', matchOf('pattern /a.*')), guard('r'))
  expect(await ask(pattern, RESOURCE)).toBe('route-not-found of no route')
  expect(await ask(pattern, `${RESOURCE}/ab`)).toBe('http://example.com/ab of r')
})

test('of a host with very many rules the only resource is not looked for', async () => {
  const many = (count: number) => Array.from({ length: count }, (_, i) => route(`x${i}`, matchOf(`exact /x${i}`)))
  const guarded = [route('r', matchOf('prefix /a')), guard('r')]
  expect(await ask(planOf(...guarded, ...many(255)), RESOURCE)).toBe('http://example.com/a of r')
  expect(await ask(planOf(...guarded, ...many(256)), RESOURCE)).toBe('route-not-found of no route')
})

test('the rules that may take requests for the path decide, whatever else they compare', async () => {
  const site = route('site', matchOf('prefix /'))
  const at = planOf(site, route('r', matchOf('POST exact /mcp')), guard('r'))
  expect(await ask(at, `${RESOURCE}/mcp`)).toBe('http://example.com/mcp of r')
  expect(await ask(at, `${RESOURCE}/other`)).toBe('forwarded to site')
  // A more specific rule takes all requests.
  const inner = planOf(route('r', matchOf('prefix /mcp')), guard('r'), route('open', matchOf('prefix /mcp/open')))
  expect(await ask(inner, `${RESOURCE}/mcp/open/x`)).toBe('route-not-found of no route')
  expect(await ask(inner, `${RESOURCE}/mcp/closed`)).toBe('http://example.com/mcp/closed of r')
  const byHeader = planOf(
    route('r', matchOf('prefix /mcp', { headers: [{ name: 'x-tenant', type: 'Exact', value: 'a' }] })),
    guard('r'),
    site,
  )
  expect(await ask(byHeader, `${RESOURCE}/mcp`)).toBe('http://example.com/mcp of r')
})

test("a user's own route for the address wins; one that is less specific does not", async () => {
  const guarded = [route('r', matchOf('prefix /')), guard('r')]
  for (const own of [`exact ${RESOURCE}/mcp`, `prefix ${RESOURCE}`, `prefix ${RESOURCE}/mcp`]) {
    expect(await ask(planOf(...guarded, route('own', matchOf(own))), `${RESOURCE}/mcp`), own).toBe('forwarded to own')
  }
  for (const other of [
    'prefix /.well-known',
    'pattern /.well-known/.*',
    `pattern ${RESOURCE}/.*`,
    `exact ${RESOURCE}`,
    `prefix ${SERVER}`,
  ]) {
    const at = planOf(...guarded, route('other', matchOf(other)))
    expect(await ask(at, `${RESOURCE}/mcp`), other).toBe('http://example.com/mcp of r')
  }
})

verifies(
  'traffic.jwtAuthentication.mcp/runs-first',
  'the endpoints are ahead of all policies of the route',
  async () => {
    const at = planOf(
      route('r', matchOf('prefix /mcp')),
      guard('r'),
      policyItem('traffic.authorization', 'HTTPRoute/default/r', {
        action: 'Deny',
        policy: { matchExpressions: ['true'] },
      }),
      policyItem('traffic.directResponse', GATEWAY, { status: 418 }),
    )
    expect(await ask(at, `${RESOURCE}/mcp`)).toBe('http://example.com/mcp of r')
    // And a token is asked for before anything else is.
    expect(await ask(at, '/mcp')).toBe('jwt-missing of r')
  },
)

test('a policy before routing serves every path, ahead of the others', async () => {
  const at = planOf(
    route('r', matchOf('prefix /mcp')),
    policyItem('PreRouting.jwtAuthentication', GATEWAY, jwt()),
    policyItem('PreRouting.authorization', GATEWAY, { action: 'Deny', policy: { matchExpressions: ['true'] } }),
  )
  expect(await ask(at, `${RESOURCE}/mcp`)).toBe('http://example.com/mcp of no route')
  expect(await ask(at, `${RESOURCE}/any`)).toBe('http://example.com/any of no route')
  expect(await ask(at, '/mcp')).toBe('jwt-missing of no route')
  const own = planOf(
    route('own', matchOf(`prefix ${RESOURCE}`)),
    policyItem('PreRouting.jwtAuthentication', GATEWAY, jwt()),
  )
  expect(await ask(own, `${RESOURCE}/mcp`)).toBe('jwt-missing of no route')
})

test('policies before routing that ask for no sign-in run before the endpoints of routes', async () => {
  const at = planOf(
    route('r', matchOf('prefix /mcp')),
    guard('r'),
    policyItem('PreRouting.authorization', GATEWAY, { action: 'Deny', policy: { matchExpressions: ['true'] } }),
  )
  expect(await ask(at, `${RESOURCE}/mcp`)).toBe('authorization-denied of no route')
})

test.each([`${RESOURCE}/mcp;a=1`, `${RESOURCE}/mcp%2Fx`, '/%2Ewell-known/oauth-protected-resource/mcp;x'])(
  'an ambiguous path is no endpoint: %s',
  async (target) => {
    const at = planOf(route('r', matchOf('prefix /')), guard('r'))
    expect(await ask(at, target)).toMatch(/^jwt-missing of r$/)
  },
)

test('a path in another spelling is the same endpoint', async () => {
  const at = planOf(route('r', matchOf('prefix /mcp')), guard('r'))
  expect(await ask(at, '/%2Ewell-known/oauth-protected-resource/%6Dcp')).toBe('http://example.com/mcp of r')
})

test('explain shows which endpoint answers', async () => {
  const steps: unknown[] = []
  const { plan, socket } = planOf(route('r', matchOf('prefix /mcp')), guard('r'))
  const traced = (target: string) => {
    const exchange = exchangeWith({ target })
    const ignored = { note() {}, limit() {}, callout() {}, credential() {}, copy() {} }
    exchange.trace = { isCalling: false, step: (step) => steps.push(step), ...ignored }
    return exchange
  }
  const exchange = traced(`${RESOURCE}/mcp`)
  await decide({ index: plan.index, socket, random: () => 0 }, exchange, new Decision())
  expect(exchange.names?.route).toBe('default/r')
  await decide({ index: plan.index, socket, random: () => 0 }, traced(SERVER), new Decision())
  const before = planOf(policyItem('PreRouting.jwtAuthentication', GATEWAY, jwt()))
  await decide({ index: before.plan.index, socket: before.socket, random: () => 0 }, traced(SERVER), new Decision())
  const detail = 'the endpoint server for the resource /, before all other policies'
  expect(steps.slice(1)).toMatchObject([
    { stage: 'post-routing', detail },
    { stage: 'pre-routing', detail },
  ])
  expect(steps.slice(0, 1)).toEqual([
    {
      stage: 'post-routing',
      name: 'jwtAuthentication.mcp',
      verdict: 'answer',
      detail: 'the endpoint resource for the resource /mcp, before all other policies',
      origins: [],
    },
  ])
})

test('routes of the host decide', async () => {
  const at = livePlan(
    listenerItem(),
    backendItem('b'),
    routeItem('a', {
      backends: toBackend('b'),
      matches: [matchOf('prefix /mcp')],
      attachments: [{ listener: 'Listener/default/main/http', hostnames: ['a.test'] }],
    }),
    guard('a'),
  )
  expect(await ask(at, `${RESOURCE}/mcp`, { headers: { host: 'a.test' } })).toBe('http://a.test/mcp of a')
  expect(await ask(at, RESOURCE, { headers: { host: 'a.test' } })).toBe('http://a.test/mcp of a')
  expect(await ask(at, `${RESOURCE}/mcp`, { headers: { host: 'b.test' } })).toBe('route-not-found of no route')
})

test('the deprecated setting of a backend: its endpoints are served, and it identifies the client after all policies', async () => {
  const authentication = {
    mode: 'Strict',
    issuer: 'https://id.example.com',
    audiences: ['a'],
    jwks: {
      jwksPath: '/keys',
      cacheDuration: '5m',
      backendRef: { group: '', kind: 'Service', name: 'keys', port: 80 },
    },
  }
  const tools = backendItem('b', {
    type: 'mcp',
    spec: {
      sessionRouting: 'Stateful',
      targets: [{ name: 'a', host: '127.0.0.1', port: 1, protocol: 'StreamableHTTP' }],
    },
  })
  const at = livePlan(
    listenerItem(),
    tools,
    route('r', matchOf('prefix /mcp')),
    policyItem('backend.mcp', 'ProxyBackend/default/b', { authentication }),
  )
  expect(await ask(at, `${RESOURCE}/mcp`)).toBe('http://example.com/mcp of r')
  expect(await ask(at, '/mcp', { method: 'POST' })).toBe('jwt-missing of r')
  const second = livePlan(
    listenerItem(),
    tools,
    backendItem('plain'),
    routeItem('r', { backends: toBackend('gone', 'plain', 'b'), matches: [matchOf('prefix /mcp')] }),
    policyItem('backend.mcp', 'ProxyBackend/default/b', { authentication }),
  )
  expect(await ask(second, `${RESOURCE}/mcp`)).toBe('http://example.com/mcp of r')
  const behind = livePlan(
    listenerItem(),
    tools,
    route('r', matchOf('prefix /mcp')),
    policyItem('backend.mcp', 'ProxyBackend/default/b', { authentication }),
    policyItem('traffic.directResponse', GATEWAY, { status: 418 }),
  )
  expect(await ask(behind, '/mcp', { method: 'POST' })).toBe('418 of r')
})
