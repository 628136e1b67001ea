import { expect, test } from 'vitest'
import type { Finding } from '#base/finding.ts'
import type { BackendItem, PlanItem, PolicyItem, RouteItem } from '#plan/item.ts'
import type { CredentialSource } from '#policies/shared/clouds/cloud-credential.ts'
import { specFrom } from '#policies/shared/testing.ts'
import { trafficJwtAuthentication } from '#policies/traffic/jwt-authentication/schema.ts'
import { verifies } from '#test/support/verifies.ts'
import { PlanIndex } from '../lookups/plan-index.ts'
import {
  backendItem,
  changeTo,
  listenerItem,
  matchOf,
  planOf,
  policyItem,
  routeItem,
  rules,
  stateOf,
  toBackend,
} from '../testing.ts'
import { PlanCheck } from './check-plan.ts'

const GATEWAY = 'Gateway/default/main'
const ROUTE = 'HTTPRoute/default/r'

/** A check that receives the versions of a plan one after the other. */
function checker() {
  const slotKeys: string[] = []
  const state = stateOf()
  const check = new PlanCheck({
    ...state,
    slotOf: (key) => {
      slotKeys.push(key)
      return state.slotOf(key)
    },
  })
  let index = PlanIndex.EMPTY
  const problems = new Map<string, readonly Finding[]>()
  const slots = new Set<string>()
  return {
    slotKeys,
    take(...items: readonly PlanItem[]) {
      slotKeys.length = 0
      const change = changeTo(index, planOf(...items))
      index = index.after(change)
      const checked = check.take(change)
      for (const [object, found] of checked.problems) problems.set(object, found)
      for (const key of checked.slots.freed) slots.delete(key)
      for (const [key] of checked.slots.assigned) slots.add(key)
      return { findings: [...problems.values()].flat(), slots: new Set(slots) }
    },
  }
}

function findings(...items: readonly PlanItem[]): string[] {
  return checker()
    .take(...items)
    .findings.map(({ severity, code, path, origin }) => `${origin.kind} ${origin.name} ${path}: ${severity} ${code}`)
}

const guarded = (name: string, more: Partial<PolicyItem> = {}): PolicyItem =>
  policyItem(
    'backend.ai',
    'ProxyBackend/default/llm',
    { promptGuard: { request: [{ regex: { action: 'Reject', matches: ['('] } }] } },
    { policy: name, ...more },
  )

test('a policy that another one for its target overrides has no problems of its own, until it applies again', () => {
  const it = checker()
  const names = (...items: readonly PolicyItem[]) => it.take(...items).findings.map(({ origin }) => origin.name)
  expect(names(guarded('a'), guarded('b'))).toEqual(['a'])
  expect(names(guarded('b'))).toEqual(['b'])
  expect(names(guarded('b'), guarded('c', { level: 'BackendInline' }))).toEqual(['c'])
  expect(names(guarded('b'), guarded('c', { target: 'ProxyBackend/default/other' }))).toEqual(['b', 'c'])
})

test('mirrors to a backend with prompt guards are reported where they are written, as soon as it has some', () => {
  const llm = backendItem('llm', { type: 'ai', spec: { provider: { providerOne: {} } } })
  const web = backendItem('web')
  const mirror = (backend: BackendItem, numerator: number, at: number) => {
    return { backend: backend.key, numerator, denominator: 100, path: `filters[${at}]` }
  }
  const spec = [mirror(web, 100, 0), mirror(llm, 1, 1), mirror(llm, 0, 2)]
  const filters = policyItem('traffic.requestMirror', ROUTE, spec, {
    origin: { kind: 'HTTPRoute', namespace: 'default', name: 'r' },
  })
  const guards = policyItem('backend.ai', llm.key, { promptGuard: { request: [{ regex: { builtins: ['Email'] } }] } })
  const it = checker()
  const codes = (...items: readonly PlanItem[]) =>
    it
      .take(...items)
      .findings.filter(({ code }) => code === 'mirror-guarded')
      .map(({ origin, path, severity }) => [origin.name, path, severity])
  expect(codes(llm, web, filters)).toEqual([])
  expect(codes(llm, web, filters, guards)).toEqual([['r', 'filters[1]', 'error']])
  expect(codes(llm, web, filters)).toEqual([])
})

const limit = (target: string, more: Partial<PolicyItem> = {}): PolicyItem =>
  policyItem('traffic.rateLimit', target, { local: [{ requests: 1, unit: 'Seconds' }] }, more)

test('a plan without policies and backends has no findings and needs no slots', () => {
  expect(checker().take(listenerItem(), routeItem('r'))).toEqual({ findings: [], slots: new Set() })
})

test('an error in a policy is reported with its object and path, attached or not', () => {
  const broken = policyItem('traffic.authorization', 'HTTPRoute/default/none', rules('Deny', '1 +'))
  expect(findings(broken)).toEqual([
    'ProxyPolicy policy spec.traffic.authorization.policy.matchExpressions[0]: error cel-syntax',
  ])
})

test.each<[policy: string, mode: string, target: string, codes: string[]]>([
  ['keys', 'Strict', GATEWAY, []],
  ['keys', 'Optional', GATEWAY, ['limit-key-can-fail']],
  ['keys', 'Strict', ROUTE, ['limit-key-can-fail']],
  ['other', 'Strict', GATEWAY, ['limit-key-can-fail']],
])('the key of a limit, with API keys of policy %s, mode %s, at %s', (policy, mode, target, codes) => {
  const key = { local: [{ requests: 1, unit: 'Seconds', key: 'apiKey.key' }] }
  const found = checker().take(
    policyItem('traffic.rateLimit', GATEWAY, key, { policy: 'keys' }),
    policyItem('traffic.apiKeyAuthentication', target, { mode, secretRef: { name: 'k' } }, { policy }),
  ).findings
  expect(found.map(({ code }) => code).filter((code) => code !== 'secret-missing')).toEqual(codes)
})

