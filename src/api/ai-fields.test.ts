import { test } from 'vitest'
import { type Field, fieldOf, n } from '#test/support/field.ts'
import { verifies } from '#test/support/verifies.ts'

const gateway = { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'main' }
const ai = (withHole: (x: unknown) => object): Field =>
  fieldOf('ProxyPolicy', (x) => ({ spec: { targetRefs: [gateway], backend: { ai: withHole(x) } } }))

const service = { name: 'guard', port: 8080 }
const shortString = { good: ['x', 'x'.repeat(256)], bad: { 'too-short': [''], 'too-long': ['x'.repeat(257)] } }
const anyJson = ['x', 1, 1.5, true, [1, 'a'], { a: { b: [] } }, null]

verifies(['llm.routes/values'], 'a route type is one of nine', () =>
  ai((type) => ({ routes: { '/v1/chat/completions': type, '*': 'Passthrough' } })).is({
    good: [
      'Completions',
      'Messages',
      'Models',
      'Passthrough',
      'Detect',
      'Responses',
      'MessagesTokenCount',
      'Embeddings',
      'Realtime',
    ],
    bad: { 'unknown-value': ['completions', 'Rerank'] },
  }),
)

verifies('backend.ai.prompt/role-required', 'a message has a role', () =>
  ai((role) => ({ prompt: { prepend: [{ role, content: 'x' }] } })).is({
    good: ['system', 'SYSTEM', 'developer', 'user', 'Assistant'],
    bad: { 'unknown-value': ['tool', ''], 'wrong-type': [1] },
    required: true,
  }),
)

verifies('backend.ai.prompt/content-required', 'a message has a content', () =>
  ai((content) => ({ prompt: { append: [{ role: 'user', content }] } })).is({
    good: ['', 'x'.repeat(100_000)],
    bad: { 'wrong-type': [[], 1] },
    required: true,
  }),
)

for (const list of ['defaults', 'overrides'] as const) {
  const item = (i: number) => ({ field: `f${i}`, value: i })
  const count = {
    good: [n(1, item), n(64, item)],
    bad: { 'too-few-items': [[]], 'too-many-items': [n(65, item)] },
  }
  if (list === 'defaults')
    verifies('backend.ai.defaults/count', 'defaults has 1 to 64 items', () => ai((x) => ({ [list]: x })).is(count))
  else verifies('backend.ai.overrides/count', 'overrides has 1 to 64 items', () => ai((x) => ({ [list]: x })).is(count))

  verifies('backend.ai.defaults/field-required', `an item of ${list} has a field, different from the others`, () => {
    ai((field) => ({ [list]: [{ field, value: 1 }] })).is({ ...shortString, required: true })
    ai((field) => ({ [list]: [item(1), { field, value: 1 }] })).is({ good: ['f2'], bad: { duplicate: ['f1'] } })
  })

  verifies(
    ['backend.ai.defaults/value-required', 'backend.ai.defaults/value-any-json'],
    `an item of ${list} has a value`,
    () => ai((value) => ({ [list]: [{ field: 'a', value }] })).is({ good: anyJson, required: true }),
  )
}

verifies('backend.ai.transformations/count', 'transformations has 1 to 64 items', () => {
  const item = (i: number) => ({ field: `f${i}`, expression: '1' })
  ai((transformations) => ({ transformations })).is({
    good: [n(1, item), n(64, item)],
    bad: { 'too-few-items': [[]], 'too-many-items': [n(65, item)] },
  })
})

verifies('backend.ai.transformations/field-required', 'a transformation has a field', () =>
  ai((field) => ({ transformations: [{ field, expression: '1' }] })).is({ ...shortString, required: true }),
)

verifies('backend.ai.transformations/expression-required', 'a transformation has an expression', () =>
  ai((expression) => ({ transformations: [{ field: 'a', expression }] })).is({
    good: ['1'],
    bad: { 'too-short': [''], 'too-long': ['1'.repeat(16_385)] },
    required: true,
  }),
)

verifies('backend.ai.modelAliases/count', 'modelAliases has at most 64 entries', () => {
  const aliases = (count: number) => Object.fromEntries(n(count, (i) => [`alias-${i}`, 'model']))
  ai((modelAliases) => ({ modelAliases })).is({
    good: [{}, aliases(64)],
    bad: { 'too-many-items': [aliases(65)] },
  })
  ai((target) => ({ modelAliases: { fast: target } })).is({ good: ['x'] })
})

