import { expect, test } from 'vitest'
import { validate } from '#schema/index.ts'
import { complete, type Field, fieldOf, n } from '#test/support/field.ts'
import { verifies } from '#test/support/verifies.ts'
import { policyStatus } from './policy-status.ts'
import { proxyPolicy } from './proxy-policy.ts'

const GATEWAY_GROUP = 'gateway.networking.k8s.io'
const gateway = { group: GATEWAY_GROUP, kind: 'Gateway', name: 'main' }
const listener = { ...gateway, sectionName: 'http' }
const listenerSet = { ...gateway, kind: 'ListenerSet' }
const route = { ...gateway, kind: 'HTTPRoute' }
const routeRule = { ...route, sectionName: 'checkout' }
const grpcRoute = { ...gateway, kind: 'GRPCRoute' }
const service = { group: '', kind: 'Service', name: 'web' }
const backend = { group: 'gatewright.dev', kind: 'ProxyBackend', name: 'llm' }
const pool = { group: 'inference.networking.k8s.io', kind: 'InferencePool', name: 'pool' }

const SECTIONS = {
  frontend: { tcp: { keepalive: {} } },
  traffic: { csrf: {} },
  backend: { http: { version: 'HTTP2' } },
}
type Section = keyof typeof SECTIONS

const policy = (withHole: (x: unknown) => object): Field => fieldOf('ProxyPolicy', (x) => ({ spec: withHole(x) }))

function codesOf(spec: object): readonly string[] {
  return validate(proxyPolicy, complete('ProxyPolicy', { spec })).problems.map(({ path, code }) => `${path} ${code}`)
}

/** The same target written both ways. */
function attached(section: Section, target: Readonly<Record<string, string>>): readonly (readonly string[])[] {
  const { name: _, ...selected } = target
  const value = { [section]: SECTIONS[section] }
  return [
    codesOf({ targetRefs: [target], ...value }),
    codesOf({ targetSelectors: [{ ...selected, matchLabels: { app: 'x' } }], ...value }),
  ]
}

function allows(section: Section, target: Readonly<Record<string, string>>): void {
  expect(attached(section, target)).toEqual([[], []])
}

function refuses(section: Section, target: Readonly<Record<string, string>>, at: string = `spec.${section}`): void {
  const [ref, selector] = attached(section, target)
  expect(ref).toEqual([`${at} target-not-allowed`])
  expect(selector).toEqual([`${at.replace('targetRefs', 'targetSelectors')} target-not-allowed`])
}

verifies('policy/spec-required', 'a ProxyPolicy has a spec', () =>
  fieldOf('ProxyPolicy', (x) => ({ spec: x })).is({ bad: { 'wrong-type': [null, []] }, required: true }),
)

verifies('policy/exactly-one-target-list', 'a policy has targetRefs or targetSelectors', () =>
  fieldOf('ProxyPolicy', (x) => ({ spec: x })).is({
    good: [
      { targetRefs: [gateway], traffic: {} },
      { targetSelectors: [{ group: GATEWAY_GROUP, kind: 'Gateway', matchLabels: {} }], traffic: {} },
    ],
    bad: {
      'exactly-one-of': [
        { traffic: {} },
        {
          targetRefs: [gateway],
          targetSelectors: [{ group: GATEWAY_GROUP, kind: 'Gateway', matchLabels: {} }],
          traffic: {},
        },
      ],
    },
  }),
)

verifies('policy/at-least-one-section', 'a policy has a section', () =>
  fieldOf('ProxyPolicy', (x) => ({ spec: x })).is({
    good: [{ targetRefs: [gateway], ...SECTIONS }],
    bad: { 'at-least-one-of': [{ targetRefs: [gateway] }] },
  }),
)

verifies('policy/targetRefs-count', 'targetRefs has 1 to 16 items', () => {
  const named = (i: number) => ({ ...gateway, name: `g${i}` })
  policy((targetRefs) => ({ targetRefs, traffic: {} })).is({
    good: [n(1, named), n(16, named), [gateway, gateway]],
    bad: { 'too-few-items': [[]], 'too-many-items': [n(17, named)] },
  })
})