test('the same error in two policies is reported twice', () => {
  const of = (policy: string) => policyItem('traffic.authorization', GATEWAY, rules('Deny', '1 +'), { policy })
  expect(findings(of('a'), of('b'))).toHaveLength(2)
})

test.each([GATEWAY, ROUTE, 'ProxyBackend/default/b'])(
  'settings of LLM and MCP backends are checked where they are attached: %s',
  (target) => {
    const tools = rules('Allow', 'mcp.tool.nam == "x"')
    expect(
      findings(
        policyItem('backend.ai', target, { transformations: [{ field: 'x', expression: '1 +' }] }),
        policyItem('backend.mcp', target, { authorization: tools }),
      ),
    ).toEqual([
      'ProxyPolicy policy spec.backend.ai.transformations[0].expression: error cel-syntax',
      'ProxyPolicy policy spec.backend.mcp.authorization.policy.matchExpressions[0]: error cel-unknown-field',
    ])
  },
)

const mcpBackend = backendItem('b', { type: 'mcp', spec: { targets: [], sessionRouting: 'Stateless' } })
const toMcp = routeItem('r', { backends: toBackend('b') })

test.each<[one: string, other: string]>([
  [GATEWAY, GATEWAY],
  [GATEWAY, ROUTE],
  ['Gateway/default/main/http', 'ProxyBackend/default/b'],
  ['ProxyBackend/default/b', 'ProxyBackend/default/b'],
])('rules for MCP are checked with those of other policies: %s with %s', (one, other) => {
  const of = (policy: string, target: string, expression: string) =>
    policyItem('backend.mcp', target, { authorization: rules('Allow', expression) }, { policy })
  const hiding = of('a', one, 'mcp.tool.name != "x"')
  const used = [listenerItem(), mcpBackend, toMcp]
  expect(findings(...used, hiding)).toEqual([
    'ProxyPolicy a spec.backend.mcp.authorization.policy.matchExpressions[0]: advice rule-hides-kind',
  ])
  expect(findings(...used, hiding, of('b', other, 'has(mcp.prompt)'))).toEqual([])
  expect(findings(...used, hiding, of('b', 'HTTPRoute/default/elsewhere', 'has(mcp.prompt)'))).toHaveLength(1)
  expect(findings(hiding), 'no MCP backend').toEqual([])
})

test('errors of a rule for MCP are reported where no MCP backend is used, too', () => {
  const of = (policy: string, expression: string) =>
    policyItem('backend.mcp', GATEWAY, { authorization: rules('Allow', expression) }, { policy })
  expect(findings(of('a', 'mcp.tool.name != "x"'), of('b', '1 +'))).toEqual([
    'ProxyPolicy b spec.backend.mcp.authorization.policy.matchExpressions[0]: error cel-syntax',
  ])
})

test('a backend that control marked as broken is not reported again', () => {
  expect(findings(backendItem('b', { broken: 'its reference is broken' }))).toEqual([])
})

test('slots: one for each bucket at each target, one for each endpoint', () => {
  const { slots } = checker().take(limit(GATEWAY), limit(ROUTE), backendItem('b'), backendItem('c'))
  expect([...slots].filter((key) => key.startsWith('Endpoint '))).toEqual([
    'Endpoint ProxyBackend/default/b 127.0.0.1:9000',
    'Endpoint ProxyBackend/default/c 127.0.0.1:9000',
  ])
  expect([...slots].filter((key) => !key.startsWith('Endpoint '))).toHaveLength(2)
})

test('unchanged items are not compiled again, and keep their findings and slots', () => {
  const { take, slotKeys } = checker()
  const items = [limit(GATEWAY), backendItem('b'), policyItem('traffic.authorization', ROUTE, rules('Deny', '1 +'))]
  const first = take(...items)
  expect(slotKeys).toHaveLength(2)
  const second = take(...items, backendItem('c'))
  expect(slotKeys).toEqual(['Endpoint ProxyBackend/default/c 127.0.0.1:9000'])
  expect(second.findings).toEqual(first.findings)
  expect([...second.slots]).toEqual(expect.arrayContaining([...first.slots]))
})

test('removed items leave neither findings nor slots', () => {
  const { take } = checker()
  take(limit(GATEWAY), backendItem('b'), policyItem('traffic.authorization', ROUTE, rules('Deny', '1 +')))
  expect(take(backendItem('b'))).toEqual({
    findings: [],
    slots: new Set(['Endpoint ProxyBackend/default/b 127.0.0.1:9000']),
  })
})

test('when a missing referenced object appears, the policy is valid again', () => {
  const { take } = checker()
  const auth = policyItem('backend.auth', 'ProxyBackend/default/b', { secretRef: { name: 'key' } })
  const secret: PlanItem = {
    kind: 'secret',
    key: 'Secret/default/key',
    namespace: 'default',
    name: 'key',
    labels: {},
    data: { Authorization: 'k' },
    origin: { kind: 'Secret', namespace: 'default', name: 'key' },
  }
  expect(take(auth).findings.map(({ code }) => code)).toEqual(['secret-missing'])
  expect(take(auth, secret).findings).toEqual([])
  expect(take(auth).findings).toHaveLength(1)
})

