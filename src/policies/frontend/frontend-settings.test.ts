import { expect, test, vi } from 'vitest'
import { verifies } from '#test/support/verifies.ts'
import { contextWith, exchangeWith, sourceOf, specFrom } from '../shared/testing.ts'
import { accessLog } from './access-log/index.ts'
import { frontendAccessLog } from './access-log/schema.ts'
import { http } from './http/index.ts'
import { frontendHttp } from './http/schema.ts'
import { metrics } from './metrics/index.ts'
import { frontendMetrics } from './metrics/schema.ts'
import { proxyProtocol } from './proxy-protocol/index.ts'
import { frontendProxyProtocol } from './proxy-protocol/schema.ts'
import { tcp } from './tcp/index.ts'
import { frontendTcp } from './tcp/schema.ts'
import { tls } from './tls/index.ts'
import { frontendTls } from './tls/schema.ts'
import { tracing } from './tracing/index.ts'
import { frontendTracing } from './tracing/schema.ts'

const SERVICE = { name: 'collector', port: 4317 }

verifies(
  [
    'frontend.http/maxBufferSize-default',
    'frontend.http/http1MaxHeaders-default',
    'frontend.http/http1IdleTimeout-default',
    'frontend.http/http2FrameSize-default',
    'frontend.http/http2MaxHeaderSize-default',
  ],
  'http: defaults',
  () => {
    const http2 = { maxHeaderBytes: 16_384, maxFrameBytes: 16_384, keepaliveIntervalMs: 0, keepaliveTimeoutMs: 20_000 }
    const DEFAULT = {
      maxBufferBytes: 2_097_152,
      maxHeaders: 100,
      idleTimeoutMs: 600_000,
      maxConnectionMs: 0,
      http2: expect.objectContaining(http2),
    }
    expect(http.compile([], contextWith())).toEqual(DEFAULT)
    expect(http.compile([sourceOf({ http1MaxHeaders: 5 })], contextWith())).toEqual({ ...DEFAULT, maxHeaders: 5 })
  },
)

test('http: configured values', () => {
  const context = contextWith()
  const written = {
    maxBufferSize: '64Ki',
    http1MaxHeaders: 10,
    http1IdleTimeout: '30s',
    http2WindowSize: '1Mi',
    http2ConnectionWindowSize: '2Mi',
    http2FrameSize: '32Ki',
    http2MaxHeaderSize: '8Ki',
    http2KeepaliveInterval: '10s',
    http2KeepaliveTimeout: '5s',
    maxConnectionDuration: '1h',
  }
  expect(http.compile([sourceOf(specFrom(frontendHttp, written))], context)).toEqual({
    maxBufferBytes: 65_536,
    maxHeaders: 10,
    idleTimeoutMs: 30_000,
    maxConnectionMs: 3_600_000,
    http2: expect.objectContaining({
      windowBytes: 1_048_576,
      connectionWindowBytes: 2_097_152,
      maxFrameBytes: 32_768,
      maxHeaderBytes: 8192,
      keepaliveIntervalMs: 10_000,
      keepaliveTimeoutMs: 5000,
    }),
  })
  expect(context.reports).toEqual([])
})

test('http: a ping timeout without pings', () => {
  const context = contextWith()
  http.compile([sourceOf(specFrom(frontendHttp, { http2KeepaliveTimeout: '5s' }))], context)
  expect(context.reports).toEqual(['no-effect spec.traffic.field.http2KeepaliveTimeout'])
})

test('accessLog: filter, removed and added fields', () => {
  const context = contextWith()
  const written = {
    filter: 'response.code >= 400',
    attributes: {
      remove: ['http.method'],
      add: [
        { name: 'path', expression: 'request.path' },
        { name: 'http.path', expression: 'request.path' },
      ],
    },
    otlp: { backendRef: SERVICE },
  }
  const setting = accessLog.compile([sourceOf(specFrom(frontendAccessLog, written))], context)!
  expect(setting.filter?.isTrue(exchangeWith({ status: 404 }))).toBe(true)
  expect(setting.filter?.isTrue(exchangeWith({ status: 200 }))).toBe(false)
  expect([...setting.remove]).toEqual(['http.method', 'http.path'])
  expect(setting.add.map(({ name, expression }) => [name, expression.text(exchangeWith({ target: '/p' }))])).toEqual([
    ['path', '/p'],
    ['http.path', '/p'],
  ])
  expect(setting.otlp).toMatchObject({ signal: 'logs', protocol: 'GRPC', backend: 'Service/default/collector/4317' })
  expect(context.reports).toEqual([])
  expect(accessLog.compile([], contextWith())).toBeUndefined()
  expect(accessLog.compile([sourceOf({})], contextWith())).toEqual({
    filter: undefined,
    remove: new Set(),
    mayCover: false,
    add: [],
    otlp: undefined,
  })
})

