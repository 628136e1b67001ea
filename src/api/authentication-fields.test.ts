import { test } from 'vitest'
import { type Field, fieldOf, n } from '#test/support/field.ts'
import { verifies } from '#test/support/verifies.ts'

const gateway = { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'main' }
const traffic = (withHole: (x: unknown) => object): Field =>
  fieldOf('ProxyPolicy', (x) => ({ spec: { targetRefs: [gateway], traffic: withHole(x) } }))

const shortString = { good: ['x', 'x'.repeat(256)], bad: { 'too-short': [''], 'too-long': ['x'.repeat(257)] } }
const location = (withHole: (x: unknown) => object) =>
  traffic((x) => ({ apiKeyAuthentication: { secretRef: { name: 'keys' }, location: withHole(x) } }))
const name256 = { good: ['x', 'x'.repeat(256)], bad: { 'too-short': [''], 'too-long': ['x'.repeat(257)] } }

verifies('location/exactly-one', 'a location is exactly one place', () =>
  traffic((x) => ({ apiKeyAuthentication: { secretRef: { name: 'keys' }, location: x } })).is({
    good: [
      { header: { name: 'x-key' } },
      { queryParameter: { name: 'key' } },
      { cookie: { name: 'key' } },
      { expression: 'request.headers["x"]' },
    ],
    bad: { 'exactly-one-of': [{}, { header: { name: 'x' }, cookie: { name: 'x' } }] },
    optional: true,
  }),
)

verifies('location/header-name-required', 'header.name is a required header name', () =>
  location((name) => ({ header: { name } })).is({
    good: ['x-key', 'x'.repeat(256)],
    bad: { 'invalid-header-name': [':path', 'x key'], 'too-short': [''], 'too-long': ['x'.repeat(257)] },
    required: true,
  }),
)

verifies('location/header-prefix-length', 'header.prefix has 1 to 256 characters', () =>
  location((prefix) => ({ header: { name: 'x', prefix } })).is({ ...name256, optional: true }),
)

verifies('location/query-parameter-name', 'queryParameter.name has 1 to 256 characters', () =>
  location((name) => ({ queryParameter: { name } })).is({ ...name256, required: true }),
)

verifies('location/cookie-name', 'cookie.name has 1 to 256 characters', () =>
  location((name) => ({ cookie: { name } })).is({ ...name256, required: true }),
)

const inline = { inline: '{"keys":[]}' }
const provider = (i: number) => ({ issuer: `https://issuer-${i}`, jwks: inline })
const jwt = (withHole: (x: unknown) => object) =>
  traffic((x) => ({ jwtAuthentication: { providers: [provider(0)], ...withHole(x) } }))
const jwtProvider = (withHole: (x: unknown) => object) =>
  jwt((x) => ({ providers: [{ ...provider(0), ...withHole(x) }] }))
const threeModes = {
  good: ['Strict', 'Optional', 'Permissive'],
  bad: { 'unknown-value': ['strict', 'None'] },
  default: 'Strict',
}

verifies(['traffic.jwtAuthentication/mode-values', 'traffic.jwtAuthentication/mode-default'], 'jwt mode', () =>
  jwt((mode) => ({ mode })).is(threeModes),
)

verifies(
  ['traffic.jwtAuthentication/providers-required', 'traffic.jwtAuthentication/providers-count'],
  'providers has 1 to 64 items',
  () =>
    jwt((providers) => ({ providers })).is({
      good: [n(1, provider), n(64, provider)],
      bad: { 'too-few-items': [[]], 'too-many-items': [n(65, provider)] },
      required: true,
    }),
)

verifies('traffic.jwtAuthentication/mcp-optional', 'mcp is optional, with any mode and number of providers', () => {
  jwt((mcp) => ({ mcp })).is({ good: [{}], optional: true })
  jwt((mcp) => ({ mode: 'Permissive', providers: n(2, provider), mcp })).is({ good: [{}] })
})

verifies('traffic.jwtAuthentication.providers/issuer-required', 'issuer is a required ShortString', () =>
  jwtProvider((issuer) => ({ issuer })).is({ ...shortString, required: true }),
)

verifies('traffic.jwtAuthentication.providers/audiences-count', 'audiences has 1 to 64 items', () =>
  jwtProvider((audiences) => ({ audiences })).is({
    good: [['a'], n(64, String)],
    bad: { 'too-few-items': [[]], 'too-many-items': [n(65, String)] },
    optional: true,
  }),
)

const remote = { jwksPath: '/certs', backendRef: { name: 'idp', port: 443 } }

verifies('traffic.jwtAuthentication.providers/jwks-required', 'jwks is required', () =>
  jwtProvider((jwks) => ({ jwks })).is({ good: [inline, { remote }], required: true }),
)

verifies('traffic.jwtAuthentication.jwks/exactly-one', 'jwks is remote or inline', () =>
  jwtProvider((jwks) => ({ jwks })).is({ bad: { 'exactly-one-of': [{}, { remote, ...inline }] } }),
)

