import { test } from 'vitest'
import { type Field, fieldOf, n } from '#test/support/field.ts'
import { verifies } from '#test/support/verifies.ts'

const gateway = { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'main' }
const frontend = (withHole: (x: unknown) => object): Field =>
  fieldOf('ProxyPolicy', (x) => ({ spec: { targetRefs: [gateway], frontend: withHole(x) } }))

const service = { name: 'otel', port: 4317 }
const durations = {
  'invalid-duration': ['1', '5 s', '1.5s', '10us', '-1s', '1s1s1s1s1s', '', 'PT5S'],
  'wrong-type': [5],
}
const sizes = {
  'invalid-byte-size': ['2mb', '16kb', '1 Ki', 'Ki'],
  'out-of-range': [0, '0', '4Gi', 4_294_967_296],
  'too-short': [''],
}

verifies(
  ['frontend.tcp.keepalive/retries-range', 'frontend.tcp.keepalive/retries-default'],
  'keepalive.retries is 1 to 64, by default 9',
  () =>
    frontend((retries) => ({ tcp: { keepalive: { retries } } })).is({
      good: [1, 64],
      bad: { 'out-of-range': [0, 65, -1], 'wrong-type': ['9', 1.5, null] },
      default: 9,
    }),
)

verifies('frontend.tcp.keepalive/time-default', 'keepalive.time is a duration of at least 1s, by default 180s', () =>
  frontend((time) => ({ tcp: { keepalive: { time } } })).is({
    good: ['1s', '5m', '1h30m'],
    bad: { ...durations, 'out-of-range': ['0s', '999ms'] },
    default: '180s',
  }),
)

verifies(
  'frontend.tcp.keepalive/interval-default',
  'keepalive.interval is a duration of at least 1s, by default 180s',
  () =>
    frontend((interval) => ({ tcp: { keepalive: { interval } } })).is({
      good: ['1s', '1000ms'],
      bad: { ...durations, 'out-of-range': ['999ms'] },
      default: '180s',
    }),
)

verifies('frontend.tls/alpnProtocols-count', 'alpnProtocols has 1 to 16 items', () =>
  frontend((alpnProtocols) => ({ tls: { alpnProtocols } })).is({
    good: [['h2'], n(16, (i) => `p${i}`)],
    bad: { 'too-few-items': [[]], 'too-many-items': [n(17, (i) => `p${i}`)] },
  }),
)

verifies('frontend.tls/alpnProtocols-item-length', 'a protocol has 1 to 64 characters', () =>
  frontend((protocol) => ({ tls: { alpnProtocols: [protocol] } })).is({
    good: ['x', 'x'.repeat(64), `${'\u{1F600}'.repeat(60)}${'x'.repeat(4)}`],
    bad: { 'too-short': [''], 'too-long': ['x'.repeat(65), `${'\u{1F600}'.repeat(60)}${'x'.repeat(5)}`] },
  }),
)

test('a protocol has at most 255 bytes (RFC 7301, 3.1)', () =>
  frontend((protocol) => ({ tls: { alpnProtocols: [protocol] } })).is({
    good: [`${'\u{1F600}'.repeat(63)}x`],
    bad: { 'too-long': ['\u{1F600}'.repeat(64)] },
  }))

const versions = {
  good: ['1.2', '1.3'],
  bad: { 'unknown-value': ['1.1', '1.0', 'TLSv1.2'], 'wrong-type': [1.2] },
} as const

verifies('frontend.tls/minProtocolVersion-values', 'minProtocolVersion is 1.2 or 1.3', () =>
  frontend((minProtocolVersion) => ({ tls: { minProtocolVersion } })).is(versions),
)

verifies('frontend.tls/maxProtocolVersion-values', 'maxProtocolVersion is 1.2 or 1.3', () =>
  frontend((maxProtocolVersion) => ({ tls: { maxProtocolVersion } })).is(versions),
)

