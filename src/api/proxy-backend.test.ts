import { expect } from 'vitest'
import { validate } from '#schema/index.ts'
import { fieldOf, n } from '#test/support/field.ts'
import { verifies } from '#test/support/verifies.ts'
import { proxyBackendStatus } from './proxy-backend.ts'

const spec = (withHole: (x: unknown) => object) => fieldOf('ProxyBackend', (x) => ({ spec: withHole(x) }))
const shortString = { bad: { 'too-short': [''], 'too-long': ['x'.repeat(257)] } }
const host = {
  good: ['a', 'api.example.com', '10.0.0.1', '::1', '[2001:db8::1]', 'x'.repeat(63)],
  bad: { ...shortString.bad, 'invalid-host': ['http://a', 'a:80', 'a/b', 'a b', '[a]', '*.a'] },
} as const
const port = { good: [1, 65_535], bad: { 'out-of-range': [0, 65_536], 'wrong-type': ['80', 80.5] } } as const
const model = { good: ['x', 'x'.repeat(256)], ...shortString, optional: true } as const

verifies(['backend/spec-required', 'resource/spec-desired-state'], 'a ProxyBackend has a spec', () =>
  fieldOf('ProxyBackend', (x) => ({ spec: x })).is({
    good: [{ dynamicForwardProxy: {} }],
    bad: { 'wrong-type': [null, 'x', []] },
    required: true,
  }),
)

const DESTINATIONS = {
  ai: { provider: { providerOne: {} } },
  static: { host: 'a', port: 80 },
  dynamicForwardProxy: {},
  mcp: { targets: [{ name: 'a', static: { host: 'a', port: 80 } }] },
  aws: { agentRuntime: { agentRuntimeArn: 'arn:aws:bedrock-agentcore:us-east-1:123456789012:runtime/agent-1' } },
  a2a: { host: 'a', port: 80 },
}

verifies('backend/exactly-one-destination', 'a ProxyBackend is exactly one of six destinations', () =>
  fieldOf('ProxyBackend', (x) => ({ spec: x })).is({
    good: Object.entries(DESTINATIONS).map(([kind, value]) => ({ [kind]: value })),
    bad: {
      'exactly-one-of': [
        {},
        { policies: { tls: {} } },
        { static: DESTINATIONS.static, a2a: DESTINATIONS.a2a },
        DESTINATIONS,
      ],
    },
  }),
)

verifies('backend/policies-optional', 'policies may stand beside any destination', () => {
  for (const [kind, value] of Object.entries(DESTINATIONS)) {
    spec((policies) => ({ [kind]: value, policies })).is({
      good: [{ tls: {} }, { http: { version: 'HTTP2' } }],
      bad: { 'at-least-one-of': [{}] },
      optional: true,
    })
  }
})

verifies('backend.ai/backends-of-kind-ai', 'policies.ai is for ai backends', () => {
  const ai = { modelAliases: { a: 'b' } }
  for (const [kind, value] of Object.entries(DESTINATIONS)) {
    spec((x) => ({ [kind]: value, policies: { ai: x } })).is(
      kind === 'ai' ? { good: [ai] } : { bad: { 'not-together': [ai] } },
    )
  }
})

verifies('backend.mcp/backends-of-kind-mcp', 'policies.mcp is for mcp backends', () => {
  const mcp = { authorization: { policy: { matchExpressions: ['true'] } } }
  for (const [kind, value] of Object.entries(DESTINATIONS)) {
    spec((x) => ({ [kind]: value, policies: { mcp: x } })).is(
      kind === 'mcp' ? { good: [mcp] } : { bad: { 'not-together': [mcp] } },
    )
  }
})

const condition = (i: number) => ({
  type: `T${i}`,
  status: 'True',
  reason: 'Fine',
  message: '',
  lastTransitionTime: '2030-01-01T00:00:00Z',
})

