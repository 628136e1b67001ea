import { expect, test, vi } from 'vitest'
import type { Exchange } from '#exchange/exchange.ts'
import { LARGE_BODY } from '#exchange/known-body.ts'
import { NO_BODIES } from '#exchange/no-bodies.ts'
import { reject } from '#exchange/outcome.ts'
import {
  ALLOWED,
  compiled,
  DENIED,
  GRPC,
  HTTP,
  type Policy,
  policyOf,
  SERVER,
  shown,
  specWith,
} from '#test/support/ext-auth-policy.ts'
import type { Reply } from '#test/support/fake-authorization-server.ts'
import { verifies } from '#test/support/verifies.ts'
import { contextWith, exchangeWith, sourceOf } from '../../shared/testing.ts'
import { extAuth } from './index.ts'

const FAILURES: Reply[] = [
  { failure: 'timeout' },
  { failure: 'connection-refused', detail: 'ECONNREFUSED' },
  { failure: 'no-endpoint' },
  { failure: 'backend-auth-failed' },
  { failure: 'too-many-waiting' },
]
verifies(
  ['traffic.extAuth/fail-closed', 'traffic.extAuth/failureMode-default'],
  'a server that fails denies',
  async () => {
    for (const reply of FAILURES) {
      for (const written of [GRPC, HTTP, { ...GRPC, failureMode: 'FailClosed' }]) {
        expect(shown(await policyOf(written, reply).send())).toEqual(DENIED)
      }
    }
    const { outcome } = await policyOf(GRPC, FAILURES[1]!).send()
    expect(outcome).toMatchObject({
      detail: 'authorization server default/authz: connection-refused: ECONNREFUSED',
    })
  },
)

verifies('traffic.extAuth/fail-open', 'a server that fails lets the request continue', async () => {
  for (const reply of FAILURES) {
    for (const written of [GRPC, HTTP]) {
      const sent = await policyOf({ ...written, failureMode: 'FailOpen' }, reply).send()
      expect(shown(sent)).toBe('allowed')
      expect(sent.exchange.callouts).toMatchObject([{ verdict: 'failed', backend: 'default/authz' }])
    }
  }
})

test('an answer that is none is a failure', async () => {
  const odd: [written: object, reply: Reply][] = [
    [GRPC, { status: 200, body: 'yes' }],
    [GRPC, { status: 200, headers: [['content-type', 'application/grpc']], body: '\0\0\0\0\u0002\u0012\u0009' }],
    [HTTP, { status: 200, body: 'half', breaks: true }],
    [HTTP, { status: 200, body: new Uint8Array(1024 * 1024 + 1) }],
  ]
  for (const [written, reply] of odd) {
    expect(shown(await policyOf(written, reply).send())).toEqual(DENIED)
    expect(shown(await policyOf({ ...written, failureMode: 'FailOpen' }, reply).send())).toBe('allowed')
  }
})

test('callouts are recorded with what a span of a trace needs: start, duration, status and verdict', async () => {
  const timed = async (written: object, reply: Reply) => {
    const { exchange } = await policyOf(written, reply).send({}, (it) => {
      it.startMonotonicMs = it.context.monotonic() - 5000
    })
    return exchange.callouts
  }
  const one = { policy: 'extAuth', backend: 'default/authz', cached: false, durationMs: expect.any(Number) }
  const cases: [written: object, reply: Reply, recorded: object][] = [
    [GRPC, ALLOWED, { verdict: 'allowed', status: 'OK', detail: undefined }],
    [HTTP, { status: 200 }, { verdict: 'allowed', status: '200', detail: undefined }],
    [HTTP, { status: 401 }, { verdict: 'denied', status: '401', detail: 'the authorization server answered 401' }],
    [
      GRPC,
      { check: { status: { code: 7 } } },
      { verdict: 'denied', status: 'OK', detail: 'the authorization server denied with code 7' },
    ],
    [GRPC, { failure: 'timeout' }, { verdict: 'failed', status: undefined, detail: 'timeout' }],
    [GRPC, { status: 503 }, { verdict: 'failed', status: '503', detail: 'response-invalid: the server answered 503' }],
  ]
  for (const [written, reply, recorded] of cases) {
    const [callout, ...more] = (await timed(written, reply)) ?? []
    expect(more).toEqual([])
    expect(callout).toEqual({ ...one, startMs: expect.any(Number), ...recorded })
    expect(callout!.startMs).toBeGreaterThanOrEqual(5000)
  }
})

test('a request that is abandoned is not touched any more', async () => {
  let answer: (reply: Reply) => void = () => {}
  const policy = policyOf({ ...HTTP, failureMode: 'FailOpen' }, () => new Promise((resolve) => (answer = resolve)))
  const controller = new AbortController()
  let seen: Exchange | undefined
  const settled = vi.fn()
  void policy
    .send({}, (exchange) => {
      exchange.context = { ...exchange.context, signal: controller.signal }
      seen = exchange
    })
    .then(settled)
  controller.abort()
  answer({ status: 200 })
  await new Promise((resolve) => setImmediate(resolve))
  expect(settled).not.toHaveBeenCalled()
  expect(seen!.callouts).toBeUndefined()
})