test('a connection setting is checked with the backend it is attached to', () => {
  const { take, slotKeys } = checker()
  const tcp = policyItem('backend.tcp', 'ProxyBackend/default/b', { connectTimeout: '1s' })
  take(backendItem('b'), routeItem('r', { backends: toBackend('b') }))
  take(backendItem('b'), tcp)
  expect(slotKeys).toHaveLength(1)
})

test('a port that accepts PROXY headers should restrict their senders', () => {
  const proxied = policyItem('frontend.proxyProtocol', GATEWAY, { version: 'V2', mode: 'Strict' })
  const allow = (expression: string) => policyItem('frontend.networkAuthorization', GATEWAY, rules('Allow', expression))
  const advice = 'ProxyPolicy policy spec.frontend.proxyProtocol: warning proxy-protocol-unrestricted'
  expect(findings(proxied)).toEqual([advice])
  expect(findings(proxied, allow('source.address == "10.0.0.1"'))).toEqual([advice])
  expect(findings(proxied, allow('source.rawAddress == "10.0.0.1"'))).toEqual([])
})

const KEYS = 'ProxyBackend/default/keys'

/** A policy whose key set comes from ProxyBackend `keys`. */
const fetching = (remote: object = {}, more: Partial<PolicyItem> = {}): PolicyItem =>
  policyItem(
    'traffic.jwtAuthentication',
    ROUTE,
    {
      mode: 'Strict',
      providers: [
        {
          issuer: 'https://id.test',
          jwks: {
            remote: {
              jwksPath: '/keys',
              cacheDuration: '5m',
              backendRef: { group: 'gatewright.dev', kind: 'ProxyBackend', name: 'keys' },
              ...remote,
            },
          },
        },
      ],
    },
    more,
  )

/** The key sets that a check requests and drops, plan by plan. */
function keySetsOf(...plans: readonly (readonly PlanItem[])[]) {
  const check = new PlanCheck(stateOf())
  let index = PlanIndex.EMPTY
  return plans.map((items) => {
    const change = changeTo(index, planOf(...items))
    index = index.after(change)
    const { wanted, dropped } = check.take(change).sources.keySets
    return { wanted: wanted.map(({ backend, path, cacheMs }) => `${backend} ${path} ${cacheMs}`), dropped }
  })
}

const ID = `${KEYS} /keys`
const WANTED = `${ID} 300000`

test('key sets are requested once, again when their server changes, and dropped with the last policy', () => {
  const keys = backendItem('keys')
  const policy = fetching()
  const other = fetching({}, { key: 'Policy/other', target: GATEWAY })
  const moved = backendItem('keys', { spec: { host: 'elsewhere', port: 1 } })
  expect(
    keySetsOf([keys, policy, other], [keys, policy], [keys, policy, backendItem('more')], [moved, policy], [moved]),
  ).toEqual([
    { wanted: [WANTED], dropped: [] },
    { wanted: [], dropped: [] },
    { wanted: [], dropped: [] },
    { wanted: [WANTED], dropped: [] },
    { wanted: [], dropped: [ID] },
  ])
})

test('policies share a key set, and the shortest duration applies', () => {
  const keys = backendItem('keys')
  const hourly = fetching({ cacheDuration: '1h' })
  const often = fetching({ cacheDuration: '10m' }, { key: 'Policy/other', target: GATEWAY })
  expect(keySetsOf([keys, hourly], [keys, hourly, often], [keys, hourly]).map(({ wanted }) => wanted)).toEqual([
    [`${ID} 3600000`],
    [`${ID} 600000`],
    [`${ID} 3600000`],
  ])
})

verifies('traffic.jwtAuthentication.jwks/cacheDuration-default', 'a key set is kept for five minutes', () => {
  const remote = { jwksPath: '/keys', backendRef: { group: 'gatewright.dev', kind: 'ProxyBackend', name: 'keys' } }
  const spec = specFrom(trafficJwtAuthentication, { providers: [{ issuer: 'https://id.test', jwks: { remote } }] })
  const policy = fetching({}, { spec })
  expect(keySetsOf([backendItem('keys'), policy])[0]!.wanted).toEqual([`${KEYS} /keys 300000`])
})

test.each([
  ['realms/x/certs?v=1', '/realms/x/certs?v=1'],
  ['/keys', '/keys'],
  ['//keys', '//keys'],
  ['/a b\r\nhost: evil#x', '/a%20b%0D%0Ahost:%20evil%23x'],
])('the path %s is requested as %s', (jwksPath, path) => {
  expect(keySetsOf([backendItem('keys'), fetching({ jwksPath })])[0]!.wanted).toEqual([`${KEYS} ${path} 300000`])
})

verifies('traffic.jwtAuthentication.jwks/backendRef-kinds', 'key sets are fetched only from supported kinds', () => {
  const backendRef = (more: object) => ({ backendRef: { name: 'keys', ...more } })
  const service = backendItem('keys', {
    key: 'Service/default/keys/80',
    type: 'service',
    spec: { hostname: 'keys', port: 80 },
  })
  expect(keySetsOf([service, fetching(backendRef({ port: 80 }))])[0]!.wanted).toEqual([
    'Service/default/keys/80 /keys 300000',
  ])
  const agent = backendItem('keys', { type: 'a2a', spec: { host: '127.0.0.1', port: 1 } })
  expect(keySetsOf([agent, fetching()])[0]!.wanted).toEqual([])
  expect(keySetsOf([fetching()])[0]!.wanted, 'it does not exist').toEqual([])
  expect(keySetsOf([backendItem('keys'), fetching({}, { notPermitted: [KEYS] })])[0]!.wanted).toEqual([])
})

