import { expect, test } from 'vitest'
import { validate } from '#schema/index.ts'
import { complete, type Field, fieldOf, n } from '#test/support/field.ts'
import { verifies } from '#test/support/verifies.ts'
import { proxyPolicy } from './proxy-policy.ts'

const gateway = { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'main' }
const traffic = (withHole: (x: unknown) => object): Field =>
  fieldOf('ProxyPolicy', (x) => ({ spec: { targetRefs: [gateway], traffic: withHole(x) } }))

const service = { name: 'server', port: 8080 }
const backendRef = service
const cel = { good: ['true', 'x'.repeat(16_384)], bad: { 'too-short': [''], 'too-long': ['x'.repeat(16_385)] } }
const shortString = { good: ['x', 'x'.repeat(256)], bad: { 'too-short': [''], 'too-long': ['x'.repeat(257)] } }
const failureModes = { good: ['FailClosed', 'FailOpen'], bad: { 'unknown-value': ['failOpen', 'Closed'] } }
const entries = (count: number) => Object.fromEntries(n(count, (i) => [`k${i}`, '1']))
const upTo64Entries = { good: [{}, entries(64)], bad: { 'too-many-items': [entries(65)] }, optional: true } as const
const upTo64Headers = {
  good: [[], n(64, (i) => `h${i}`)],
  bad: { 'too-many-items': [n(65, (i) => `h${i}`)] },
  optional: true,
} as const

verifies('traffic/fields-optional', 'a traffic section without fields is valid', () =>
  fieldOf('ProxyPolicy', (x) => ({ spec: { targetRefs: [gateway], traffic: x } })).is({ good: [{}] }),
)

test('cors.allowOrigins has at most 64 origins', () =>
  traffic((allowOrigins) => ({ cors: { allowOrigins } })).is({
    good: [[], n(64, (i) => `https://a${i}.test`)],
    bad: { 'too-many-items': [n(65, (i) => `https://a${i}.test`)] },
    optional: true,
  }))

verifies('traffic/phase-values', 'phase is PreRouting or PostRouting', () =>
  traffic((phase) => ({ phase })).is({
    good: ['PreRouting', 'PostRouting'],
    bad: { 'unknown-value': ['preRouting', 'Routing'] },
    optional: true,
  }),
)

verifies('traffic.headerModifiers/at-least-one', 'headerModifiers changes the request, the response or both', () =>
  traffic((headerModifiers) => ({ headerModifiers })).is({
    good: [{ request: {} }, { response: { remove: ['x-a'] } }, { request: {}, response: {} }],
    bad: { 'at-least-one-of': [{}] },
  }),
)

verifies('platform/http-header-filter', 'set, add and remove, each with at most 16 different headers', () => {
  const header = (i: number) => ({ name: `x-${i}`, value: 'v' })
  for (const list of ['set', 'add']) {
    traffic((x) => ({ headerModifiers: { request: { [list]: x } } })).is({
      good: [[], n(16, header)],
      bad: { 'too-many-items': [n(17, header)] },
    })
    traffic((name) => ({ headerModifiers: { request: { [list]: [header(1), { name, value: 'w' }] } } })).is({
      good: ['x-2'],
      bad: { duplicate: ['x-1'], 'invalid-header-name': ['x y', ':path'] },
      required: true,
    })
    traffic((value) => ({ headerModifiers: { request: { [list]: [{ name: 'x', value }] } } })).is({
      good: ['x'.repeat(4096)],
      bad: { 'too-short': [''], 'too-long': ['x'.repeat(4097)] },
      required: true,
    })
  }
  traffic((remove) => ({ headerModifiers: { response: { remove } } })).is({
    good: [['a', 'b'], n(16, String)],
    bad: { 'too-many-items': [n(17, String)] },
  })
  traffic((item) => ({ headerModifiers: { response: { remove: ['a', item] } } })).is({ bad: { duplicate: ['a'] } })
})

const WRAPPED = {
  transformation: { request: { set: [{ name: 'x-a', value: '"1"' }] } },
  extProc: { backendRef },
  extAuth: { backendRef, grpc: {} },
  rateLimit: { local: [{ requests: 1, unit: 'Seconds' }] },
  directResponse: { status: 204 },
}

