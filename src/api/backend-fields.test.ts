import { expect, test } from 'vitest'
import { type Field, fieldOf, n } from '#test/support/field.ts'
import { verifies } from '#test/support/verifies.ts'
import { BACKEND_FIELDS } from './policy-sections.ts'

const gateway = { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'main' }
const backend = (withHole: (x: unknown) => object): Field =>
  fieldOf('ProxyPolicy', (x) => ({ spec: { targetRefs: [gateway], backend: withHole(x) } }))

const shortString = { good: ['x', 'x'.repeat(256)], bad: { 'too-short': [''], 'too-long': ['x'.repeat(257)] } }
const service = { name: 'proxy', port: 3128 }
const secretRef = { name: 'credentials' }

/** A valid value for each field of BackendFull. */
const EXAMPLES = {
  tcp: { connectTimeout: '1s' },
  tls: {},
  http: { version: 'HTTP2' },
  tunnel: { backendRef: service },
  auth: { secretRef },
  ai: { modelAliases: { fast: 'small-1' } },
  mcp: { authorization: { policy: { matchExpressions: ['true'] } } },
  transformation: { request: { body: '1' } },
  health: { eviction: {} },
  extAuth: { backendRef: service, grpc: {} },
}

verifies(
  ['backend/full-fields', 'backend/full-fields-optional'],
  'a backend section has ten fields, each of which may be set alone',
  () => {
    expect([...BACKEND_FIELDS].sort()).toEqual(Object.keys(EXAMPLES).sort())
    for (const [field, value] of Object.entries(EXAMPLES)) {
      fieldOf('ProxyPolicy', (x) => ({ spec: { targetRefs: [gateway], backend: x } })).is({
        good: [{ [field]: value }],
      })
    }
    backend((x) => ({ tls: {}, rateLimit: x })).is({ bad: { 'unknown-field': [{}] } })
  },
)

verifies('backend/simple-fields', 'an MCP target takes five of the fields', () => {
  for (const [field, value] of Object.entries(EXAMPLES)) {
    const known = ['tcp', 'tls', 'http', 'tunnel', 'auth'].includes(field)
    fieldOf('ProxyBackend', (x) => ({
      spec: { mcp: { targets: [{ name: 'a', static: { host: 'a', port: 80, policies: { [field]: x } } }] } },
    })).is(known ? { good: [value] } : { bad: { 'unknown-field': [value] } })
  }
})

verifies('backend/with-ai-fields', 'a provider in a group takes eight of the fields', () => {
  for (const [field, value] of Object.entries(EXAMPLES)) {
    const known = field !== 'mcp' && field !== 'extAuth'
    fieldOf('ProxyBackend', (x) => ({
      spec: { ai: { groups: [{ providers: [{ name: 'a', providerOne: {}, policies: { [field]: x } }] }] } },
    })).is(known ? { good: [value] } : { bad: { 'unknown-field': [value] } })
  }
})

verifies('backend.extAuth/no-conditional', 'backend.extAuth cannot be conditional', () =>
  backend((conditional) => ({ extAuth: { backendRef: service, grpc: {}, conditional } })).is({
    bad: { 'unknown-field': [[{ policy: { backendRef: service, grpc: {} } }]] },
  }),
)

verifies('backend.tcp/connectTimeout', 'connectTimeout is a duration of at least 100ms', () =>
  backend((connectTimeout) => ({ tcp: { connectTimeout } })).is({
    good: ['100ms', '10s'],
    bad: { 'out-of-range': ['99ms'], 'invalid-duration': ['10'] },
    optional: true,
  }),
)

verifies('backend.tls/at-most-one-verification', 'verifySubjectAltNames excludes insecureSkipVerify', () => {
  backend((tls) => ({ tls })).is({
    good: [{}, { verifySubjectAltNames: ['a'] }, { insecureSkipVerify: 'All' }],
    bad: { 'at-most-one-of': [{ verifySubjectAltNames: ['a'], insecureSkipVerify: 'Hostname' }] },
  })
  backend((x) => ({ tls: { insecureSkipVerify: 'All', caCertificateRefs: x } })).is({
    bad: { 'not-together': [[secretRef]] },
  })
})

const atMostOneRef = {
  good: [[], [secretRef]],
  bad: { 'too-many-items': [[secretRef, { name: 'b' }]] },
  optional: true,
} as const

verifies('backend.tls/mtlsCertificateRef-count', 'mtlsCertificateRef has at most one item', () =>
  backend((mtlsCertificateRef) => ({ tls: { mtlsCertificateRef } })).is(atMostOneRef),
)

verifies('backend.tls/caCertificateRefs-count', 'caCertificateRefs has at most one item', () =>
  backend((caCertificateRefs) => ({ tls: { caCertificateRefs } })).is(atMostOneRef),
)