test('the state of a key set is a finding of the policies that refer to it', () => {
  const state = stateOf()
  const check = new PlanCheck(state)
  check.take({ set: [backendItem('keys'), fetching(), limit(GATEWAY)], removed: [] })
  const update = (failure: string | undefined) => {
    const keySet = { id: ID, value: '{}', fetchedMs: 0, failure, final: true, restMs: 0 }
    state.keySets.update(keySet)
    return [...check.keptChanged('key-set', ID)].map(([key, found]) => [key, found.map(({ code }) => code)])
  }
  expect(update('timeout')).toEqual([
    ['ProxyPolicy/default/policy', ['audience-any', 'key-set-fault', 'key-set-stale']],
  ])
  expect(update(undefined)).toEqual([['ProxyPolicy/default/policy', ['audience-any', 'key-set-fault']]])
})

test('a backend that the gateway calls has only its own policies', () => {
  const check = new PlanCheck(stateOf())
  const auth = (target: string, key: string) => policyItem('backend.auth', target, { key })
  check.take({ set: [backendItem('keys'), auth(KEYS, 'own'), auth(GATEWAY, 'of the gateway')], removed: [] })
  const backend = check.calledBackend(KEYS)!
  expect(
    backend.groups
      .flat()
      .map(({ chain }) => chain.links.map(({ merged }) => merged.sources.map(({ target }) => target))),
  ).toEqual([[[KEYS]]])
  expect(check.calledBackend('ProxyBackend/default/gone')).toBeUndefined()
})

const provider = (name: string, host?: object) => ({ name, providerOne: {}, ...host })
const llm = (spec: object) => backendItem('llm', { type: 'ai', spec })

test.each<[backend: PlanItem, auth: object, found: readonly string[]]>([
  // An LLM provider of its own host and port has TLS only on port 443.
  [llm({ provider: provider('a', { host: 'llm.test', port: 8080 }) }), { key: 'k' }, ['key']],
  [llm({ provider: provider('a', { host: 'llm.test', port: 443 }) }), { key: 'k' }, []],
  [llm({ provider: provider('a', { host: 'llm.test' }) }), { key: 'k' }, []],
  [llm({ provider: provider('a') }), { key: 'k' }, []],
  [llm({ provider: provider('a', { host: '127.0.0.1', port: 8080 }) }), { key: 'k' }, []],
  [llm({ provider: provider('a', { host: 'localhost', port: 8080 }) }), { key: 'k' }, []],
  [backendItem('llm', { spec: { host: 'a.test', port: 80 } }), { passthrough: {} }, ['passthrough']],
  [backendItem('llm', { spec: { host: '10.0.0.1', port: 80 } }), { passthrough: {} }, ['passthrough']],
  [backendItem('llm', { spec: { host: '[::1]', port: 80 } }), { passthrough: {} }, []],
  [backendItem('llm', { spec: { unixPath: '/run/a.sock' } }), { passthrough: {} }, []],
])('a credential in plain text: %j with %j', (backend, auth, found) => {
  const policy = policyItem('backend.auth', 'ProxyBackend/default/llm', auth)
  const tls = policyItem('backend.tls', 'ProxyBackend/default/llm', {})
  const expected = found.map((form) => `ProxyPolicy policy spec.backend.auth.${form}: warning credential-in-plain-text`)
  expect(findings(backend, policy)).toEqual(expected)
  expect(findings(backend, policy, tls)).toEqual([])
  expect(findings(backend)).toEqual([])
})

test.each([GATEWAY, 'Gateway/default/main/http', ROUTE])(
  'a credential in plain text is judged with the policies of each use: %s',
  (target) => {
    const backend = backendItem('llm', { spec: { host: 'a.test', port: 80 } })
    const used = [listenerItem(), backend, routeItem('r', { backends: toBackend('llm') })]
    const auth = (at: string) => policyItem('backend.auth', at, { key: 'k' })
    const tls = (at: string) => policyItem('backend.tls', at, {}, { policy: 'tls' })
    const own = 'ProxyBackend/default/llm'
    const warning = 'ProxyPolicy policy spec.backend.auth.key: warning credential-in-plain-text'
    expect(findings(...used, auth(target))).toEqual([warning])
    expect(findings(...used, auth(target), tls(own))).toEqual([])
    expect(findings(...used, auth(own), tls(target))).toEqual([])
    const other = routeItem('s', { backends: toBackend('llm'), attachments: [] })
    expect(findings(...used, other, auth(own), tls(target)), 'a rule without listener').toEqual([])
  },
)

test('of two uses of a backend, the one without TLS is reported, until it ends', () => {
  const { take } = checker()
  const codes = (...items: readonly PlanItem[]) => take(...items).findings.map(({ code }) => code)
  const backend = backendItem('llm', { spec: { host: 'a.test', port: 80 } })
  const auth = policyItem('backend.auth', 'ProxyBackend/default/llm', { key: 'k' })
  const tls = policyItem('backend.tls', ROUTE, {}, { policy: 'tls' })
  const secured = [listenerItem(), backend, auth, tls, routeItem('r', { backends: toBackend('llm') })]
  const plain = routeItem('s', { backends: toBackend('llm') })
  expect(codes(...secured)).toEqual([])
  expect(codes(...secured, plain)).toEqual(['credential-in-plain-text'])
  expect(codes(...secured)).toEqual([])
})