verifies('policy/targetRefs-fields', 'a target has group, kind and name', () => {
  for (const field of ['group', 'kind', 'name']) {
    policy((x) => ({ targetRefs: [{ ...gateway, [field]: x }], traffic: {} })).is({ required: true })
  }
  policy((namespace) => ({ targetRefs: [{ ...gateway, namespace }], traffic: {} })).is({
    bad: { 'unknown-field': ['other'] },
  })
  policy((name) => ({ targetRefs: [{ ...gateway, name }], traffic: {} })).is({ bad: { 'invalid-name': ['A b'] } })
})

verifies('policy/targetRefs-sectionName', 'a target may have a sectionName', () =>
  policy((sectionName) => ({ targetRefs: [{ ...gateway, sectionName }], traffic: {} })).is({
    good: ['http', 'a.b-1'],
    bad: { 'invalid-section-name': ['HTTP', 'a b'], 'too-short': [''] },
    optional: true,
  }),
)

verifies('policy/targetSelectors-count', 'targetSelectors has 1 to 16 items', () => {
  const selector = (i: number) => ({ group: GATEWAY_GROUP, kind: 'Gateway', matchLabels: { tier: `${i}` } })
  policy((targetSelectors) => ({ targetSelectors, traffic: {} })).is({
    good: [n(1, selector), n(16, selector)],
    bad: { 'too-few-items': [[]], 'too-many-items': [n(17, selector)] },
  })
})

verifies('policy/targetSelectors', 'a selector has group, kind, matchLabels and perhaps a sectionName', () => {
  const selector = { group: GATEWAY_GROUP, kind: 'Gateway', matchLabels: {}, sectionName: 'http' }
  for (const field of ['group', 'kind', 'matchLabels']) {
    policy((x) => ({ targetSelectors: [{ ...selector, [field]: x }], traffic: {} })).is({ required: true })
  }
  policy((sectionName) => ({ targetSelectors: [{ ...selector, sectionName }], traffic: {} })).is({
    good: ['http'],
    optional: true,
  })
  policy((name) => ({ targetSelectors: [{ ...selector, name }], traffic: {} })).is({
    bad: { 'unknown-field': ['main'] },
  })
})

verifies('policy/frontend-target-gateway', 'frontend targets a Gateway', () => allows('frontend', gateway))
verifies('policy/frontend-target-listener-refused', 'frontend does not target a listener', () =>
  refuses('frontend', listener, 'spec.targetRefs[0].sectionName'),
)
verifies('policy/frontend-target-listener-set-refused', 'frontend does not target a ListenerSet', () =>
  refuses('frontend', listenerSet),
)
verifies('policy/frontend-target-route-refused', 'frontend does not target routes', () => {
  for (const target of [route, grpcRoute]) refuses('frontend', target)
})
verifies('policy/frontend-target-service-refused', 'frontend does not target a Service', () => {
  for (const target of [service, pool]) refuses('frontend', target)
})
verifies('policy/frontend-target-backend-refused', 'frontend does not target a backend', () =>
  refuses('frontend', backend),
)

verifies('policy/traffic-target-gateway', 'traffic targets a Gateway', () => allows('traffic', gateway))
verifies('policy/traffic-target-listener', 'traffic targets a listener', () => allows('traffic', listener))
verifies('policy/traffic-target-listener-set', 'traffic targets a ListenerSet', () => allows('traffic', listenerSet))
verifies('policy/traffic-target-route', 'traffic targets HTTP and gRPC routes', () => {
  for (const target of [route, grpcRoute, pool]) allows('traffic', target)
})
verifies('policy/traffic-target-route-rule', 'traffic targets a route rule', () => allows('traffic', routeRule))
verifies('policy/traffic-target-others-refused', 'traffic does not target backends', () => {
  for (const target of [service, backend]) refuses('traffic', target)
})