verifies('backend.tls/insecureSkipVerify-values', 'insecureSkipVerify is All or Hostname', () =>
  backend((insecureSkipVerify) => ({ tls: { insecureSkipVerify } })).is({
    good: ['All', 'Hostname'],
    bad: { 'unknown-value': ['None', 'all'], 'wrong-type': [true] },
  }),
)

verifies(
  ['backend.tls/sni-form', 'scalar/sni-length', 'scalar/sni-labels', 'scalar/sni-hyphens'],
  'sni is a server name',
  () =>
    backend((sni) => ({ tls: { sni } })).is({
      good: ['a', 'api.example.com', 'a-b.0.c', `${'a.'.repeat(126)}a`],
      bad: {
        'invalid-server-name': ['A.example', 'a..b', '.a', 'a.', '-a.b', 'a-.b', 'a_b', '*.a', 'a b'],
        'too-short': [''],
        'too-long': ['a.'.repeat(127)],
      },
      optional: true,
    }),
)

verifies('backend.tls/verifySubjectAltNames-count', 'verifySubjectAltNames has 1 to 16 items', () =>
  backend((verifySubjectAltNames) => ({ tls: { verifySubjectAltNames } })).is({
    good: [['a'], n(16, String)],
    bad: { 'too-few-items': [[]], 'too-many-items': [n(17, String)] },
  }),
)

verifies('backend.tls/verifySubjectAltNames-item-length', 'a subject alternative name is a ShortString', () =>
  backend((x) => ({ tls: { verifySubjectAltNames: [x] } })).is(shortString),
)

verifies('backend.tls/alpnProtocols-count', 'alpnProtocols has 1 to 16 items', () =>
  backend((alpnProtocols) => ({ tls: { alpnProtocols } })).is({
    good: [['h2'], n(16, String)],
    bad: { 'too-few-items': [[]], 'too-many-items': [n(17, String)] },
  }),
)

verifies('backend.tls/alpnProtocols-item-length', 'a protocol has 1 to 64 characters', () =>
  backend((x) => ({ tls: { alpnProtocols: [x] } })).is({
    good: ['x'.repeat(64)],
    bad: { 'too-short': [''], 'too-long': ['x'.repeat(65), '\u{1F600}'.repeat(64)] },
  }),
)

verifies('backend.http/version-values', 'version is HTTP1 or HTTP2', () =>
  backend((version) => ({ http: { version } })).is({
    good: ['HTTP1', 'HTTP2'],
    bad: { 'unknown-value': ['HTTP3', 'http2', '2'] },
    optional: true,
  }),
)

verifies('backend.tunnel/backendRef-required', 'a tunnel has a backendRef', () =>
  backend((backendRef) => ({ tunnel: { backendRef } })).is({ good: [service], required: true }),
)

verifies('health/duration-default', 'eviction.duration is at least 1s, by default 3s', () =>
  backend((duration) => ({ health: { eviction: { duration } } })).is({
    good: ['1s', '1m'],
    bad: { 'out-of-range': ['999ms'], 'invalid-duration': ['3'] },
    default: '3s',
  }),
)

const percent = {
  good: [0, 100],
  bad: { 'out-of-range': [-1, 101], 'wrong-type': [0.5, '50'] },
  optional: true,
} as const

verifies('health/restoreHealth-range', 'restoreHealth is 0 to 100', () =>
  backend((restoreHealth) => ({ health: { eviction: { restoreHealth } } })).is(percent),
)

verifies('health/healthThreshold-range', 'healthThreshold is 0 to 100', () =>
  backend((healthThreshold) => ({ health: { eviction: { healthThreshold } } })).is(percent),
)

verifies('health/consecutiveFailures-minimum', 'consecutiveFailures is at least 0', () =>
  backend((consecutiveFailures) => ({ health: { eviction: { consecutiveFailures } } })).is({
    good: [0, 1000],
    bad: { 'out-of-range': [-1] },
    optional: true,
  }),
)

const CREDENTIALS = {
  key: 'k',
  secretRef,
  passthrough: {},
  cloudOne: { secretRef },
  cloudTwo: {},
  cloudThree: {},
}
const auth = (withHole: (x: unknown) => object) => backend((x) => ({ auth: withHole(x) }))

verifies(
  ['backend.auth/exactly-one', 'backend.auth.cloudTwo/both-optional'],
  'auth is exactly one form of credentials',
  () =>
    backend((x) => ({ auth: x })).is({
      good: Object.entries(CREDENTIALS).map(([form, value]) => ({ [form]: value })),
      bad: {
        'exactly-one-of': [
          {},
          { key: 'k', secretRef },
          { passthrough: {}, cloudTwo: {} },
          { location: { cookie: { name: 'a' } } },
        ],
      },
    }),
)

verifies('backend.auth/key-length', 'key has at most 2048 characters', () =>
  auth((key) => ({ key })).is({ good: ['x', 'x'.repeat(2048)], bad: { 'too-long': ['x'.repeat(2049)] } }),
)