const atPath = (match: string, more: Partial<RouteItem> = {}) =>
  routeItem('r', {
    backends: toBackend('llm'),
    matches: [matchOf('prefix /v1/chat/completions'), matchOf(match)],
    ...more,
  })

test.each<[match: string, reported: string | undefined]>([
  ['prefix /v1/images/generations', '{ /chat/completions: Completions, /images/generations: Passthrough }'],
  ['exact /v1/completions', '{ /chat/completions: Completions, /completions: Passthrough }'],
  ['prefix /v1/messages/', '{ /chat/completions: Completions, /messages: Messages }'],
  ['exact /v1/messages', '{ /chat/completions: Completions, /messages: Messages }'],
  ['prefix /v1', undefined],
  ['pattern /v1/images/generations', undefined],
])('the path of another LLM interface where routes is unset: %s', (match, reported) => {
  const { take } = checker()
  const backend = llm({ provider: provider('a') })
  const of = (...items: readonly PlanItem[]) => take(listenerItem(), backend, ...items).findings
  const found = of(atPath(match))
  expect(found.map(({ origin, path, code, severity }) => [origin.name, path, code, severity])).toEqual(
    reported === undefined ? [] : [['r', 'spec.rules[0].matches[1].path.value', 'llm-path-not-completions', 'warning']],
  )
  if (reported === undefined) return
  expect(found[0]!.message).toContain(
    `ProxyBackend default/llm handles and counts these requests as chat completions, because its backend.ai.routes is unset; set it for each kind of path, such as ${reported}`,
  )
  for (const target of [GATEWAY, ROUTE, 'ProxyBackend/default/llm', 'ProxyBackend/default/llm/backend']) {
    expect(of(atPath(match), policyItem('backend.ai', target, { routes: { '*': 'Detect' } }))).toEqual([])
    expect(of(atPath(match), policyItem('backend.ai', target, { routes: {} }))).toHaveLength(1)
  }
  expect(of(atPath(match, { backends: toBackend('b') }), backendItem('b'))).toEqual([])
})

const RETRY = { attempts: 1, codes: [503] }

test.each<[what: string, items: readonly PlanItem[], found: number]>([
  ['a route without retry', [routeItem('r', { backends: toBackend('llm') })], 1],
  ['another backend', [routeItem('r', { backends: toBackend('b') }), backendItem('b')], 0],
  ['no route', [], 0],
  [
    'retry of the route',
    [routeItem('r', { backends: toBackend('llm') }), policyItem('traffic.retry', ROUTE, RETRY)],
    0,
  ],
  [
    'retry of the Gateway',
    [routeItem('r', { backends: toBackend('llm') }), policyItem('traffic.retry', GATEWAY, RETRY)],
    0,
  ],
  [
    'retry of one of two routes',
    [
      routeItem('r', { backends: toBackend('llm') }),
      routeItem('s', { backends: toBackend('llm') }),
      policyItem('traffic.retry', ROUTE, RETRY),
    ],
    1,
  ],
])('several groups without retry: %s', (_, items, found) => {
  const several = llm({ groups: [{ providers: [provider('a')] }, { providers: [provider('b')] }] })
  expect(findings(listenerItem(), several, ...items)).toEqual(
    Array(found).fill('ProxyBackend llm spec.ai.groups: warning failover-without-retry'),
  )
  const one = llm({ groups: [{ providers: [provider('a'), provider('b')] }] })
  expect(findings(listenerItem(), one, ...items)).toEqual([])
})

test('retries without codes move only failed connections to the next group', () => {
  const several = llm({ groups: [{ providers: [provider('a')] }, { providers: [provider('b')] }] })
  const route = routeItem('r', { backends: toBackend('llm') })
  const found = (retry: object) => findings(listenerItem(), several, route, policyItem('traffic.retry', ROUTE, retry))
  expect(found({ attempts: 1 })).toEqual(['ProxyBackend llm spec.ai.groups: advice failover-without-retry'])
  expect(found({ attempts: 1, codes: [] })).toEqual(found({ attempts: 1 }))
  expect(found(RETRY)).toEqual([])
})

test.each<[what: string, attempts: number | undefined, items: readonly PlanItem[], found: string | undefined]>([
  ['too few retries', 1, [], 'spec.ai.groups[1]'],
  ['the default number of retries', undefined, [], 'spec.ai.groups[1]'],
  ['too few for the last group', 2, [], 'spec.ai.groups[2]'],
  ['enough retries', 3, [], undefined],
  ['eviction', 1, [policyItem('backend.health', ROUTE, { eviction: { duration: '3s' } })], undefined],
  [
    'eviction by health',
    1,
    [policyItem('backend.health', ROUTE, { eviction: { consecutiveFailures: 0, healthThreshold: 50 } })],
    undefined,
  ],
  [
    'eviction that never happens',
    1,
    [policyItem('backend.health', ROUTE, { eviction: { consecutiveFailures: 0 } })],
    'spec.ai.groups[1]',
  ],
  ['health without eviction', 1, [policyItem('backend.health', ROUTE, {})], 'spec.ai.groups[1]'],
])('groups that no retry reaches: %s', (_, attempts, items, found) => {
  const groups = [['a', 'b'], ['c'], ['d']].map((names) => ({ providers: names.map((name) => provider(name)) }))
  const retry = policyItem('traffic.retry', ROUTE, { ...(attempts !== undefined && { attempts }), codes: [503] })
  expect(
    findings(listenerItem(), llm({ groups }), routeItem('r', { backends: toBackend('llm') }), retry, ...items),
  ).toEqual(found === undefined ? [] : [`ProxyBackend llm ${found}: warning fallback-unreachable`])
})