test('cacheSystem is true by default', () =>
  ai((cacheSystem) => ({ promptCaching: { cacheSystem } })).is({ good: [false], default: true }))

test('cacheMessages is true by default', () =>
  ai((cacheMessages) => ({ promptCaching: { cacheMessages } })).is({ good: [false], default: true }))

test('cacheTools is false by default', () =>
  ai((cacheTools) => ({ promptCaching: { cacheTools } })).is({ good: [true], default: false }))

verifies('backend.ai.promptCaching/minTokens-minimum', 'minTokens', () =>
  ai((minTokens) => ({ promptCaching: { minTokens } })).is({
    good: [0, 4096],
    bad: { 'out-of-range': [-1] },
    default: 1024,
  }),
)

verifies('backend.ai.promptCaching/cacheMessageOffset-minimum', 'cacheMessageOffset', () =>
  ai((cacheMessageOffset) => ({ promptCaching: { cacheMessageOffset } })).is({
    good: [0, 3],
    bad: { 'out-of-range': [-1] },
    default: 0,
  }),
)

const regex = { builtins: ['Email'] }
const guard = (withHole: (x: unknown) => object) => ai((x) => ({ promptGuard: { request: [withHole(x)] } }))

verifies('backend.ai.promptGuard/request-count', 'promptGuard.request has 1 to 8 items', () =>
  ai((request) => ({ promptGuard: { request } })).is({
    good: [n(1, () => ({ regex })), n(8, () => ({ regex }))],
    bad: { 'too-few-items': [[]], 'too-many-items': [n(9, () => ({ regex }))] },
  }),
)

verifies('backend.ai.promptGuard/response-count', 'promptGuard.response has 1 to 8 items', () =>
  ai((response) => ({ promptGuard: { response } })).is({
    good: [n(1, () => ({ regex })), n(8, () => ({ regex }))],
    bad: { 'too-few-items': [[]], 'too-many-items': [n(9, () => ({ regex }))] },
  }),
)

const GUARDS = {
  regex,
  webhook: { backendRef: service },
  moderationEndpoint: {},
  guardrailsServiceOne: { identifier: 'a', version: '1', region: 'r' },
  guardrailsServiceTwo: { templateId: 't', projectId: 'p' },
}

verifies(
  ['backend.ai.promptGuard/exactly-one', 'backend.ai.promptGuard/request-guards'],
  'a request item is one of five guards',
  () =>
    ai((x) => ({ promptGuard: { request: [x] } })).is({
      good: Object.entries(GUARDS).map(([kind, settings]) => ({ [kind]: settings })),
      bad: { 'exactly-one-of': [{}, { regex, webhook: GUARDS.webhook }, { response: { message: 'no' } }] },
    }),
)

verifies('backend.ai.promptGuard/response-guards', 'a response item is one of four guards', () => {
  const { moderationEndpoint, ...others } = GUARDS
  ai((x) => ({ promptGuard: { response: [x] } })).is({
    good: Object.entries(others).map(([kind, settings]) => ({ [kind]: settings })),
    bad: { 'exactly-one-of': [{}, { regex, webhook: GUARDS.webhook }] },
  })
  ai((x) => ({ promptGuard: { response: [{ regex, moderationEndpoint: x }] } })).is({
    bad: { 'unknown-field': [moderationEndpoint] },
  })
})

verifies('backend.ai.promptGuard/response-on-items', 'an item of either direction has a custom response', () => {
  const response = { message: 'no', statusCode: 451 }
  for (const direction of ['request', 'response']) {
    ai((x) => ({ promptGuard: { [direction]: [{ regex, response: x }] } })).is({
      good: [response, { message: '' }, { statusCode: 200 }],
      bad: { 'at-least-one-of': [{}] },
      optional: true,
    })
  }
})

verifies('backend.ai.promptGuard.response/statusCode-range', 'statusCode is 200 to 599', () =>
  guard((statusCode) => ({ regex, response: { message: 'no', statusCode } })).is({
    good: [200, 599],
    bad: { 'out-of-range': [199, 600] },
    optional: true,
  }),
)

verifies('backend.ai.promptGuard.regex/matches-item-length', 'a pattern has 1 to 1024 characters and compiles', () =>
  guard((x) => ({ regex: { matches: [x] } })).is({
    good: ['x', 'x'.repeat(1024), '(?i)secret', '\\d{3}-\\d{4}'],
    bad: {
      'too-short': [''],
      'too-long': ['x'.repeat(1025)],
      'invalid-pattern': ['(', '(?=x)', 'a{2000}', 'a{998}'.repeat(11)],
    },
  }),
)