verifies(
  ['backend/status-conditions-optional', 'backend/status-conditions-count'],
  'a status has at most 8 conditions',
  () => {
    expect(validate(proxyBackendStatus, {}).problems).toEqual([])
    expect(validate(proxyBackendStatus, { conditions: n(8, condition) }).problems).toEqual([])
    expect(validate(proxyBackendStatus, { conditions: n(9, condition) }).problems).toMatchObject([
      { path: 'conditions', code: 'too-many-items' },
    ])
  },
)

verifies('platform/condition', 'a condition has the fields of the platform', () => {
  const judge = (change: object) =>
    validate(proxyBackendStatus, { conditions: [{ ...condition(1), ...change }] }).problems
  expect(judge({ observedGeneration: 3 })).toEqual([])
  const bad = [
    [{ status: 'true' }, 'unknown-value'],
    [{ reason: '' }, 'too-short'],
    [{ reason: 'not a word' }, 'invalid-name'],
    [{ type: 'x'.repeat(317) }, 'too-long'],
    [{ message: 'x'.repeat(32_769) }, 'too-long'],
    [{ observedGeneration: -1 }, 'out-of-range'],
    [{ lastTransitionTime: 5 }, 'wrong-type'],
  ] as const
  for (const [change, code] of bad) {
    expect(judge(change)).toMatchObject([{ path: `conditions[0].${Object.keys(change)[0]}`, code }])
  }
})

verifies(
  ['backend.static/host-length', 'backend.static/host-and-port-optional', 'backend.static/unix-path-length'],
  'a static backend is a host and port, or a socket',
  () => {
    spec((x) => ({ static: { host: x, port: 80 } })).is(host)
    spec((x) => ({ static: { unixPath: x } })).is({
      good: ['/', `/${'x'.repeat(106)}`],
      bad: {
        'too-short': [''],
        'invalid-path': ['run/socket', '/run/a\0b', '/run/a\n', '\0abstract'],
        'too-long': [`/${'x'.repeat(107)}`, `/${'ä'.repeat(54)}`],
      },
    })
    spec((x) => ({ static: x })).is({ bad: { 'exactly-one-of': [{}, { host: 'a' }, { port: 80 }] } })
  },
)

verifies('backend.static/port-range', 'static.port is a port', () =>
  spec((x) => ({ static: { host: 'a', port: x } })).is(port),
)

verifies('backend.static/unix-path-excludes-host', 'unixPath excludes host', () =>
  spec((x) => ({ static: { unixPath: '/s', host: x } })).is({ bad: { 'not-together': ['a'] } }),
)

verifies('backend.static/unix-path-excludes-port', 'unixPath excludes port', () =>
  spec((x) => ({ static: { unixPath: '/s', port: x } })).is({ bad: { 'not-together': [80] } }),
)

verifies(['backend.a2a/host-required', 'backend.a2a/host-length'], 'a2a.host is a required host', () =>
  spec((x) => ({ a2a: { host: x, port: 80 } })).is({ ...host, required: true }),
)

verifies(['backend.a2a/port-required', 'backend.a2a/port-range'], 'a2a.port is a required port', () =>
  spec((x) => ({ a2a: { host: 'a', port: x } })).is({ ...port, required: true }),
)

verifies('backend.aws/exactly-one', 'aws is an agentRuntime', () =>
  spec((x) => ({ aws: x })).is({ good: [DESTINATIONS.aws], bad: { 'exactly-one-of': [{}] } }),
)

verifies('backend.aws.agentRuntime/agentRuntimeArn-required', 'agentRuntimeArn is a required ARN', () =>
  spec((x) => ({ aws: { agentRuntime: { agentRuntimeArn: x } } })).is({
    good: ['arn:aws:bedrock-agentcore:us-west-2:123456789012:runtime/my_agent-Ab1'],
    bad: {
      'invalid-identifier': [
        '',
        'arn:aws:bedrock:us-west-2:123456789012:runtime/a',
        'arn:aws:bedrock-agentcore:us-west-2:12345:runtime/a',
        'arn:aws:bedrock-agentcore:us-west-2:123456789012:runtime/',
        'arn:other:bedrock-agentcore:us-west-2:123456789012:runtime/a',
      ],
    },
    required: true,
  }),
)