verifies('policy/backend-target-gateway', 'backend targets a Gateway', () => {
  for (const target of [gateway, listener]) allows('backend', target)
})
verifies('policy/backend-target-listener-set', 'backend targets a ListenerSet', () => allows('backend', listenerSet))
verifies('policy/backend-target-route', 'backend targets a route', () => {
  for (const target of [route, routeRule, grpcRoute, pool]) allows('backend', target)
})
verifies('policy/backend-target-service', 'backend targets a Service', () => allows('backend', service))
verifies('policy/backend-target-backend', 'backend targets a ProxyBackend', () => allows('backend', backend))
verifies('policy/backend-target-sub-backend', 'backend targets a part of a ProxyBackend', () =>
  allows('backend', { ...backend, sectionName: 'fast' }),
)
verifies('policy/backend-target-service-port', 'backend targets a port of a Service by its number', () =>
  policy((sectionName) => ({ targetRefs: [{ ...service, sectionName }], backend: SECTIONS.backend })).is({
    good: ['1', '80', '65535'],
    bad: { 'invalid-section-name': ['http', '0', '65536', '080'] },
    optional: true,
  }),
)

test.each([
  ['a kind that policies do not know', { ...gateway, kind: 'Pod' }, 'spec.targetRefs[0].kind target-not-allowed'],
  ['a TCPRoute', { ...gateway, kind: 'TCPRoute' }, 'spec.targetRefs[0].kind target-not-allowed'],
  ['a TLSRoute', { ...gateway, kind: 'TLSRoute' }, 'spec.targetRefs[0].kind target-not-allowed'],
  ['a Service with a group', { ...service, group: 'core' }, 'spec.targetRefs[0].group target-not-allowed'],
  ['a Gateway of another group', { ...gateway, group: 'istio.io' }, 'spec.targetRefs[0].group target-not-allowed'],
])('%s cannot be a target', (_, target, expected) => {
  expect(codesOf({ targetRefs: [target], backend: SECTIONS.backend })).toEqual([expected])
})

test.each([
  ['core', 'Service', 'must be empty for kind Service'],
  ['', 'Gateway', 'must be "gateway.networking.k8s.io" for kind Gateway'],
  ['core', 'ProxyBackend', 'must be "gatewright.dev" for kind ProxyBackend'],
])('group "%s" of a %s: %s', (group, kind, message) => {
  const spec = { targetRefs: [{ group, kind, name: 'a' }], backend: SECTIONS.backend }
  expect(validate(proxyPolicy, complete('ProxyPolicy', { spec })).problems).toMatchObject([{ message }])
})

test('all targets are of one kind', () => {
  expect(codesOf({ targetRefs: [gateway, route], traffic: {} })).toEqual(['spec.targetRefs[1].kind target-kinds-mixed'])
})

verifies('traffic/pre-routing-target', 'PreRouting is for Gateways, listeners and ListenerSets', () => {
  for (const target of [gateway, listener, listenerSet]) {
    expect(codesOf({ targetRefs: [target], traffic: { phase: 'PreRouting' } })).toEqual([])
  }
  for (const target of [route, routeRule, grpcRoute, pool]) {
    expect(codesOf({ targetRefs: [target], traffic: { phase: 'PreRouting' } })).toEqual([
      'spec.traffic.phase target-not-allowed',
    ])
    expect(codesOf({ targetRefs: [target], traffic: { phase: 'PostRouting' } })).toEqual([])
  }
})

const AT_PHASE = {
  transformation: { request: { body: '1' } },
  extProc: { backendRef: { name: 'a', port: 1 } },
  extAuth: { backendRef: { name: 'a', port: 1 }, grpc: {} },
  rateLimit: { local: [{ requests: 1, unit: 'Hours' }] },
  cors: {},
  csrf: {},
  headerModifiers: { request: {} },
  hostRewrite: { mode: 'None' },
  timeouts: {},
  retry: {},
  authorization: { policy: { matchExpressions: ['true'] } },
  jwtAuthentication: { providers: [{ issuer: 'a', jwks: { inline: '{}' } }] },
  basicAuthentication: { users: ['a:x'] },
  apiKeyAuthentication: { secretRef: { name: 'a' } },
  directResponse: { status: 204 },
}

test('PreRouting allows only policies that can act before a route is known', () => {
  const refused = Object.entries(AT_PHASE)
    .filter(
      ([field, value]) =>
        codesOf({ targetRefs: [gateway], traffic: { phase: 'PreRouting', [field]: value } }).length > 0,
    )
    .map(([field]) => field)
  expect(refused).toEqual([
    'rateLimit',
    'csrf',
    'headerModifiers',
    'hostRewrite',
    'timeouts',
    'retry',
    'directResponse',
  ])
  expect(codesOf({ targetRefs: [gateway], traffic: { phase: 'PreRouting', csrf: {} } })).toEqual([
    'spec.traffic.csrf phase-not-allowed',
  ])
})