test('groups are checked again when a route gets retry, or ceases to use them', () => {
  const { take } = checker()
  const backend = llm({ groups: [{ providers: [provider('a')] }, { providers: [provider('b')] }] })
  const listener = listenerItem()
  const route = routeItem('r', { backends: toBackend('llm') })
  const messages = (...items: readonly PlanItem[]) => take(listener, backend, ...items).findings.map((of) => of.message)
  expect(messages(route, routeItem('s', { backends: toBackend('llm') }))).toEqual([
    'rule 0 of HTTPRoute default/r and 1 more has no retry, so a request that fails in one group is not sent to the next; set traffic.retry',
  ])
  expect(messages(route)).toEqual([
    'rule 0 of HTTPRoute default/r has no retry, so a request that fails in one group is not sent to the next; set traffic.retry',
  ])
  expect(messages(route, policyItem('traffic.retry', ROUTE, RETRY))).toEqual([])
  expect(messages(route)).toHaveLength(1)
  expect(messages(routeItem('r'))).toEqual([])
})

const AUTHENTICATION: Readonly<Record<string, object>> = {
  jwt: { mode: 'Strict', providers: [{ issuer: 'i', jwks: { inline: '{"keys":[]}' } }] },
  apiKey: { mode: 'Strict', secretRef: { name: 's' } },
  basic: { mode: 'Strict', realm: 'r', users: ['ann:{SHA}2jmj7l5rSw0yVb/vlWAYkK/YBwk='] },
}

/** `mechanism[@target][ PreRouting]`, with other members of its spec. */
function authentication(text: string, more: object = {}): PolicyItem {
  const [, mechanism = '', target = ROUTE, phase = 'traffic'] = /^(\w+)(?:@(\S+))?(?: (\w+))?$/.exec(text)!
  const field = `${phase as 'traffic'}.${mechanism}Authentication` as const
  return policyItem(field, target, { ...AUTHENTICATION[mechanism], ...more }, { policy: mechanism })
}

/** Of the findings about shared locations: policy, severity, and the policy that the message names. */
function sharedLocations(...policies: readonly PolicyItem[]): string[] {
  const route = routeItem('r', { ruleName: 'one' })
  return checker()
    .take(listenerItem(), route, ...policies)
    .findings.filter(({ code }) => code === 'credentials-share-location')
    .map(
      ({ origin, severity, message }) =>
        `${origin.name}: ${severity}, ${/ProxyPolicy default\/(\w+)/.exec(message)![1]}`,
    )
}

const at = (location: object) => ({ location })

test.each<[policies: readonly PolicyItem[], found: string[]]>([
  [[authentication('jwt'), authentication('apiKey')], ['jwt: error, apiKey']],
  [[authentication(`jwt@${GATEWAY}`), authentication('apiKey')], ['apiKey: error, jwt']],
  [[authentication(`jwt@${GATEWAY}/http`), authentication(`apiKey@${ROUTE}/one`)], ['apiKey: error, jwt']],
  [[authentication(`jwt@${GATEWAY}`), authentication(`apiKey@${GATEWAY}/http`)], ['apiKey: error, jwt']],
  [[authentication(`jwt@${GATEWAY} PreRouting`), authentication('apiKey')], ['apiKey: error, jwt']],
  [[authentication('jwt'), authentication('basic')], ['jwt: warning, basic']],
  [
    [authentication('basic'), authentication('apiKey', at({ header: { name: 'authorization', prefix: 'Basic ' } }))],
    ['basic: error, apiKey'],
  ],
  [[authentication('jwt'), authentication('apiKey', { mode: 'Optional' })], ['jwt: error, apiKey']],
  [
    [authentication('jwt', { mode: 'Optional' }), authentication('apiKey', { mode: 'Optional' })],
    ['jwt: error, apiKey'],
  ],
  [[authentication('jwt'), authentication('basic', { mode: 'Optional' })], []],
  [[authentication('jwt', { mode: 'Permissive' }), authentication('apiKey')], []],
  [[authentication('jwt'), authentication('apiKey', at({ header: { name: 'x-api-key' } }))], []],
  [
    [authentication('jwt'), authentication('apiKey', at({ header: { name: 'Authorization', prefix: 'bearer ' } }))],
    ['jwt: error, apiKey'],
  ],
  [
    [authentication('jwt', at({ cookie: { name: 'c' } })), authentication('apiKey', at({ cookie: { name: 'c' } }))],
    ['jwt: error, apiKey'],
  ],
  [
    [
      authentication('jwt', at({ cookie: { name: 'c' } })),
      authentication('apiKey', at({ queryParameter: { name: 'c' } })),
    ],
    [],
  ],
  [[authentication('jwt', at({ expression: '"x"' })), authentication('apiKey', at({ expression: '"x"' }))], []],
  [[authentication(`jwt@${GATEWAY} PreRouting`), authentication('jwt')], []],
  [[authentication('jwt@HTTPRoute/default/other'), authentication('apiKey')], []],
])('two policies that require credentials at one location: %#', (policies, found) => {
  expect(sharedLocations(...policies)).toEqual(found)
})