verifies(
  ['traffic.conditional/sections', 'traffic.conditional/policy-of-section'],
  'five sections can be conditional',
  () => {
    for (const [section, policy] of Object.entries(WRAPPED)) {
      traffic((x) => ({ [section]: { conditional: [{ condition: 'true', policy: x }] } })).is({
        good: [policy],
        bad: { 'wrong-type': ['x', null] },
        required: true,
      })
      traffic((x) => ({ [section]: { conditional: [{ policy: { ...policy, conditionals: x } }] } })).is({
        bad: { 'unknown-field': [1] },
      })
    }
    traffic((conditional) => ({ cors: { conditional } })).is({ bad: { 'unknown-field': [[]] } })
  },
)

const directResponses = (count: number) =>
  n(count, (i) => ({ condition: `request.path == "/${i}"`, policy: { status: 200 } }))

verifies('traffic.conditional/count', 'conditional has 1 to 16 items', () =>
  traffic((conditional) => ({ directResponse: { conditional } })).is({
    good: [directResponses(1), directResponses(16)],
    bad: { 'too-few-items': [[]], 'too-many-items': [directResponses(17)] },
  }),
)

verifies('traffic.conditional/condition-optional', 'condition is an optional expression', () =>
  traffic((condition) => ({ directResponse: { conditional: [{ condition, policy: { status: 200 } }] } })).is({
    ...cel,
    optional: true,
  }),
)

verifies('traffic.conditional/policy-required', 'an item has a policy', () =>
  traffic((policy) => ({ directResponse: { conditional: [{ condition: 'true', policy }] } })).is({ required: true }),
)

verifies('traffic.conditional/exclusive', 'conditional excludes every other field of the section', () => {
  for (const [section, policy] of Object.entries(WRAPPED)) {
    const [field] = Object.keys(policy)
    traffic((x) => ({ [section]: { ...policy, [field!]: x, conditional: [{ policy }] } })).is({
      bad: { 'conditional-exclusive': [Object.values(policy)[0]] },
    })
  }
})

verifies(
  ['traffic.conditional/one-fallback', 'traffic.conditional/fallback-last'],
  'only the last item may lack a condition',
  () => {
    const [one, two] = directResponses(2)
    const fallback = { policy: { status: 404 } }
    traffic((x) => ({ directResponse: { conditional: [x, two] } })).is({
      good: [one],
      bad: { 'conditional-order': [fallback] },
    })
    traffic((x) => ({ directResponse: { conditional: [one, x, fallback] } })).is({
      good: [two],
      bad: { 'conditional-order': [fallback] },
    })
    traffic((x) => ({ directResponse: { conditional: [one, x] } })).is({ good: [fallback] })
  },
)

verifies('authorization/policy-required', 'a rule has a policy', () =>
  traffic((policy) => ({ authorization: { policy } })).is({ good: [{ matchExpressions: ['true'] }], required: true }),
)

verifies('authorization/matchExpressions-required', 'a policy has 1 to 256 expressions', () => {
  traffic((matchExpressions) => ({ authorization: { policy: { matchExpressions } } })).is({
    good: [['true'], n(256, () => 'true')],
    bad: { 'too-few-items': [[]], 'too-many-items': [n(257, () => 'true')] },
    required: true,
  })
  traffic((x) => ({ authorization: { policy: { matchExpressions: [x] } } })).is(cel)
})

verifies(['authorization/action-values', 'authorization/action-default'], 'action is Allow, Deny or Require', () =>
  traffic((action) => ({ authorization: { policy: { matchExpressions: ['true'] }, action } })).is({
    good: ['Allow', 'Deny', 'Require'],
    bad: { 'unknown-value': ['ALLOW', 'Log'] },
    default: 'Allow',
  }),
)

const set = (i: number) => ({ name: `x-${i}`, value: '"v"' })