verifies('frontend.tls/cipherSuites-values-1.3', 'cipherSuites takes the suites of TLS 1.3', () =>
  frontend((suite) => ({ tls: { cipherSuites: [suite] } })).is({
    good: ['TLS13_AES_256_GCM_SHA384', 'TLS13_AES_128_GCM_SHA256', 'TLS13_CHACHA20_POLY1305_SHA256'],
    bad: { 'unknown-value': ['TLS_AES_256_GCM_SHA384', 'TLS13_AES_128_CCM_SHA256'] },
  }),
)

verifies('frontend.tls/cipherSuites-values-1.2', 'cipherSuites takes the suites of TLS 1.2', () =>
  frontend((suite) => ({ tls: { cipherSuites: [suite] } })).is({
    good: [
      'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384',
      'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256',
      'TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256',
      'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384',
      'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
      'TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256',
    ],
    bad: { 'unknown-value': ['TLS_RSA_WITH_AES_128_CBC_SHA', 'TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256'] },
  }),
)

verifies('frontend.tls/keyExchangeGroups-values', 'the key exchange groups are those of the list', () =>
  frontend((group) => ({ tls: { keyExchangeGroups: [group] } })).is({
    good: ['X25519', 'P-256', 'P-384', 'X25519_MLKEM768'],
    bad: { 'unknown-value': ['P-521', 'x25519'] },
  }),
)

verifies('frontend.http/http1MaxHeaders-range', 'http1MaxHeaders is 1 to 4096', () =>
  frontend((http1MaxHeaders) => ({ http: { http1MaxHeaders } })).is({
    good: [1, 4096],
    bad: { 'out-of-range': [0, 4097] },
  }),
)

verifies('frontend.http/maxBufferSize-form', 'maxBufferSize is a ByteSize', () =>
  frontend((maxBufferSize) => ({ http: { maxBufferSize } })).is({ good: [1, '2Mi', 65_536], bad: sizes }),
)

verifies('frontend.http/http2WindowSize-form', 'http2WindowSize is a ByteSize', () =>
  frontend((http2WindowSize) => ({ http: { http2WindowSize } })).is({ good: [65_535, '1Mi'], bad: sizes }),
)

verifies('frontend.http/http2ConnectionWindowSize-form', 'http2ConnectionWindowSize is a ByteSize', () =>
  frontend((http2ConnectionWindowSize) => ({ http: { http2ConnectionWindowSize } })).is({ good: ['1Mi'], bad: sizes }),
)

verifies('frontend.http/http2FrameSize-form', 'http2FrameSize is a ByteSize that frames can have', () =>
  frontend((http2FrameSize) => ({ http: { http2FrameSize } })).is({
    good: [16_384, '16Ki', 16_777_215],
    bad: { ...sizes, 'out-of-range': [16_383, 16_777_216, '16Mi'] },
  }),
)

verifies('frontend.http/http2MaxHeaderSize-form', 'http2MaxHeaderSize is a ByteSize', () =>
  frontend((http2MaxHeaderSize) => ({ http: { http2MaxHeaderSize } })).is({ good: ['16Ki'], bad: sizes }),
)

const atLeastOneSecond = { good: ['1s', '10m'], bad: { ...durations, 'out-of-range': ['999ms', '0s'] } }

verifies('frontend.http/http2KeepaliveInterval-form', 'http2KeepaliveInterval is a duration', () =>
  frontend((http2KeepaliveInterval) => ({ http: { http2KeepaliveInterval } })).is(atLeastOneSecond),
)

verifies('frontend.http/http2KeepaliveTimeout-form', 'http2KeepaliveTimeout is a duration', () =>
  frontend((http2KeepaliveTimeout) => ({ http: { http2KeepaliveTimeout } })).is(atLeastOneSecond),
)

verifies('frontend.http/maxConnectionDuration-form', 'maxConnectionDuration is a duration', () =>
  frontend((maxConnectionDuration) => ({ http: { maxConnectionDuration } })).is(atLeastOneSecond),
)