verifies('backend.aws.agentRuntime/qualifier-optional', 'qualifier is optional', () =>
  spec((qualifier) => ({ aws: { agentRuntime: { ...DESTINATIONS.aws.agentRuntime, qualifier } } })).is({
    good: ['PROD', '1'],
    bad: { 'wrong-type': [1] },
    optional: true,
  }),
)

const target = (i: number) => ({ name: `t${i}`, static: { host: 'a', port: 80 } })
const mcp = (withHole: (x: unknown) => object) => spec((x) => ({ mcp: { targets: [target(0)], ...withHole(x) } }))

verifies(['backend.mcp/targets-required', 'backend.mcp/targets-count'], 'mcp has 1 to 32 targets', () =>
  mcp((targets) => ({ targets })).is({
    good: [n(1, target), n(32, target)],
    bad: { 'too-few-items': [[]], 'too-many-items': [n(33, target)] },
    required: true,
  }),
)

verifies(['backend.mcp/sessionRouting-values', 'backend.mcp/sessionRouting-default'], 'sessionRouting', () =>
  mcp((sessionRouting) => ({ sessionRouting })).is({
    good: ['Stateful', 'Stateless'],
    bad: { 'unknown-value': ['stateful'] },
    default: 'Stateful',
  }),
)

verifies('backend.mcp/failureMode-values', 'failureMode', () =>
  mcp((failureMode) => ({ failureMode })).is({
    good: ['FailClosed', 'FailOpen'],
    bad: { 'unknown-value': ['Closed'] },
    optional: true,
  }),
)

const oneTarget = (withHole: (x: unknown) => object) =>
  mcp((x) => ({ targets: [target(0), { ...target(1), ...withHole(x) }] }))

verifies(
  ['backend.mcp.targets/name-required', 'backend.mcp.targets/name-section-name', 'scalar/section-name'],
  'a target has a name of its own',
  () =>
    oneTarget((name) => ({ name })).is({
      good: ['a', 'a-1.b', '8080', 'x'.repeat(253)],
      bad: {
        'invalid-section-name': ['A', 'a_b', '-a', 'a b'],
        'too-short': [''],
        'too-long': ['x'.repeat(254)],
        duplicate: ['t0'],
      },
      required: true,
    }),
)

verifies('backend.mcp.targets/exactly-one', 'a target is a selector or static', () =>
  mcp((x) => ({ targets: [x] })).is({
    good: [target(1), { name: 'a', selector: { services: {} } }],
    bad: { 'exactly-one-of': [{ name: 'a' }, { ...target(1), selector: { services: {} } }] },
  }),
)

const selector = (withHole: (x: unknown) => object) => mcp((x) => ({ targets: [{ name: 'a', selector: withHole(x) }] }))

verifies(
  ['backend.mcp.targets.selector/namespaces', 'backend.mcp.targets.selector/services', 'platform/label-selector'],
  'a selector selects namespaces and services by labels',
  () => {
    const labels = {
      good: [
        {},
        { matchLabels: { a: 'b' } },
        { matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] },
        { matchExpressions: [{ key: 'a', operator: 'Exists' }] },
      ],
      bad: { 'wrong-type': ['a=b', []] },
    }
    selector((services) => ({ services })).is(labels)
    selector((namespaces) => ({ namespaces })).is(labels)
    selector((operator) => ({ services: { matchExpressions: [{ key: 'a', operator }] } })).is({
      good: ['In', 'NotIn', 'Exists', 'DoesNotExist'],
      bad: { 'unknown-value': ['Equals'] },
      required: true,
    })
    mcp((x) => ({ targets: [{ name: 'a', selector: x }] })).is({ bad: { 'at-least-one-of': [{}] } })
  },
)

const staticTarget = (withHole: (x: unknown) => object) =>
  mcp((x) => ({ targets: [{ name: 'a', static: withHole(x) }] }))

verifies('backend.mcp.targets.static/exactly-one', 'a static target has a host or a backendRef', () =>
  mcp((x) => ({ targets: [{ name: 'a', static: x }] })).is({
    good: [
      { host: 'a', port: 80 },
      { backendRef: { name: 'a' }, port: 80 },
    ],
    bad: { 'exactly-one-of': [{ port: 80 }, { host: 'a', backendRef: { name: 'a' }, port: 80 }] },
  }),
)