for (const direction of ['request', 'response']) {
  const transform = (withHole: (x: unknown) => object) =>
    traffic((x) => ({ transformation: { [direction]: withHole(x) } }))

  verifies('traffic.transformation/set-count', `${direction}.set has 1 to 16 items`, () =>
    transform((x) => ({ set: x })).is({
      good: [n(1, set), n(16, set)],
      bad: { 'too-few-items': [[]], 'too-many-items': [n(17, set)] },
    }),
  )

  verifies('traffic.transformation/add-count', `${direction}.add has 1 to 16 items`, () =>
    transform((add) => ({ add })).is({
      good: [n(16, set)],
      bad: { 'too-few-items': [[]], 'too-many-items': [n(17, set)] },
    }),
  )

  verifies('traffic.transformation/remove-count', `${direction}.remove has 1 to 16 items`, () =>
    transform((remove) => ({ remove })).is({
      good: [['a'], n(16, (i) => `x-${i}`)],
      bad: { 'too-few-items': [[]], 'too-many-items': [n(17, (i) => `x-${i}`)] },
    }),
  )

  verifies('traffic.transformation/metadata-count', `${direction}.metadata has 1 to 16 entries`, () =>
    transform((metadata) => ({ metadata })).is({
      good: [entries(1), entries(16)],
      bad: { 'too-few-items': [{}], 'too-many-items': [entries(17)] },
    }),
  )

  verifies(
    [
      'traffic.transformation/remove-form',
      'scalar/header-name-leading-colon',
      'scalar/header-name-token',
      'scalar/header-name-length',
    ],
    `an item of ${direction}.remove is a header name`,
    () =>
      transform((x) => ({ remove: [x] })).is({
        good: ['x', 'X-Api_Key', ':path', ':authority', ':method', ':scheme', ':status', 'x'.repeat(256)],
        bad: {
          'invalid-header-name': ['x y', 'x:', '::path', ':', ':host', 'x\n', 'ä'],
          'too-short': [''],
          'too-long': ['x'.repeat(257)],
        },
      }),
  )

  verifies('traffic.transformation/header-name-required', `a header of ${direction} has a name`, () =>
    transform((name) => ({ set: [{ name, value: '1' }] })).is({
      good: ['x', ':path', 'x'.repeat(256)],
      bad: { 'invalid-header-name': ['x y', ':nothing'], 'too-short': [''], 'too-long': ['x'.repeat(257)] },
      required: true,
    }),
  )

  verifies('traffic.transformation/header-value-required', `a header of ${direction} has a value`, () =>
    transform((value) => ({ set: [{ name: 'x', value }] })).is({ ...cel, required: true }),
  )
}

verifies('traffic.transformation/request-optional', 'the request need not be transformed', () =>
  traffic((request) => ({ transformation: { request, response: { body: '1' } } })).is({
    good: [{ body: '1' }],
    bad: { 'at-least-one-of': [{}] },
    optional: true,
  }),
)

verifies('traffic.transformation/response-optional', 'the response need not be transformed', () =>
  traffic((response) => ({ transformation: { request: { body: '1' }, response } })).is({
    good: [{ body: '1' }],
    bad: { 'at-least-one-of': [{}] },
    optional: true,
  }),
)

verifies(
  ['traffic.hostRewrite/mode-required', 'traffic.hostRewrite/mode-values'],
  'hostRewrite.mode is Auto or None',
  () =>
    traffic((mode) => ({ hostRewrite: { mode } })).is({
      good: ['Auto', 'None'],
      bad: { 'unknown-value': ['auto', 'Preserve'] },
      required: true,
    }),
)

verifies('traffic.csrf/additionalOrigins-count', 'additionalOrigins has 1 to 16 items', () =>
  traffic((additionalOrigins) => ({ csrf: { additionalOrigins } })).is({
    good: [['https://a.example'], n(16, (i) => `https://a${i}.example`)],
    bad: { 'too-few-items': [[]], 'too-many-items': [n(17, (i) => `https://a${i}.example`)] },
    optional: true,
  }),
)