test('accessLog: fixed parts of a line cannot be added', () => {
  const context = contextWith()
  const add = ['level', 'time', 'client', 'scope', 'time.spent'].map((name) => ({ name, expression: 'source.address' }))
  const setting = accessLog.compile([sourceOf(specFrom(frontendAccessLog, { attributes: { add } }))], context)!
  expect(setting.add.map(({ name }) => name)).toEqual(['client', 'time.spent'])
  expect(context.reports).toEqual(
    [0, 1, 3].map((i) => `invalid-attribute spec.traffic.field.attributes.add[${i}].name`),
  )
})

test('metrics: labels', () => {
  const written = { attributes: { add: [{ name: 'tier', expression: 'request.headers["tier"]' }] } }
  const labels = metrics.compile([sourceOf(specFrom(frontendMetrics, written))], contextWith())
  expect(labels.names).toEqual(['tier'])
  expect(labels.expressions.map((one) => one.text(exchangeWith({ headers: { tier: 'gold' } })))).toEqual(['gold'])
  expect(metrics.compile([], contextWith())).toEqual({ names: [], expressions: [] })
})

test.each([
  ['backend', 'backend is a built-in label'],
  ['failure', 'failure is a built-in label'],
  ['server', 'server is a built-in label'],
  ['route.rule', 'route_rule is a built-in label'],
  ['gen_ai.anything', 'gen_ai_anything is a built-in label'],
  ['le', 'le is a built-in label'],
  ['bind', 'bind is a built-in label'],
  ['path', undefined],
  ['7th', '7th is not a valid Prometheus label name'],
  ['first', 'first is the name of an earlier label'],
])('metrics: the label %j: %s', (name, problem) => {
  const context = contextWith()
  const report = vi.spyOn(context, 'report')
  const add = ['first', name].map((written) => ({ name: written, expression: 'request.method' }))
  const { names } = metrics.compile([sourceOf({ attributes: { add } })], context)
  expect(names).toEqual(problem === undefined ? ['first', name] : ['first'])
  const messages = report.mock.calls.map(([, , { message }]) => message)
  expect(messages).toEqual(problem === undefined ? [] : [`${problem}; this label is ignored`])
})

test('tracing: target, sampling, attributes', () => {
  const context = contextWith()
  const written = {
    backendRef: SERVICE,
    randomSampling: '0.25',
    attributes: { remove: ['http.method'], add: [{ name: 'a', expression: '"x"' }] },
    resources: [{ name: 'service.name', expression: '"edge"' }],
  }
  const setting = tracing.compile([sourceOf(specFrom(frontendTracing, written))], context)!
  expect(setting.target).toMatchObject({
    signal: 'traces',
    protocol: 'GRPC',
    backend: 'Service/default/collector/4317',
    path: '/v1/traces',
  })
  expect(setting.target.resource({ podName: undefined, namespace: undefined, gateway: undefined })).toEqual([
    ['service.name', 'edge'],
  ])
  expect([setting.randomSampling?.json(exchangeWith({})), setting.clientSampling]).toEqual([0.25, undefined])
  expect([[...setting.remove], setting.add.map(({ name }) => name)]).toEqual([['http.method'], ['a']])
  expect(context.reports).toEqual([])
  expect(tracing.compile([], contextWith())).toBeUndefined()
})

test('nothing is traced if the policy must not use its backend', () => {
  const context = Object.assign(contextWith(), { calledBackend: () => undefined })
  expect(tracing.compile([sourceOf(specFrom(frontendTracing, { backendRef: SERVICE }))], context)).toBeUndefined()
})