const bodyOf = ({ checks }: Policy) =>
  checks.map(
    (check) => (check as { attributes: { request: { http: { body: string; size: number } } } }).attributes.request.http,
  )

verifies('traffic.extAuth.forwardBody/includes-body', 'the body is a part of the question', async () => {
  const forwardBody = { maxSize: 10 }
  const grpc = policyOf({ ...GRPC, forwardBody })
  await grpc.send({ method: 'POST', body: 'grün 12345' })
  expect(shown(await grpc.send({ method: 'POST', body: 'grün 1234' }))).toBe('allowed')
  expect(bodyOf(grpc)).toMatchObject([{ body: 'grün 1234', size: 10 }])
  const http = policyOf({ ...HTTP, forwardBody }, { status: 200 })
  await http.send({ method: 'POST', body: '0123456789' })
  await http.send({ method: 'POST', body: '' })
  expect(http.requests).toMatchObject([
    { headers: [['x-envoy-auth-partial-body', 'false']], body: new TextEncoder().encode('0123456789') },
    { headers: [['x-envoy-auth-partial-body', 'false']], body: undefined },
  ])
  const unset = policyOf(GRPC)
  await unset.send({ method: 'POST', body: 'secret' })
  expect(bodyOf(unset)).toMatchObject([{ body: '', size: 0 }])
})

test('the server sees every byte of the body', async () => {
  const policy = policyOf({ ...GRPC, forwardBody: { maxSize: 10 } })
  await policy.send({ method: 'POST', body: '\ufeff{}' })
  const bytes = (exchange: Exchange) => {
    exchange.newRequestBody = Uint8Array.of(0x61, 0xff, 0xfe)
  }
  await policy.send({ method: 'POST' }, bytes)
  expect(bodyOf(policy)).toMatchObject([
    { body: '\ufeff{}', size: 5, rawBody: Buffer.of() },
    { body: 'a\ufffd\ufffd', size: 3, rawBody: Buffer.of(0x61, 0xff, 0xfe) },
  ])
})

test('a body that an earlier policy has replaced is the one that is forwarded', async () => {
  const policy = policyOf({ ...GRPC, forwardBody: { maxSize: 10 } })
  const replaced = (text: string) => (exchange: Exchange) => {
    exchange.newRequestBody = new TextEncoder().encode(text)
  }
  expect(shown(await policy.send({ body: 'far too long for it' }, replaced('new')))).toBe('allowed')
  expect(bodyOf(policy)).toMatchObject([{ body: 'new' }])
  expect(shown(await policy.send({ body: '' }, replaced('far too long for it')))).toMatchObject({ status: 413 })
})

verifies('traffic.extAuth.forwardBody/larger-refused', 'a larger body is refused, and nobody is asked', async () => {
  const refused = {
    status: 413,
    body: 'external authorization failed: the limit of the body is 16 bytes (extAuth.forwardBody.maxSize)',
  }
  for (const failureMode of ['FailClosed', 'FailOpen']) {
    const policy = policyOf({ ...GRPC, failureMode, forwardBody: { maxSize: '16' } })
    expect(shown(await policy.send({ method: 'POST', body: 'x'.repeat(17) }))).toEqual(refused)
    const announced = await policy.send({ method: 'POST', headers: { 'content-length': '17' } })
    expect(shown(announced)).toEqual(refused)
    expect(announced.sync, 'the body is not read').toBe(true)
    const reads: number[] = []
    const unknown = await policy.send({ method: 'POST', headers: { 'transfer-encoding': 'chunked' } }, (exchange) => {
      const read = async (maxBytes: number) => {
        reads.push(maxBytes)
        exchange.requestBody = LARGE_BODY
        return undefined
      }
      exchange.bodies = { ...NO_BODIES, request: { ...NO_BODIES.request, read } }
    })
    expect(shown(unknown)).toEqual(refused)
    expect(reads).toEqual([16])
    expect(policy.requests).toEqual([])
  }
})

test('of conditional policies the first one whose condition is true asks', async () => {
  const conditional = [
    { condition: 'request.path == "/a"', policy: { backendRef: { name: 'a', port: 1 }, grpc: {} } },
    { condition: 'request.headers["absent"] == "x"', policy: { backendRef: { name: 'b', port: 1 }, grpc: {} } },
    { policy: { backendRef: { name: 'c', port: 1 }, http: { allowedResponseHeaders: ['x-user'] } } },
  ]
  const policy = policyOf({ conditional }, ({ protocol }) => (protocol === 'grpc' ? ALLOWED : { status: 200 }))
  await policy.send({ target: '/a' })
  await policy.send({ target: '/b' })
  expect(policy.destinations).toEqual(['Service/default/a/1', 'Service/default/c/1'])
  expect(policy.context.reports).toEqual([])
})