verifies(
  ['traffic.csrf/additionalOrigins-form', 'traffic.csrf/additionalOrigins-item-length'],
  'an origin is scheme, host and port',
  () =>
    traffic((origin) => ({ csrf: { additionalOrigins: [origin] } })).is({
      good: ['http://a', 'https://a.example', 'HTTPS://A.example:8443', 'http://127.0.0.1:80', 'https://[::1]:443'],
      bad: {
        'invalid-origin': [
          'a.example',
          'https://',
          'https://a.example/',
          'https://a.example:0',
          'https://a.example:65536',
          'https://*.example',
          'https://u@a.example',
          'ftp://a.example',
          'null',
          '*',
        ],
        'too-short': [''],
        'too-long': [`https://${'a'.repeat(249)}`],
      },
    }),
)

verifies('traffic.directResponse/status-range', 'status is required and 200 to 599', () =>
  traffic((status) => ({ directResponse: { status } })).is({
    good: [200, 404, 599],
    bad: { 'out-of-range': [199, 600], 'wrong-type': ['200', 200.5] },
    required: true,
  }),
)

verifies('traffic.directResponse/body-length', 'body has 1 to 4096 characters, beside no bodyExpression', () => {
  traffic((body) => ({ directResponse: { status: 200, body } })).is({
    good: ['x', 'x'.repeat(4096)],
    bad: { 'too-short': [''], 'too-long': ['x'.repeat(4097)] },
    optional: true,
  })
  traffic((x) => ({ directResponse: x })).is({
    good: [{ status: 200, bodyExpression: '"x"' }],
    bad: { 'at-most-one-of': [{ status: 200, body: 'x', bodyExpression: '"x"' }] },
  })
})

verifies('traffic.directResponse/headers-count', 'headers has 1 to 16 different items', () =>
  traffic((headers) => ({ directResponse: { status: 200, headers } })).is({
    good: [n(1, set), n(16, set)],
    bad: { 'too-few-items': [[]], 'too-many-items': [n(17, set)] },
  }),
)

verifies(
  [
    'traffic.directResponse/headers-fields',
    'scalar/http-header-name-no-pseudo',
    'scalar/http-header-name-token',
    'scalar/http-header-name-length',
  ],
  'a header of a direct response has a name and a value',
  () => {
    traffic((name) => ({ directResponse: { status: 200, headers: [{ name, value: '1' }] } })).is({
      good: ['x', "!#$%&'*+-.^_`|~0aZ", 'x'.repeat(256)],
      bad: {
        'invalid-header-name': [':status', ':path', 'x y', 'x:y', 'a(b)', 'ä'],
        'too-short': [''],
        'too-long': ['x'.repeat(257)],
      },
      required: true,
    })
    traffic((value) => ({ directResponse: { status: 200, headers: [{ name: 'x', value }] } })).is({
      ...cel,
      required: true,
    })
  },
)

const extAuth = (withHole: (x: unknown) => object) => traffic((x) => ({ extAuth: { backendRef, ...withHole(x) } }))

verifies('traffic.extAuth/failureMode-values', 'extAuth.failureMode is FailClosed or FailOpen', () =>
  extAuth((failureMode) => ({ grpc: {}, failureMode })).is({ ...failureModes, optional: true }),
)

verifies('traffic.extAuth.forwardBody/maxSize-required', 'forwardBody.maxSize is a required ByteSize', () =>
  extAuth((maxSize) => ({ http: {}, forwardBody: { maxSize } })).is({
    good: [1, '8Ki'],
    bad: { 'invalid-byte-size': ['8kb'], 'out-of-range': [0] },
    required: true,
  }),
)

verifies('traffic.extAuth.grpc/contextExtensions-count', 'contextExtensions has at most 64 entries', () =>
  extAuth((contextExtensions) => ({ grpc: { contextExtensions } })).is(upTo64Entries),
)

verifies('traffic.extAuth.grpc/requestMetadata-count', 'requestMetadata has at most 64 entries', () =>
  extAuth((requestMetadata) => ({ grpc: { requestMetadata } })).is(upTo64Entries),
)

verifies('traffic.extAuth.http/addRequestHeaders-count', 'addRequestHeaders has at most 64 entries', () =>
  extAuth((addRequestHeaders) => ({ http: { addRequestHeaders } })).is(upTo64Entries),
)