verifies('backend.mcp.targets.static/host-length', 'the host of a static target is a host', () =>
  staticTarget((x) => ({ host: x, port: 80 })).is(host),
)

verifies(
  ['backend.mcp.targets.static/port-required', 'backend.mcp.targets.static/port-range'],
  'a static target has a port',
  () => staticTarget((x) => ({ host: 'a', port: x })).is({ ...port, required: true }),
)

verifies('backend.mcp.targets.static/path-length', 'path is a LongString', () =>
  staticTarget((path) => ({ host: 'a', port: 80, path })).is({
    good: ['/mcp', `/${'x'.repeat(1023)}`],
    bad: { 'too-short': [''], 'too-long': [`/${'x'.repeat(1024)}`] },
    optional: true,
  }),
)

verifies('backend.mcp.targets.static/protocol-values', 'protocol is StreamableHTTP or SSE', () =>
  staticTarget((protocol) => ({ host: 'a', port: 80, protocol })).is({
    good: ['StreamableHTTP', 'SSE'],
    bad: { 'unknown-value': ['HTTP', 'sse'] },
    optional: true,
  }),
)

verifies('backend.mcp.targets.static/policies-fields', 'policies of a target takes connection settings', () =>
  staticTarget((policies) => ({ host: 'a', port: 80, policies })).is({
    good: [{}, { tls: {}, auth: { key: 'k' } }],
    optional: true,
  }),
)

verifies('backend.mcp.targets.static/policies-host-only', 'policies of a target needs host', () =>
  staticTarget((policies) => ({ backendRef: { name: 'a' }, port: 80, policies })).is({ bad: { 'not-together': [{}] } }),
)

const provider = (i: number, g = 0) => ({ name: `p${g}-${i}`, providerOne: {} })
const ai = (withHole: (x: unknown) => object) => spec((x) => ({ ai: withHole(x) }))

verifies('backend.ai/exactly-one', 'ai has one provider or groups', () =>
  spec((x) => ({ ai: x })).is({
    good: [{ provider: { providerOne: {} } }, { groups: [{ providers: [provider(0)] }] }],
    bad: { 'exactly-one-of': [{}, { provider: { providerOne: {} }, groups: [{ providers: [provider(0)] }] }] },
  }),
)

verifies('backend.ai.groups/count', 'groups has 1 to 8 items', () => {
  const group = (g: number) => ({ providers: [provider(0, g)] })
  ai((groups) => ({ groups })).is({
    good: [n(1, group), n(8, group)],
    bad: { 'too-few-items': [[]], 'too-many-items': [n(9, group)] },
  })
})

verifies(
  ['backend.ai.groups/providers-required', 'backend.ai.groups/providers-count'],
  'a group has 1 to 16 providers',
  () =>
    ai((providers) => ({ groups: [{ providers }] })).is({
      good: [n(1, (i) => provider(i)), n(16, (i) => provider(i))],
      bad: { 'too-few-items': [[]], 'too-many-items': [n(17, (i) => provider(i))] },
      required: true,
    }),
)

verifies('backend.ai.groups/unique-names', 'provider names are unique in and across groups', () => {
  ai((name) => ({ groups: [{ providers: [provider(0), { ...provider(1), name }] }] })).is({
    bad: { duplicate: ['p0-0'] },
  })
  ai((name) => ({ groups: [{ providers: [provider(0)] }, { providers: [{ ...provider(1), name }] }] })).is({
    good: ['other', 'backend'],
    bad: { duplicate: ['p0-0'] },
  })
})

verifies(
  ['backend.ai.groups.providers/name-required', 'backend.ai.groups.providers/name-section-name'],
  'a provider of a group has a name',
  () =>
    ai((name) => ({ groups: [{ providers: [{ ...provider(0), name }] }] })).is({
      good: ['a', 'a.b-1'],
      bad: { 'invalid-section-name': ['A', 'a b'], 'too-short': [''] },
      required: true,
    }),
)