verifies('frontend.http/fields-optional', 'http needs no field, and may have any one', () => {
  const each = {
    maxBufferSize: '1Mi',
    http1MaxHeaders: 50,
    http1IdleTimeout: '1m',
    http2WindowSize: '64Ki',
    http2ConnectionWindowSize: '1Mi',
    http2FrameSize: '16Ki',
    http2MaxHeaderSize: '8Ki',
    http2KeepaliveInterval: '30s',
    http2KeepaliveTimeout: '5s',
    maxConnectionDuration: '1h',
  }
  const alone = Object.entries(each).map(([field, value]) => ({ [field]: value }))
  frontend((http) => ({ http })).is({ good: [{}, ...alone] })
})

verifies(
  ['frontend.proxyProtocol/version-values', 'frontend.proxyProtocol/version-default'],
  'proxyProtocol.version',
  () =>
    frontend((version) => ({ proxyProtocol: { version } })).is({
      good: ['V1', 'V2', 'All'],
      bad: { 'unknown-value': ['V3', 'v2'] },
      default: 'V2',
    }),
)

verifies(['frontend.proxyProtocol/mode-values', 'frontend.proxyProtocol/mode-default'], 'proxyProtocol.mode', () =>
  frontend((mode) => ({ proxyProtocol: { mode } })).is({
    good: ['Strict', 'Optional'],
    bad: { 'unknown-value': ['Permissive', 'strict'] },
    default: 'Strict',
  }),
)

verifies('frontend.accessLog/fields-optional', 'an access log without settings is valid', () =>
  frontend((accessLog) => ({ accessLog })).is({ good: [{}, { filter: 'true' }] }),
)

verifies('frontend.accessLog.otlp/backendRef-required', 'otlp needs a backendRef', () =>
  frontend((backendRef) => ({ accessLog: { otlp: { backendRef } } })).is({ good: [service], required: true }),
)

verifies('frontend.accessLog.otlp/protocol-values', 'otlp.protocol is HTTP or GRPC, by default GRPC', () =>
  frontend((protocol) => ({ accessLog: { otlp: { backendRef: service, protocol } } })).is({
    good: ['HTTP', 'GRPC'],
    bad: { 'unknown-value': ['gRPC', 'HTTPS'] },
    default: 'GRPC',
  }),
)

verifies(['frontend.accessLog.otlp/path-length', 'scalar/long-string-length'], 'otlp.path is a LongString', () =>
  frontend((path) => ({ accessLog: { otlp: { backendRef: service, protocol: 'HTTP', path } } })).is({
    good: ['/', `/${'x'.repeat(1023)}`],
    bad: { 'too-short': [''], 'too-long': [`/${'x'.repeat(1024)}`], 'invalid-path': ['v1/logs'] },
    optional: true,
  }),
)

verifies('frontend.accessLog.otlp/path-http-only', 'otlp.path is refused without protocol HTTP', () => {
  frontend((path) => ({ accessLog: { otlp: { backendRef: service, path } } })).is({ bad: { 'not-together': ['/x'] } })
  frontend((path) => ({ accessLog: { otlp: { backendRef: service, protocol: 'GRPC', path } } })).is({
    bad: { 'not-together': ['/x'] },
  })
})

const attributes = (withHole: (x: unknown) => object) => frontend((x) => ({ accessLog: { attributes: withHole(x) } }))

verifies('logTracingAttributes/remove-count', 'remove has 1 to 32 items', () =>
  attributes((remove) => ({ remove })).is({
    good: [['http.method'], n(32, (i) => `a${i}`)],
    bad: { 'too-few-items': [[]], 'too-many-items': [n(33, (i) => `a${i}`)] },
  }),
)

verifies('logTracingAttributes/remove-item-length', 'an item of remove has 1 to 64 characters', () =>
  attributes((item) => ({ remove: [item] })).is({
    good: ['x'.repeat(64)],
    bad: { 'too-long': ['x'.repeat(65)], 'too-short': [''] },
  }),
)

verifies('logTracingAttributes/add-count', 'add has at least one item', () =>
  attributes((add) => ({ add })).is({
    good: [n(100, (i) => ({ name: `a${i}`, expression: '1' }))],
    bad: { 'too-few-items': [[]] },
  }),
)

