import { expect, test } from 'vitest'
import { contextWith, sourceOf, specFrom } from '../shared/testing.ts'
import { http } from './http/index.ts'
import { backendHttp } from './http/schema.ts'
import { tcp } from './tcp/index.ts'
import { backendTcp } from './tcp/schema.ts'
import { tunnel } from './tunnel/index.ts'

test('http: version and timeout', () => {
  const context = contextWith()
  const compile = (written: object) => http.compile([sourceOf(specFrom(backendHttp, written))], context)
  expect(http.compile([], context)).toEqual({ version: undefined, requestTimeoutMs: 0 })
  expect(compile({ version: 'HTTP1', requestTimeout: '2s' })).toEqual({ version: 'HTTP1', requestTimeoutMs: 2000 })
  expect(compile({ version: 'HTTP2' })).toEqual({ version: 'HTTP2', requestTimeoutMs: 0 })
  expect(context.reports).toEqual([])
})

test.each([
  ['HTTP2', ['http/1.1'], 1],
  ['HTTP1', ['h2'], 1],
  ['HTTP2', ['h2', 'http/1.1'], 0],
  ['HTTP1', ['h2', 'http/1.1'], 0],
  ['HTTP2', undefined, 0],
  [undefined, ['h2'], 0],
])('http: version %s with alpnProtocols %j', (version, alpn, count) => {
  const context = contextWith()
  const source = sourceOf(
    specFrom(backendHttp, { ...(version === undefined ? {} : { version }), requestTimeout: '1s' }),
  )
  http.together!.advise(source as never, { alpn } as never, context)
  expect(context.reports).toEqual(count === 0 ? [] : ['inconsistent spec.traffic.field.version'])
})

test('tcp: connect timeout and keepalive', () => {
  const context = contextWith()
  const compile = (written: object) => tcp.compile([sourceOf(specFrom(backendTcp, written))], context)
  const DEFAULT = { retries: 9, timeMs: 180_000, intervalMs: 180_000 }
  expect(tcp.compile([], context)).toEqual({ connectTimeoutMs: 10_000, keepalive: DEFAULT })
  expect(compile({ connectTimeout: '250ms' })).toEqual({ connectTimeoutMs: 250, keepalive: DEFAULT })
  expect(context.reports).toEqual([])
  expect(compile({ keepalive: { retries: 3, time: '1m' } }).keepalive).toEqual({
    ...DEFAULT,
    retries: 3,
    timeMs: 60_000,
  })
  expect(context.reports).toEqual([])
})

test('tunnel: the proxy server', () => {
  const context = contextWith()
  expect(tunnel.compile([], context)).toBeUndefined()
  const spec = { backendRef: { group: '', kind: 'Service', name: 'proxy', port: 3128 } }
  expect(tunnel.compile([sourceOf(spec)], context)?.proxy).toBe('Service/default/proxy/3128')
  expect(context.reports).toEqual([])
})