const mcpRules = { authorization: { policy: { matchExpressions: ['true'] } } }

test.each([
  ['ai on a Service', { targetRefs: [service], backend: { ai: { routes: {} } } }, 'spec.backend.ai target-not-allowed'],
  ['mcp on a Service', { targetRefs: [service], backend: { mcp: mcpRules } }, 'spec.backend.mcp target-not-allowed'],
  [
    'mcp on a part of a ProxyBackend',
    { targetRefs: [{ ...backend, sectionName: 'a' }], backend: { mcp: mcpRules } },
    'spec.backend.mcp target-not-allowed',
  ],
  [
    'two MCP authentications',
    {
      targetRefs: [gateway],
      traffic: { jwtAuthentication: AT_PHASE.jwtAuthentication },
      backend: { mcp: { authentication: { jwks: { jwksPath: '/c', backendRef: { name: 'a', port: 1 } } } } },
    },
    'spec.backend.mcp.authentication not-together',
  ],
])('%s is refused', (_, spec, expected) => {
  expect(codesOf(spec)).toEqual([expected])
})

test('rules on targets are checked although a section is invalid', () => {
  expect(codesOf({ targetRefs: [service], traffic: { phase: 'PreRouting', hostRewrite: {} } })).toEqual([
    'spec.traffic.hostRewrite.mode required',
    'spec.traffic.hostRewrite phase-not-allowed',
    'spec.traffic target-not-allowed',
    'spec.traffic.phase target-not-allowed',
  ])
})

const ancestor = { ancestorRef: { name: 'main' }, controllerName: 'gatewright.dev/controller' }

function statusCodes(status: object): readonly string[] {
  return validate(policyStatus, status).problems.map(({ path, code }) => `${path} ${code}`)
}

verifies(
  ['policy.status/conditions', 'policy.status/ancestors-required'],
  'a policy status has ancestors and conditions',
  () => {
    expect(statusCodes({ ancestors: [] })).toEqual([])
    expect(statusCodes({ ancestors: [], conditions: [] })).toEqual([])
    expect(statusCodes({})).toEqual(['ancestors required'])
    expect(statusCodes({ ancestors: n(17, () => ancestor) })).toEqual(['ancestors too-many-items'])
  },
)

verifies(
  ['policy.status/ancestorRef-required', 'policy.status/controllerName-required', 'policy.status/ancestor-conditions'],
  'an ancestor has a reference, a controller and conditions',
  () => {
    expect(statusCodes({ ancestors: [{ ...ancestor, conditions: [] }] })).toEqual([])
    expect(statusCodes({ ancestors: [{}] })).toEqual([
      'ancestors[0].ancestorRef required',
      'ancestors[0].controllerName required',
    ])
  },
)

verifies('policy.status/controllerName-form', 'a controller name is domain/path', () => {
  for (const controllerName of ['gatewright', '/a', 'a.b/', 'A.b/c', 'a b/c']) {
    expect(statusCodes({ ancestors: [{ ...ancestor, controllerName }] })).toEqual([
      'ancestors[0].controllerName invalid-name',
    ])
  }
})

verifies('platform/parent-reference', 'a parent reference has the fields of the platform', () => {
  const { value } = validate(policyStatus, { ancestors: [ancestor] })
  expect(value?.ancestors[0]?.ancestorRef).toEqual({ group: GATEWAY_GROUP, kind: 'Gateway', name: 'main' })
  const full = { group: '', kind: 'Service', name: 'a', namespace: 'b', sectionName: 'http', port: 80 }
  expect(statusCodes({ ancestors: [{ ...ancestor, ancestorRef: full }] })).toEqual([])
  expect(statusCodes({ ancestors: [{ ...ancestor, ancestorRef: { port: 0 } }] })).toEqual([
    'ancestors[0].ancestorRef.port out-of-range',
    'ancestors[0].ancestorRef.name required',
  ])
})