verifies('backend.ai.promptGuard.regex/builtins-values', 'a builtin is one of five', () =>
  guard((x) => ({ regex: { builtins: [x] } })).is({
    good: ['Ssn', 'CreditCard', 'PhoneNumber', 'Email', 'CaSin'],
    bad: { 'unknown-value': ['SSN', 'Iban'] },
  }),
)

verifies(['backend.ai.promptGuard.regex/action-values', 'backend.ai.promptGuard.regex/action-default'], 'action', () =>
  guard((action) => ({ regex: { ...regex, action } })).is({
    good: ['Mask', 'Reject'],
    bad: { 'unknown-value': ['reject', 'Allow'] },
    default: 'Mask',
  }),
)

verifies('backend.ai.promptGuard.webhook/backendRef-required', 'a webhook has a backendRef', () =>
  guard((backendRef) => ({ webhook: { backendRef } })).is({ good: [service], required: true }),
)

verifies('platform/http-header-match', 'a header match has a name, a value and a type', () => {
  const match = (withHole: (x: unknown) => object) =>
    guard((x) => ({
      webhook: { backendRef: service, forwardHeaderMatches: [{ name: 'x', value: 'y', ...withHole(x) }] },
    }))
  match((name) => ({ name })).is({ good: ['x-a'], bad: { 'invalid-header-name': [':path'] }, required: true })
  match((value) => ({ value })).is({
    good: ['x'.repeat(4096)],
    bad: { 'too-long': ['x'.repeat(4097)] },
    required: true,
  })
  match((type) => ({ type })).is({
    good: ['Exact', 'RegularExpression'],
    bad: { 'unknown-value': ['Prefix'] },
    default: 'Exact',
  })
})

const simplePolicies = {
  good: [{}, { tls: {}, auth: { key: 'k' } }],
  bad: { 'wrong-type': ['x'] },
  optional: true,
} as const

verifies(
  'backend.ai.promptGuard.moderationEndpoint/policies-fields',
  'moderationEndpoint.policies takes connection settings',
  () => {
    guard((policies) => ({ moderationEndpoint: { policies } })).is(simplePolicies)
    guard((x) => ({ moderationEndpoint: { policies: { ai: x } } })).is({ bad: { 'unknown-field': [{}] } })
  },
)

const one = (withHole: (x: unknown) => object) =>
  guard((x) => ({ guardrailsServiceOne: { ...GUARDS.guardrailsServiceOne, ...withHole(x) } }))

verifies(
  'backend.ai.promptGuard.guardrailsServiceOne/identifier-required',
  'identifier is a required ShortString',
  () => one((identifier) => ({ identifier })).is({ ...shortString, required: true }),
)
verifies('backend.ai.promptGuard.guardrailsServiceOne/version-required', 'version is a required ShortString', () =>
  one((version) => ({ version })).is({ ...shortString, required: true }),
)
verifies('backend.ai.promptGuard.guardrailsServiceOne/region-required', 'region is a required ShortString', () =>
  one((region) => ({ region })).is({ ...shortString, required: true }),
)
verifies('backend.ai.promptGuard.guardrailsServiceOne/policies-fields', 'policies takes connection settings', () =>
  one((policies) => ({ policies })).is(simplePolicies),
)

const two = (withHole: (x: unknown) => object) =>
  guard((x) => ({ guardrailsServiceTwo: { ...GUARDS.guardrailsServiceTwo, ...withHole(x) } }))

verifies(
  'backend.ai.promptGuard.guardrailsServiceTwo/templateId-required',
  'templateId is a required ShortString',
  () => two((templateId) => ({ templateId })).is({ ...shortString, required: true }),
)
verifies('backend.ai.promptGuard.guardrailsServiceTwo/projectId-required', 'projectId is a required ShortString', () =>
  two((projectId) => ({ projectId })).is({ ...shortString, required: true }),
)
verifies('backend.ai.promptGuard.guardrailsServiceTwo/location-length', 'location is us-central1 by default', () =>
  two((location) => ({ location })).is({
    good: ['x', 'x'.repeat(256)],
    bad: { 'too-short': [''], 'too-long': ['x'.repeat(257)], 'invalid-region': ['evil.example/', 'a b'] },
    default: 'us-central1',
  }),
)
verifies('backend.ai.promptGuard.guardrailsServiceTwo/policies-fields', 'policies takes connection settings', () =>
  two((policies) => ({ policies })).is(simplePolicies),
)