verifies('traffic.extAuth.http/responseMetadata-count', 'responseMetadata has at most 64 entries', () =>
  extAuth((responseMetadata) => ({ http: { responseMetadata } })).is(upTo64Entries),
)

verifies('traffic.extAuth.http/allowedRequestHeaders-count', 'allowedRequestHeaders has at most 64 items', () =>
  extAuth((allowedRequestHeaders) => ({ http: { allowedRequestHeaders } })).is(upTo64Headers),
)

verifies('traffic.extAuth.http/allowedResponseHeaders-count', 'allowedResponseHeaders has at most 64 items', () =>
  extAuth((allowedResponseHeaders) => ({ http: { allowedResponseHeaders } })).is(upTo64Headers),
)

verifies('traffic.extAuth.http/allowedRequestHeaders-item-length', 'an allowed request header is a ShortString', () =>
  extAuth((x) => ({ http: { allowedRequestHeaders: [x] } })).is(shortString),
)

verifies('traffic.extAuth.http/allowedResponseHeaders-item-length', 'an allowed response header is a ShortString', () =>
  extAuth((x) => ({ http: { allowedResponseHeaders: [x] } })).is(shortString),
)

const cache = (withHole: (x: unknown) => object) =>
  extAuth((x) => ({ grpc: {}, cache: { key: ['request.path'], ttl: '5m', ...withHole(x) } }))

verifies(
  ['traffic.extAuth.cache/key-required', 'traffic.extAuth.cache/key-count'],
  'cache.key has 1 to 16 expressions',
  () =>
    cache((key) => ({ key })).is({
      good: [['1'], n(16, String)],
      bad: { 'too-few-items': [[]], 'too-many-items': [n(17, String)] },
      required: true,
    }),
)

verifies('traffic.extAuth.cache/key-item-length', 'an item of cache.key has at most 16384 characters', () =>
  cache((x) => ({ key: [x] })).is(cel),
)

verifies('traffic.extAuth.cache/ttl-required', 'cache.ttl is required, and only gRPC has a cache', () => {
  cache((ttl) => ({ ttl })).is({ good: ['5m', 'duration("5m")'], required: true })
  extAuth((x) => ({ http: {}, cache: x })).is({ bad: { 'not-together': [{ key: ['1'], ttl: '5m' }] } })
})

verifies('traffic.extAuth.cache/maxEntries-minimum', 'cache.maxEntries is at least 1, by default 10000', () =>
  cache((maxEntries) => ({ maxEntries })).is({ good: [1, 1_000_000], bad: { 'out-of-range': [0] }, default: 10_000 }),
)

const extProc = (withHole: (x: unknown) => object) =>
  traffic((x) => ({ extProc: { backendRef, processingOptions: withHole(x) } }))

verifies('traffic.extProc/processingOptions-optional', 'extProc needs no processingOptions', () =>
  traffic((processingOptions) => ({ extProc: { backendRef, processingOptions } })).is({ good: [{}], optional: true }),
)

for (const field of ['requestBodyMode', 'responseBodyMode']) {
  verifies('traffic.extProc/body-mode-values', field, () =>
    extProc((x) => ({ [field]: x })).is({
      good: ['None', 'Buffered', 'BufferedPartial', 'FullDuplexStreamed'],
      bad: { 'unknown-value': ['Streamed', 'none'] },
      default: 'FullDuplexStreamed',
    }),
  )
}

for (const field of ['requestHeaderMode', 'responseHeaderMode']) {
  verifies('traffic.extProc/header-mode-values', field, () =>
    extProc((x) => ({ [field]: x })).is({
      good: ['Send', 'Skip'],
      bad: { 'unknown-value': ['None'] },
      default: 'Send',
    }),
  )
}

for (const field of ['requestTrailerMode', 'responseTrailerMode']) {
  verifies('traffic.extProc/trailer-mode-values', field, () =>
    extProc((x) => ({ [field]: x })).is({
      good: ['Send', 'Skip'],
      bad: { 'unknown-value': ['None'] },
      default: 'Send',
    }),
  )
}

test('allowModeOverride is false by default', () =>
  extProc((allowModeOverride) => ({ allowModeOverride })).is({
    good: [true, false],
    bad: { 'wrong-type': ['true', 1] },
    default: false,
  }))