test('tracing: problems are reported where they are', () => {
  const context = contextWith()
  const written = { backendRef: SERVICE, randomSampling: '1 +', clientSampling: 'response.code' }
  tracing.compile([sourceOf(specFrom(frontendTracing, written))], context)
  expect(context.reports).toEqual([
    'cel-syntax spec.traffic.field.randomSampling',
    'cel-unavailable spec.traffic.field.clientSampling',
  ])
})

verifies(
  [
    'frontend.tcp.keepalive/retries-default',
    'frontend.tcp.keepalive/time-default',
    'frontend.tcp.keepalive/interval-default',
  ],
  'tcp: keepalive with its defaults, off without it',
  () => {
    const context = contextWith()
    expect(tcp.compile([], context)).toEqual({ keepalive: undefined })
    expect(tcp.compile([sourceOf(specFrom(frontendTcp, { keepalive: {} }))], context)).toEqual({
      keepalive: { retries: 9, timeMs: 180_000, intervalMs: 180_000 },
    })
    expect(context.reports).toEqual([])
  },
)

const SUITES =
  'TLS_AES_256_GCM_SHA384:TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256:' +
  'ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305:' +
  'ECDHE-RSA-AES256-GCM-SHA384:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-RSA-CHACHA20-POLY1305'
const TLS_DEFAULTS = { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.3', ciphers: SUITES, groups: undefined }

verifies(
  ['frontend.tls/handshakeTimeout-default', 'frontend.tls/alpnProtocols-default'],
  'tls: defaults of unset fields',
  () => {
    expect(tls.compile([], contextWith())).toEqual({
      handshakeTimeoutMs: 15_000,
      alpnProtocols: ['h2', 'http/1.1'],
      relayedAlpnProtocols: [],
      parameters: TLS_DEFAULTS,
    })
  },
)

const NEWER = 'TLS13_AES_128_GCM_SHA256'
const OLDER = 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'

test.each<[string, object, object]>([
  ['the deadline', { handshakeTimeout: '5s' }, { handshakeTimeoutMs: 5000 }],
  ['protocols', { alpnProtocols: ['x'] }, { alpnProtocols: ['x'], relayedAlpnProtocols: ['x'] }],
  ['the lowest version', { minProtocolVersion: '1.3' }, { parameters: { ...TLS_DEFAULTS, minVersion: 'TLSv1.3' } }],
  ['the highest version', { maxProtocolVersion: '1.2' }, { parameters: { ...TLS_DEFAULTS, maxVersion: 'TLSv1.2' } }],
  [
    'suites in configured order',
    { cipherSuites: [OLDER, NEWER] },
    { parameters: { ...TLS_DEFAULTS, ciphers: 'ECDHE-RSA-AES128-GCM-SHA256:TLS_AES_128_GCM_SHA256' } },
  ],
  [
    'only suites of TLS 1.3',
    { cipherSuites: [NEWER] },
    { parameters: { ...TLS_DEFAULTS, ciphers: 'TLS_AES_128_GCM_SHA256', minVersion: 'TLSv1.3' } },
  ],
  [
    'only suites of TLS 1.2',
    { cipherSuites: [OLDER] },
    { parameters: { ...TLS_DEFAULTS, ciphers: 'ECDHE-RSA-AES128-GCM-SHA256', maxVersion: 'TLSv1.2' } },
  ],
  ['no suites at all', { cipherSuites: [] }, { parameters: TLS_DEFAULTS }],
  [
    'groups in configured order',
    { keyExchangeGroups: ['X25519_MLKEM768', 'P-384', 'X25519', 'P-256'] },
    { parameters: { ...TLS_DEFAULTS, groups: 'X25519MLKEM768/P-384/X25519/P-256' } },
  ],
])('tls: %s', (_, written, expected) => {
  expect(tls.compile([sourceOf(specFrom(frontendTls, written))], contextWith())).toMatchObject(expected)
})

verifies(
  ['frontend.proxyProtocol/version-default', 'frontend.proxyProtocol/mode-default'],
  'proxyProtocol: V2 and required by default; undefined without the policy',
  () => {
    const compile = (written: object) =>
      proxyProtocol.compile([sourceOf(specFrom(frontendProxyProtocol, written))], contextWith())
    expect(compile({})).toEqual({ version: 'V2', required: true })
    expect(compile({ version: 'All', mode: 'Optional' })).toEqual({ version: 'All', required: false })
    expect(proxyProtocol.compile([], contextWith())).toBeUndefined()
  },
)