test('a shared location is reported until one of the policies is gone', () => {
  const it = checker()
  const codes = (...items: readonly PlanItem[]) =>
    it.take(listenerItem(), routeItem('r'), ...items).findings.map(({ code }) => code)
  const route = authentication('apiKey')
  expect(codes(authentication(`jwt@${GATEWAY}`), route)).toContain('credentials-share-location')
  expect(codes(route)).not.toContain('credentials-share-location')
})

/** Messages about parts without effect, with their paths. */
function withoutEffect(...items: readonly PlanItem[]): string[] {
  return checker()
    .take(...items)
    .findings.filter(({ code }) => code === 'no-effect')
    .map(({ path, severity, message }) => `${path}: ${severity}, ${message}`)
}

const AUTO = { mode: 'Auto' }
const TOKENS = {
  local: [
    { requests: 1, unit: 'Hours' },
    { tokens: 1, unit: 'Hours' },
  ],
}
const NUMBERED = backendItem('numbered')
const NAMED = backendItem('named', { spec: { host: 'backend.test', port: 9000 } })
const LLM = backendItem('llm', { type: 'ai', spec: { provider: { providerOne: {}, host: '127.0.0.1', port: 80 } } })
const TOOLS = backendItem('tools', {
  type: 'mcp',
  spec: { targets: [{ name: 'one', entry: 'one', host: '127.0.0.1', port: 1 }], sessionRouting: 'Stateful' },
})
const RUNTIME = backendItem('runtime', {
  type: 'aws',
  spec: { agentRuntime: { agentRuntimeArn: 'arn:aws:bedrock-agentcore:us-east-1:123456789012:runtime/a' } },
})
const PATH = { path: { type: 'ReplaceFullPath', replaceFullPath: '/x' } }
const HOST = { hostname: 'x.test' }
const NO_PATH =
  'warning, has no effect: no backend of HTTPRoute/default/r receives the path of a request; agent runtimes have one path'
const NOT_FORWARDED =
  'warning, has no effect: no backend of HTTPRoute/default/r receives forwarded requests; calls to MCP targets are not repeated'
const to = (...names: string[]) => routeItem('r', { ruleName: 'one', backends: toBackend(...names) })
const NO_HOSTNAME =
  'warning, has no effect: no backend of HTTPRoute/default/r has a hostname; they receive the host of the client'
const NO_TOKENS = 'warning, has no effect: no backend of HTTPRoute/default/r is an AI backend; no tokens are counted'

test.each<[what: string, items: readonly PlanItem[], found: string[]]>([
  [
    'an address',
    [to('numbered'), NUMBERED, policyItem('traffic.hostRewrite', ROUTE, AUTO)],
    [`spec.traffic.hostRewrite.mode: ${NO_HOSTNAME}`],
  ],
  ['None', [to('numbered'), NUMBERED, policyItem('traffic.hostRewrite', ROUTE, { mode: 'None' })], []],
  [
    'one hostname of two',
    [to('numbered', 'named'), NUMBERED, NAMED, policyItem('traffic.hostRewrite', ROUTE, AUTO)],
    [],
  ],
  ['a Gateway', [to('numbered'), NUMBERED, policyItem('traffic.hostRewrite', GATEWAY, AUTO)], []],
  ['no backend', [to(), policyItem('traffic.hostRewrite', ROUTE, AUTO)], []],
  ['a backend that does not exist', [to('gone'), policyItem('traffic.hostRewrite', ROUTE, AUTO)], []],
  ['a route that does not exist', [policyItem('traffic.hostRewrite', ROUTE, AUTO)], []],
  [
    'a rule',
    [to('numbered'), NUMBERED, policyItem('traffic.hostRewrite', `${ROUTE}/one`, AUTO)],
    [`spec.traffic.hostRewrite.mode: ${NO_HOSTNAME.replace('/r ', '/r/one ')}`],
  ],
  ['another rule', [to('numbered'), NUMBERED, policyItem('traffic.hostRewrite', `${ROUTE}/other`, AUTO)], []],
  [
    'a path for an agent runtime',
    [to('runtime'), RUNTIME, policyItem('traffic.urlRewrite', ROUTE, PATH)],
    [`spec.traffic.urlRewrite.path: ${NO_PATH}`],
  ],
  [
    'a path for an agent runtime, in a filter of its backendRef',
    [
      routeItem('r', {
        backends: [...toBackend('named'), { ...toBackend('runtime')[0]!, filters: `${ROUTE}#0/backendRefs/1` }],
      }),
      RUNTIME,
      NAMED,
      policyItem('backend.urlRewrite', `${ROUTE}#0/backendRefs/1`, PATH),
    ],
    [`spec.backend.urlRewrite.path: ${NO_PATH.replace('HTTP', 'backendRef 1 of rule 0 of HTTP')}`],
  ],
  [
    'a path for another backend, in a filter of its backendRef',
    [
      routeItem('r', {
        backends: [{ ...toBackend('named')[0]!, filters: `${ROUTE}#0/backendRefs/0` }, ...toBackend('runtime')],
      }),
      RUNTIME,
      NAMED,
      policyItem('backend.urlRewrite', `${ROUTE}#0/backendRefs/0`, PATH),
    ],
    [],
  ],
  ['a hostname for an agent runtime', [to('runtime'), RUNTIME, policyItem('traffic.urlRewrite', ROUTE, HOST)], []],
  [
    'a path for another backend, too',
    [to('runtime', 'named'), RUNTIME, NAMED, policyItem('traffic.urlRewrite', ROUTE, PATH)],
    [],
  ],
  [
    'no tokens',
    [to('named'), NAMED, policyItem('traffic.rateLimit', ROUTE, TOKENS)],
    [`spec.traffic.rateLimit.local[1].tokens: ${NO_TOKENS}`],
  ],
  [
    'retries of an MCP backend',
    [to('tools'), TOOLS, policyItem('traffic.retry', ROUTE, {})],
    [`spec.traffic.retry: ${NOT_FORWARDED}`],
  ],
  ['retries of another backend too', [to('tools', 'named'), TOOLS, NAMED, policyItem('traffic.retry', ROUTE, {})], []],
  [
    'retries of the rule itself',
    [to('tools'), TOOLS, policyItem('traffic.retry', `${ROUTE}#0`, {})],
    [`spec.traffic.retry: ${NOT_FORWARDED.replace('HTTPRoute', 'rule 0 of HTTPRoute')}`],
  ],
  ['tokens', [to('named', 'llm'), NAMED, LLM, policyItem('traffic.rateLimit', ROUTE, TOKENS)], []],
  [
    'no tokens in an entry of conditional',
    [
      to('named'),
      NAMED,
      policyItem('traffic.rateLimit', ROUTE, { conditional: [{ condition: 'true', policy: TOKENS }] }),
    ],
    [`spec.traffic.rateLimit.conditional[0].policy.local[1].tokens: ${NO_TOKENS}`],
  ],
])('a part of a policy that no backend of its target fits is reported: %s', (_, items, found) => {
  expect(withoutEffect(listenerItem(), ...items)).toEqual(found)
})