verifies('backend.auth/passthrough-object', 'passthrough is an object', () =>
  auth((passthrough) => ({ passthrough })).is({ good: [{}], bad: { 'wrong-type': [true, null, ''] } }),
)

verifies('backend.auth.cloudOne/secretRef-required', 'cloudOne has a secretRef', () =>
  auth((x) => ({ cloudOne: { secretRef: x } })).is({ good: [secretRef], required: true }),
)

verifies('backend.auth.cloudOne/serviceName-length', 'cloudOne.serviceName is a ShortString', () =>
  auth((serviceName) => ({ cloudOne: { secretRef, serviceName } })).is({ ...shortString, optional: true }),
)

verifies('backend.auth.cloudTwo/managedIdentity-required', 'a managed identity has three ids', () => {
  const identity = { clientId: 'a', objectId: 'b', resourceId: 'c' }
  for (const field of Object.keys(identity)) {
    auth((x) => ({ cloudTwo: { managedIdentity: { ...identity, [field]: x } } })).is({ good: ['x'], required: true })
  }
})

verifies('backend.auth.cloudThree/type-values', 'cloudThree.type is AccessToken or IdToken', () =>
  auth((type) => ({ cloudThree: { type } })).is({
    good: ['AccessToken', 'IdToken'],
    bad: { 'unknown-value': ['Token'] },
    default: 'AccessToken',
  }),
)

verifies(
  ['backend.auth.cloudThree/audience-length', 'backend.auth.cloudThree/audience-id-token-only'],
  'cloudThree.audience is for IdToken',
  () => {
    auth((audience) => ({ cloudThree: { type: 'IdToken', audience } })).is({ ...shortString, optional: true })
    auth((audience) => ({ cloudThree: { type: 'AccessToken', audience } })).is({ bad: { 'not-together': ['a'] } })
    auth((audience) => ({ cloudThree: { audience } })).is({ bad: { 'not-together': ['a'] } })
  },
)

verifies('backend.auth/location-one-of', 'the place of a credential is a header, a query parameter or a cookie', () =>
  auth((location) => ({ key: 'k', location })).is({
    good: [{ header: { name: 'x' } }, { queryParameter: { name: 'x' } }, { cookie: { name: 'x' } }],
    bad: { 'exactly-one-of': [{}, { header: { name: 'x' }, cookie: { name: 'x' } }, { expression: '"x"' }] },
    optional: true,
  }),
)

test('location is allowed only with key, secretRef and passthrough', () => {
  const location = { header: { name: 'x-key', prefix: 'Key' } }
  for (const [form, value] of Object.entries(CREDENTIALS)) {
    const applies = !form.startsWith('cloud')
    auth((x) => ({ [form]: value, location: x })).is(
      applies ? { good: [location] } : { bad: { 'not-together': [location] } },
    )
  }
})

const authentication = (withHole: (x: unknown) => object) =>
  backend((x) => ({ mcp: { authentication: { jwks: { jwksPath: '/c', backendRef: service }, ...withHole(x) } } }))

verifies('backend.mcp.authentication/jwks-required', 'MCP authentication has a remote key set', () =>
  authentication((jwks) => ({ jwks })).is({
    good: [{ jwksPath: '/c', backendRef: service }],
    bad: { 'wrong-type': ['x'] },
    required: true,
  }),
)

verifies('backend.mcp.authentication/issuer-length', 'issuer is a ShortString', () =>
  authentication((issuer) => ({ issuer })).is({ ...shortString, optional: true }),
)

verifies('backend.mcp.authentication/audiences-count', 'audiences has 1 to 64 items', () =>
  authentication((audiences) => ({ audiences })).is({
    good: [['a'], n(64, String)],
    bad: { 'too-few-items': [[]], 'too-many-items': [n(65, String)] },
    optional: true,
  }),
)

verifies('backend.mcp.authentication/mode-values', 'MCP authentication mode', () =>
  authentication((mode) => ({ mode })).is({
    good: ['Strict', 'Optional', 'Permissive'],
    bad: { 'unknown-value': ['None'] },
    default: 'Strict',
  }),
)

verifies('backend.mcp.authentication/provider-values', 'provider is one of three', () =>
  authentication((provider) => ({ provider })).is({
    good: ['IdpOne', 'IdpTwo', 'IdpThree'],
    bad: { 'unknown-value': ['Other'] },
    optional: true,
  }),
)

verifies(
  ['backend.mcp.authentication/resourceMetadata', 'scalar/json-any'],
  'resourceMetadata maps strings to any JSON',
  () =>
    authentication((resourceMetadata) => ({ resourceMetadata })).is({
      good: [{}, { a: 1, b: [true, null], c: { d: 'x' }, e: null, f: 1.5 }],
      bad: { 'wrong-type': ['x', []] },
      optional: true,
    }),
)

verifies('backend.mcp.authentication/clientId', 'clientId is a string', () =>
  authentication((clientId) => ({ clientId })).is({ good: ['client'], bad: { 'wrong-type': [1] }, optional: true }),
)