verifies(
  ['logTracingAttributes/add-name-required', 'scalar/short-string-length'],
  'an added attribute has a name',
  () =>
    attributes((name) => ({ add: [{ name, expression: '1' }] })).is({
      good: ['x', 'x'.repeat(256)],
      bad: { 'too-short': [''], 'too-long': ['x'.repeat(257)] },
      required: true,
    }),
)

verifies(
  ['logTracingAttributes/add-expression-required', 'scalar/cel-expression-length'],
  'an added attribute has an expression of 1 to 16384 characters',
  () =>
    attributes((expression) => ({ add: [{ name: 'a', expression }] })).is({
      good: ['1', '1'.repeat(16_384)],
      bad: { 'too-short': [''], 'too-long': ['1'.repeat(16_385)] },
      required: true,
    }),
)

verifies('frontend.tracing/backendRef-required', 'tracing needs a backendRef', () =>
  frontend((backendRef) => ({ tracing: { backendRef } })).is({ good: [service], required: true }),
)

verifies('frontend.tracing/protocol-values', 'tracing.protocol', () =>
  frontend((protocol) => ({ tracing: { backendRef: service, protocol } })).is({
    good: ['HTTP', 'GRPC'],
    bad: { 'unknown-value': ['grpc'] },
    default: 'GRPC',
  }),
)

verifies('frontend.tracing/path-length', 'tracing.path is a LongString', () =>
  frontend((path) => ({ tracing: { backendRef: service, protocol: 'HTTP', path } })).is({
    good: [`/${'x'.repeat(1023)}`],
    bad: { 'too-short': [''], 'too-long': [`/${'x'.repeat(1024)}`] },
  }),
)

verifies('frontend.tracing/path-http-only', 'tracing.path is refused without protocol HTTP', () =>
  frontend((path) => ({ tracing: { backendRef: service, path } })).is({ bad: { 'not-together': ['/v1/traces'] } }),
)

verifies('frontend.tracing/resources-fields', 'a trace resource has a name and an expression', () => {
  frontend((name) => ({ tracing: { backendRef: service, resources: [{ name, expression: '1' }] } })).is({
    good: ['x', 'x'.repeat(256)],
    bad: { 'too-short': [''], 'too-long': ['x'.repeat(257)] },
    required: true,
  })
  frontend((expression) => ({ tracing: { backendRef: service, resources: [{ name: 'a', expression }] } })).is({
    good: ['1', '1'.repeat(16_384)],
    bad: { 'too-short': [''], 'too-long': ['1'.repeat(16_385)] },
    required: true,
  })
})

verifies('frontend.metrics/attributes-required', 'metrics needs attributes', () =>
  frontend((attributes) => ({ metrics: { attributes } })).is({
    good: [{ add: [{ name: 'tenant', expression: '"a"' }] }],
    required: true,
  }),
)

verifies('frontend.metrics/add-fields', 'a label has a name and an expression', () => {
  const label = (withHole: (x: unknown) => object) =>
    frontend((x) => ({ metrics: { attributes: { add: [withHole(x)] } } }))
  label((name) => ({ name, expression: '1' })).is({ good: ['a'], required: true })
  label((expression) => ({ name: 'a', expression })).is({ good: ['1'], required: true })
})

verifies('frontend.metrics/add-count', 'metrics.attributes.add has 1 to 16 items with different names', () => {
  const label = (i: number) => ({ name: `l${i}`, expression: '"x"' })
  frontend((add) => ({ metrics: { attributes: { add } } })).is({
    good: [n(1, label), n(16, label)],
    bad: { 'too-few-items': [[]], 'too-many-items': [n(17, label)] },
    required: true,
  })
  frontend((name) => ({ metrics: { attributes: { add: [label(1), { name, expression: '1' }] } } })).is({
    bad: { duplicate: ['l1'] },
  })
})

verifies('frontend/fields-optional', 'any one section of frontend is enough', () =>
  frontend((tcp) => ({ tcp, accessLog: {} })).is({ good: [{ keepalive: {} }], optional: true }),
)