test('a field without a definition has no problems', () => {
  expect(findings(policyItem('traffic.future', GATEWAY, {}))).toEqual([])
})

test('credentials of clouds are requested once for all policies with the same source, and again when a Secret changes', () => {
  const state = stateOf()
  // Digests make the difference between sources.
  const hashing = { sha256: (data: string | Uint8Array) => `${data}`, hmacSha256: () => new Uint8Array(0) }
  const check = new PlanCheck({ ...state, clouds: { ...state.clouds, hashing } })
  let index = PlanIndex.EMPTY
  const take = (...items: readonly PlanItem[]) => {
    const change = changeTo(index, planOf(...items))
    index = index.after(change)
    const { wanted, dropped } = check.take(change).sources.credentials
    return [wanted.map(({ label }) => label), dropped.length]
  }
  const secret = (clientSecret: string): PlanItem => ({
    kind: 'secret',
    key: 'Secret/default/azure',
    namespace: 'default',
    name: 'azure',
    labels: {},
    data: { clientID: 'app', tenantID: 'tenant', clientSecret },
    origin: { kind: 'Secret', namespace: 'default', name: 'azure' },
  })
  const auth = (target: string) => policyItem('backend.auth', target, { cloudTwo: { secretRef: { name: 'azure' } } })
  const [one, two] = [backendItem('keys'), backendItem('more')]
  const [forOne, forTwo, before, after] = [auth(one.key), auth(two.key), secret('a'), secret('b')]
  const label = 'token of Azure for https://cognitiveservices.azure.com/.default from Secret default/azure'
  expect(take(one, two, forOne, forTwo, before)).toEqual([[label], 0])
  expect(take(one, two, forTwo, before)).toEqual([[], 0])
  expect(take(one, two, forTwo, after)).toEqual([[label], 1])
  expect(take(one, two, after)).toEqual([[], 1])
})

test('the source of an implied credential fails the backend, at the backend', () => {
  const state = stateOf()
  const check = new PlanCheck(state)
  const spec = { provider: { providerSeven: { region: 'us-east-1' } } }
  const models = backendItem('models', { type: 'ai', spec } as Partial<BackendItem>)
  const { wanted } = check.take({ set: [models], removed: [] }).sources.credentials
  const [{ id, label, request }] = wanted as [CredentialSource]
  expect([label, request]).toEqual([
    'keys of AWS from the environment of the gateway',
    { cloud: 'cloudOne', service: 'bedrock' },
  ])
  state.clouds.credentials.update({ id, value: undefined, fetchedMs: 0, failure: 'no keys', final: true, restMs: 0 })
  expect(check.keptChanged('credential', id).get('ProxyBackend/default/models')?.[0]).toMatchObject({
    code: 'credential-unavailable',
    path: 'spec.ai',
    message:
      'the keys of AWS from the environment of the gateway cannot be obtained, and requests are refused until it can: no keys',
  })
})

test.each([
  ['jwt', 'jwt'],
  ['apiKey', 'apiKey'],
  ['basic', 'basicAuth'],
])('advice on %s names the variable %s that nothing reads', (mechanism, variable) => {
  const { findings } = checker().take(listenerItem(), routeItem('r'), authentication(mechanism, { mode: 'Optional' }))
  const [found] = findings.filter(({ code }) => code === 'identity-unused')
  expect(found?.message).toContain(`no policy uses ${variable}; `)
})

test('advice on an identity that nothing reads comes and goes with the policies that read it', () => {
  const it = checker()
  const optional = policyItem('traffic.apiKeyAuthentication', GATEWAY, { mode: 'Optional', secretRef: { name: 'k' } })
  const plan = [listenerItem(), routeItem('r'), optional]
  const reads = policyItem('traffic.authorization', ROUTE, rules('Deny', 'apiKey.key == "x"'), { policy: 'reads' })
  const advice = (...items: readonly PlanItem[]) =>
    it.take(...items).findings.filter(({ code }) => code === 'identity-unused').length
  expect([advice(...plan), advice(...plan, reads), advice(...plan), advice(listenerItem(), optional)]).toEqual([
    1, 0, 1, 0,
  ])
})