test('without a fallback other requests pass', async () => {
  const policy = policyOf({ conditional: [{ condition: 'request.path == "/a"', policy: GRPC }] }, { failure: 'reset' })
  expect(shown(await policy.send({ target: '/a' }))).toEqual(DENIED)
  expect(shown(await policy.send({ target: '/b' }))).toBe('allowed')
})

test('a condition that does not compile refuses', async () => {
  const policy = policyOf({ conditional: [{ condition: '1 +', policy: { ...GRPC, failureMode: 'FailOpen' } }] })
  expect(policy.context.reports).toEqual([
    'cel-syntax spec.traffic.field.conditional[0].condition',
    'fails-open spec.traffic.field.conditional[0].policy.failureMode',
  ])
  expect(shown(await policy.send())).toEqual(DENIED)
  expect(policy.requests).toEqual([])
})

test('bodies that expressions read are buffered', () => {
  const need = (written: object) => compiled(written).readsRequestBody
  expect(need(GRPC)).toBe(false)
  expect(need({ ...GRPC, cache: { key: ['string(request.body)'], ttl: '1m' } })).toBe(true)
  expect(need({ ...SERVER, http: { addRequestHeaders: { a: 'string(request.bodyPrefix)' } } })).toBe('prefix')
  expect(need({ ...SERVER, http: { responseMetadata: { a: 'string(request.body)' } } })).toBe(true)
})

test('metadata of the server count as memory with what they take, unless the cache has them', async () => {
  const kept: number[] = []
  const keep = (bytes: number) => {
    kept.push(bytes)
    return bytes > 100_000 ? reject('body-memory-exhausted') : undefined
  }
  const withMemory = (exchange: Exchange) => {
    exchange.bodies = { ...NO_BODIES, request: { ...NO_BODIES.request, keep } }
  }
  const http = (settings: object) => async (body: string) =>
    shown(await policyOf({ ...SERVER, http: settings }, { status: 200, body }).send({}, withMemory))
  const over = http({ responseMetadata: { all: 'json(response.body)' } })
  expect(await over('{"small":1}')).toBe('allowed')
  expect(kept).toEqual([])
  expect(await over(`["${'x'.repeat(9000)}"]`)).toBe('allowed')
  expect(kept).toEqual([expect.closeTo(18_200, -3)])
  expect(await over(`[${'{},'.repeat(3000)}1]`)).toEqual({ status: 503, body: 'no memory for the body' })

  const dynamicMetadata = { fields: { text: { stringValue: 'x'.repeat(9000) } } }
  const cached = { ...GRPC, cache: { key: ['request.method'], ttl: '1m' } }
  const policy = policyOf(cached, { check: { status: { code: 0 }, dynamicMetadata } })
  kept.length = 0
  for (let sent = 0; sent < 3; sent++) expect(shown(await policy.send({}, withMemory))).toBe('allowed')
  expect(kept).toEqual([expect.closeTo(18_200, -3)])
})

test('a reference that may not be used is as if the server failed, and nobody is asked', async () => {
  const context = Object.assign(contextWith(), { calledBackend: () => undefined })
  const outcomeOf = async (failureMode: string) => {
    const spec = specWith({ ...SERVER, failureMode, http: { allowedResponseHeaders: ['x-user'] } })
    const exchange = exchangeWith({ headers: { 'x-user': 'forged' } })
    return [await extAuth.compile([sourceOf(spec)], context)!.request!(exchange), exchange.request.get('x-user')]
  }
  const detail = 'the reference to the authorization server cannot be used'
  expect(await outcomeOf('FailClosed')).toMatchObject([{ code: 'ext-auth-denied', detail }, 'forged'])
  expect(await outcomeOf('FailOpen')).toEqual([undefined, undefined])
})

test.each([
  [['request.path', 'request.method', '"all"'], true],
  [['"all"'], true],
  [['request.path', 'request.headers["authorization"]'], false],
  [['jwt.sub'], false],
  [['request.headers'], false],
  [['request.pth'], false],
])('a cache whose key %j is the same for all callers is reported: %s', (key, isShared) => {
  const { context } = policyOf({ ...GRPC, cache: { key, ttl: '1m' } })
  expect(context.reports.includes('cache-key-shared spec.traffic.field.cache.key')).toBe(isShared)
})

test.each([
  ['"check"', ['path-invalid spec.traffic.field.http.path']],
  ['"check" + "/all"', ['path-invalid spec.traffic.field.http.path']],
  ['"https://auth.test/check"', ['path-invalid spec.traffic.field.http.path']],
  ['"/a b"', ['path-invalid spec.traffic.field.http.path']],
  ['"/check?all"', []],
  ['"/check" + request.path', []],
])('the path %s of all authorization requests: %j', (path, reports) => {
  expect(policyOf({ ...SERVER, http: { path } }).context.reports.filter((each) => each.startsWith('path-'))).toEqual(
    reports,
  )
})