verifies('backend.ai.groups.providers/policies-fields', 'a provider of a group has policies', () =>
  ai((policies) => ({ groups: [{ providers: [{ ...provider(0), policies }] }] })).is({
    good: [{ auth: { key: 'k' } }, { ai: { modelAliases: {} } }],
    bad: { 'at-least-one-of': [{}] },
    optional: true,
  }),
)

const BLOCKS = {
  providerOne: {},
  providerTwo: { endpoint: 'https://a.example' },
  providerThree: { resourceName: 'a', resourceType: 'ResourceTypeOne' },
  providerFour: {},
  providerFive: {},
  providerSix: { projectId: 'p' },
  providerSeven: {},
}

/** A provider alone and a provider in a group take the same fields. */
function providers(withHole: (x: unknown) => object) {
  return [
    ai((x) => ({ provider: withHole(x) })),
    ai((x) => ({ groups: [{ providers: [{ name: 'a', ...withHole(x) }] }] })),
  ]
}

verifies(
  ['backend.ai.provider/exactly-one-block', 'backend.ai.groups.providers/provider-fields'],
  'a provider is exactly one of seven blocks',
  () => {
    for (const [block, settings] of Object.entries(BLOCKS)) {
      for (const field of providers((x) => ({ [block]: x }))) field.is({ good: [settings] })
    }
    ai((x) => ({ provider: x })).is({
      bad: { 'exactly-one-of': [{}, { host: 'a' }, { providerOne: {}, providerFive: {} }] },
    })
  },
)

verifies('backend.ai.provider/host-length', 'host of a provider is a host', () => {
  for (const field of providers((x) => ({ providerOne: {}, host: x }))) field.is({ ...host, optional: true })
})

verifies('backend.ai.provider/port-range', 'port of a provider is a port', () => {
  for (const field of providers((x) => ({ providerOne: {}, port: x }))) field.is({ ...port, optional: true })
})

const longPath = {
  good: ['/', 'x'.repeat(1024)],
  bad: { 'too-short': [''], 'too-long': ['x'.repeat(1025)] },
  optional: true,
} as const

verifies('backend.ai.provider/path-length', 'path of a provider is a LongString', () => {
  for (const field of providers((x) => ({ providerOne: {}, path: x }))) field.is(longPath)
})

verifies('backend.ai.provider/pathPrefix-length', 'pathPrefix of a provider is a LongString', () => {
  for (const field of providers((x) => ({ providerFour: {}, pathPrefix: x }))) field.is(longPath)
})

verifies('backend.ai.provider/pathPrefix-providers', 'pathPrefix is for providers one and four', () => {
  for (const [block, settings] of Object.entries(BLOCKS)) {
    const known = block === 'providerOne' || block === 'providerFour'
    for (const field of providers((x) => ({ [block]: settings, pathPrefix: x }))) {
      field.is(known ? { good: ['/v1'] } : { bad: { 'not-together': ['/v1'] } })
    }
  }
})

verifies('backend.ai.provider/model-length', 'model is an optional ShortString', () => {
  for (const [block, settings] of Object.entries(BLOCKS)) {
    if (block === 'providerTwo') continue
    ai((x) => ({ provider: { [block]: { ...settings, model: x } } })).is(model)
  }
})

const block = (name: keyof typeof BLOCKS, withHole: (x: unknown) => object) =>
  ai((x) => ({ provider: { [name]: { ...BLOCKS[name], ...withHole(x) } } }))

verifies(['backend.ai.providerTwo/endpoint-required', 'backend.ai.providerTwo/endpoint-length'], 'endpoint', () =>
  block('providerTwo', (endpoint) => ({ endpoint })).is({
    good: ['a', 'x'.repeat(256)],
    ...shortString,
    required: true,
  }),
)

verifies('backend.ai.providerTwo/deploymentName-length', 'deploymentName is a ShortString', () =>
  block('providerTwo', (deploymentName) => ({ deploymentName })).is(model),
)