const local = (withHole: (x: unknown) => object) => traffic((x) => ({ rateLimit: { local: [withHole(x)] } }))

verifies('traffic.rateLimit.local/count', 'local has 1 to 16 items', () => {
  const limit = () => ({ requests: 1, unit: 'Seconds' })
  traffic((x) => ({ rateLimit: { local: x } })).is({
    good: [n(1, limit), n(16, limit)],
    bad: { 'too-few-items': [[]], 'too-many-items': [n(17, limit)] },
  })
})

verifies('traffic.rateLimit.local/exactly-one', 'a local limit counts either requests or tokens', () =>
  traffic((x) => ({ rateLimit: { local: [x] } })).is({
    good: [
      { requests: 1, unit: 'Seconds' },
      { tokens: 1, unit: 'Seconds' },
    ],
    bad: { 'exactly-one-of': [{ unit: 'Seconds' }, { requests: 1, tokens: 1, unit: 'Seconds' }] },
  }),
)

const atLeastOne = { good: [1, 1_000_000], bad: { 'out-of-range': [0, -1], 'wrong-type': ['1', 1.5] } }

verifies('traffic.rateLimit.local/requests-minimum', 'requests is at least 1', () =>
  local((requests) => ({ requests, unit: 'Minutes' })).is(atLeastOne),
)

verifies('traffic.rateLimit.local/tokens-minimum', 'tokens is at least 1', () =>
  local((tokens) => ({ tokens, unit: 'Minutes' })).is(atLeastOne),
)

verifies(['traffic.rateLimit.local/unit-required', 'traffic.rateLimit.local/unit-values'], 'unit is required', () =>
  local((unit) => ({ requests: 1, unit })).is({
    good: ['Seconds', 'Minutes', 'Hours'],
    bad: { 'unknown-value': ['Second', 'Days', 'seconds'] },
    required: true,
  }),
)

verifies('traffic.rateLimit.local/burst-form', 'burst is an integer', () =>
  local((burst) => ({ requests: 1, unit: 'Minutes', burst })).is({
    good: [0, 20],
    bad: { 'out-of-range': [-1], 'wrong-type': ['20', 0.5] },
    optional: true,
  }),
)

const descriptor = (i: number) => ({ entries: [{ name: `d${i}`, expression: 'source.address' }] })
const globalLimit = (withHole: (x: unknown) => object) =>
  traffic((x) => ({
    rateLimit: { global: { backendRef, domain: 'shop', descriptors: [descriptor(0)], ...withHole(x) } },
  }))

verifies('traffic.rateLimit.global/backendRef-required', 'global.backendRef is required', () =>
  globalLimit((x) => ({ backendRef: x })).is({ good: [service], required: true }),
)

verifies('traffic.rateLimit.global/failureMode-values', 'global.failureMode is FailClosed or FailOpen', () =>
  globalLimit((failureMode) => ({ failureMode })).is({ ...failureModes, optional: true }),
)

verifies('traffic.rateLimit.global/domain-required', 'global.domain is a required ShortString', () =>
  globalLimit((domain) => ({ domain })).is({ ...shortString, required: true }),
)

verifies(
  ['traffic.rateLimit.global/descriptors-required', 'traffic.rateLimit.global/descriptors-count'],
  'global.descriptors has 1 to 16 items',
  () =>
    globalLimit((descriptors) => ({ descriptors })).is({
      good: [n(1, descriptor), n(16, descriptor)],
      bad: { 'too-few-items': [[]], 'too-many-items': [n(17, descriptor)] },
      required: true,
    }),
)

verifies('traffic.rateLimit.global.descriptors/entries-count', 'entries has 1 to 16 items', () => {
  const entry = (i: number) => ({ name: `e${i}`, expression: '1' })
  globalLimit((x) => ({ descriptors: [{ entries: x }] })).is({
    good: [n(1, entry), n(16, entry)],
    bad: { 'too-few-items': [[]], 'too-many-items': [n(17, entry)] },
    required: true,
  })
})