verifies('traffic.jwtAuthentication.jwks/inline-length', 'inline has 2 to 65536 characters', () =>
  jwtProvider((x) => ({ jwks: { inline: x } })).is({
    good: ['{}', 'x'.repeat(65_536)],
    bad: { 'too-short': ['', 'x', '\u{1F600}'], 'too-long': ['x'.repeat(65_537)] },
  }),
)

verifies(
  ['traffic.jwtAuthentication.jwks/jwksPath-required', 'traffic.jwtAuthentication.jwks/jwksPath-length'],
  'jwksPath has 1 to 2000 characters',
  () =>
    jwtProvider((jwksPath) => ({ jwks: { remote: { ...remote, jwksPath } } })).is({
      good: ['c', 'x'.repeat(2000)],
      bad: { 'too-short': [''], 'too-long': ['x'.repeat(2001)] },
      required: true,
    }),
)

verifies('traffic.jwtAuthentication.jwks/cacheDuration-default', 'cacheDuration is at least and by default 5m', () =>
  jwtProvider((cacheDuration) => ({ jwks: { remote: { ...remote, cacheDuration } } })).is({
    good: ['5m', '300s', '1h'],
    bad: { 'out-of-range': ['4m59s'], 'invalid-duration': ['5 minutes'] },
    default: '5m',
  }),
)

verifies('traffic.jwtAuthentication.jwks/backendRef-required', 'a remote key set has a backendRef', () =>
  jwtProvider((x) => ({ jwks: { remote: { ...remote, backendRef: x } } })).is({
    good: [remote.backendRef],
    required: true,
  }),
)

verifies('traffic.jwtAuthentication.mcp/provider-values', 'mcp.provider is one of three', () =>
  jwt((x) => ({ mcp: { provider: x } })).is({
    good: ['IdpOne', 'IdpTwo', 'IdpThree'],
    bad: { 'unknown-value': ['IdpFour', 'idpOne'] },
    optional: true,
  }),
)

const basic = (withHole: (x: unknown) => object) =>
  traffic((x) => ({ basicAuthentication: { users: ['a:$apr1$x'], ...withHole(x) } }))

verifies('traffic.basicAuthentication/exactly-one', 'basic authentication has users or a Secret', () =>
  traffic((x) => ({ basicAuthentication: x })).is({
    good: [{ users: ['a:{SHA}x'] }, { secretRef: { name: 'htpasswd' } }],
    bad: { 'exactly-one-of': [{}, { users: ['a:{SHA}x'], secretRef: { name: 'htpasswd' } }] },
  }),
)

verifies('traffic.basicAuthentication/mode-values', 'basic mode', () =>
  basic((mode) => ({ mode })).is({
    good: ['Strict', 'Optional'],
    bad: { 'unknown-value': ['Permissive'] },
    default: 'Strict',
  }),
)

test('realm is Restricted by default', () =>
  basic((realm) => ({ realm })).is({ good: ['shop'], default: 'Restricted' }))

verifies('traffic.basicAuthentication/users-count', 'users has 1 to 256 items', () =>
  traffic((users) => ({ basicAuthentication: { users } })).is({
    good: [['a:x'], n(256, (i) => `u${i}:x`)],
    bad: { 'too-few-items': [[]], 'too-many-items': [n(257, (i) => `u${i}:x`)] },
  }),
)

verifies('traffic.apiKeyAuthentication/exactly-one', 'API keys are from one Secret or from selected ones', () =>
  traffic((x) => ({ apiKeyAuthentication: x })).is({
    good: [{ secretRef: { name: 'keys' } }, { secretSelector: { matchLabels: { a: 'b' } } }],
    bad: { 'exactly-one-of': [{}, { secretRef: { name: 'keys' }, secretSelector: { matchLabels: {} } }] },
  }),
)

verifies(
  ['traffic.apiKeyAuthentication/mode-values', 'traffic.apiKeyAuthentication/mode-default'],
  'API key mode',
  () => traffic((mode) => ({ apiKeyAuthentication: { secretRef: { name: 'keys' }, mode } })).is(threeModes),
)

verifies('traffic.apiKeyAuthentication/matchLabels-required', 'secretSelector has matchLabels, a map of strings', () =>
  traffic((matchLabels) => ({ apiKeyAuthentication: { secretSelector: { matchLabels } } })).is({
    good: [{}, { a: 'b' }],
    bad: { 'wrong-type': [['a'], 'a=b'] },
    required: true,
  }),
)

verifies('platform/local-object-reference', 'a local reference is a name', () =>
  traffic((name) => ({ apiKeyAuthentication: { secretRef: { name } } })).is({
    good: ['a', 'a.b-c'],
    bad: { 'invalid-name': ['A', 'a/b'], 'too-short': [''] },
    required: true,
  }),
)