verifies('backend.ai.providerTwo/deploymentName-required', 'deploymentName is required unless apiVersion is v1', () => {
  block('providerTwo', (deploymentName) => ({ apiVersion: '2024-10-21', deploymentName })).is({
    good: ['d'],
    required: true,
  })
  block('providerTwo', (deploymentName) => ({ apiVersion: 'preview', deploymentName })).is({ required: true })
  block('providerTwo', (deploymentName) => ({ apiVersion: 'v1', deploymentName })).is({ good: ['d'], optional: true })
})

verifies(
  ['backend.ai.providerTwo/apiVersion-length', 'backend.ai.providerTwo/apiVersion-default'],
  'apiVersion of two',
  () =>
    block('providerTwo', (apiVersion) => ({ apiVersion, deploymentName: 'd' })).is({
      good: ['x', 'x'.repeat(64)],
      bad: { 'too-short': [''], 'too-long': ['x'.repeat(65)] },
      default: 'v1',
    }),
)

verifies(
  ['backend.ai.providerThree/resourceName-required', 'backend.ai.providerThree/resourceName-length'],
  'resourceName',
  () =>
    block('providerThree', (resourceName) => ({ resourceName })).is({
      good: ['x'.repeat(256)],
      ...shortString,
      required: true,
    }),
)

verifies(
  ['backend.ai.providerThree/resourceType-required', 'backend.ai.providerThree/resourceType-values'],
  'resourceType',
  () =>
    block('providerThree', (resourceType) => ({ resourceType, projectName: 'p' })).is({
      good: ['ResourceTypeOne', 'ResourceTypeTwo'],
      bad: { 'unknown-value': ['ResourceTypeThree'] },
      required: true,
    }),
)

verifies(
  ['backend.ai.providerThree/apiVersion-length', 'backend.ai.providerThree/apiVersion-default'],
  'apiVersion of three',
  () =>
    block('providerThree', (apiVersion) => ({ apiVersion })).is({
      good: ['x'.repeat(64)],
      bad: { 'too-short': [''], 'too-long': ['x'.repeat(65)] },
      default: 'v1',
    }),
)

verifies('backend.ai.providerThree/projectName-length', 'projectName is a ShortString', () =>
  block('providerThree', (projectName) => ({ projectName })).is(model),
)

verifies('backend.ai.providerThree/projectName-required', 'projectName is required with ResourceTypeTwo', () =>
  block('providerThree', (projectName) => ({ resourceType: 'ResourceTypeTwo', projectName })).is({
    good: ['p'],
    required: true,
  }),
)

verifies(['backend.ai.providerSix/projectId-required', 'backend.ai.providerSix/projectId-length'], 'projectId', () =>
  block('providerSix', (projectId) => ({ projectId })).is({
    good: ['x'.repeat(64)],
    bad: { 'too-short': [''], 'too-long': ['x'.repeat(65)] },
    required: true,
  }),
)

verifies('backend.ai.providerSix/region-length', 'region of six', () =>
  block('providerSix', (region) => ({ region })).is({
    good: ['us', 'x'.repeat(64)],
    bad: { 'too-short': [''], 'too-long': ['x'.repeat(65)] },
    default: 'global',
  }),
)

verifies('backend.ai.providerSeven/region-form', 'region of seven', () =>
  block('providerSeven', (region) => ({ region })).is({
    good: ['a', 'eu-central-1', 'x'.repeat(63)],
    bad: { 'too-short': [''], 'too-long': ['x'.repeat(64)], 'invalid-region': ['EU', 'a.b', 'a/b'] },
    default: 'us-east-1',
  }),
)

verifies(
  'backend.ai.providerSeven/guardrail-identifier-required',
  'guardrail.identifier is a required ShortString',
  () =>
    block('providerSeven', (x) => ({ guardrail: { identifier: x, version: '1' } })).is({
      ...shortString,
      required: true,
    }),
)

verifies('backend.ai.providerSeven/guardrail-version-required', 'guardrail.version is a required ShortString', () =>
  block('providerSeven', (x) => ({ guardrail: { identifier: 'a', version: x } })).is({
    ...shortString,
    required: true,
  }),
)