verifies(
  ['traffic.rateLimit.global.descriptors/entry-name-required', 'scalar/tiny-string-length'],
  'the name of an entry is a TinyString',
  () =>
    globalLimit((name) => ({ descriptors: [{ entries: [{ name, expression: '1' }] }] })).is({
      good: ['x', 'x'.repeat(64)],
      bad: { 'too-short': [''], 'too-long': ['x'.repeat(65)] },
      required: true,
    }),
)

verifies('traffic.rateLimit.global.descriptors/entry-expression-required', 'an entry has an expression', () =>
  globalLimit((expression) => ({ descriptors: [{ entries: [{ name: 'x', expression }] }] })).is({
    ...cel,
    required: true,
  }),
)

verifies('traffic.rateLimit.global.descriptors/unit-values', 'unit is Requests or Tokens, by default Requests', () =>
  globalLimit((unit) => ({ descriptors: [{ ...descriptor(1), unit }] })).is({
    good: ['Requests', 'Tokens'],
    bad: { 'unknown-value': ['Seconds'] },
    default: 'Requests',
  }),
)

verifies(
  ['platform/backendRef', 'platform/backend-object-reference'],
  'a backendRef has group, kind, name, namespace and port; a Service needs its port',
  () => {
    const reference = (x: unknown) => ({ extProc: { backendRef: x } })
    traffic(reference).is({
      good: [
        { name: 'a', port: 1 },
        { name: 'a', namespace: 'other', port: 65_535 },
        { group: '', kind: 'Service', name: 'a', port: 80 },
        { group: 'gatewright.dev', kind: 'ProxyBackend', name: 'a' },
      ],
      bad: { 'wrong-type': ['a', null, []] },
      required: true,
    })
    traffic((name) => reference({ name, port: 80 })).is({
      bad: { 'invalid-name': ['A', 'a_b', '-a'], 'too-short': [''], 'too-long': ['a'.repeat(254)] },
      required: true,
    })
    traffic((namespace) => reference({ name: 'a', port: 80, namespace })).is({
      good: ['a'.repeat(63)],
      bad: { 'invalid-namespace': ['a.b', 'A'], 'too-long': ['a'.repeat(64)] },
    })
    traffic((port) => reference({ name: 'a', port })).is({ bad: { 'out-of-range': [0, 65_536] }, required: true })
    traffic((group) => reference({ group, name: 'a', port: 80 })).is({ bad: { 'invalid-name': ['A b'] }, default: '' })
    traffic((kind) => reference({ kind, name: 'a', port: 80 })).is({
      bad: { 'invalid-name': ['1a', 'a b'] },
      default: 'Service',
    })
  },
)

verifies(
  [
    'resource/invalid-one-of',
    'resource/invalid-minimum',
    'resource/invalid-maximum',
    'resource/invalid-length',
    'resource/invalid-enumeration',
  ],
  'all violations of an object are reported at once',
  () => {
    const object = complete('ProxyPolicy', {
      spec: {
        targetRefs: [gateway],
        traffic: {
          phase: 'Routing',
          rateLimit: { local: [{ requests: 0, tokens: 1, unit: 'Hours' }] },
          directResponse: { status: 600 },
          jwtAuthentication: { providers: [{ issuer: '', jwks: {} }] },
          cors: { alowOrigins: ['*'] },
        },
      },
    })
    const { value, problems } = validate(proxyPolicy, object)
    expect(value).toBeUndefined()
    expect(problems.map(({ path, code }) => [path, code])).toEqual([
      ['spec.traffic.phase', 'unknown-value'],
      ['spec.traffic.rateLimit.local[0].requests', 'out-of-range'],
      ['spec.traffic.rateLimit.local[0]', 'exactly-one-of'],
      ['spec.traffic.directResponse.status', 'out-of-range'],
      ['spec.traffic.jwtAuthentication.providers[0].issuer', 'too-short'],
      ['spec.traffic.jwtAuthentication.providers[0].jwks', 'exactly-one-of'],
      ['spec.traffic.cors.alowOrigins', 'unknown-field'],
    ])
    expect(problems.at(-1)?.message).toContain('did you mean "allowOrigins"?')
  },
)
