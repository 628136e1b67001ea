import { expect, test } from 'vitest'
import { Head } from '#net/http/head.ts'
import { verifies } from '#test/support/verifies.ts'
import { contextWith, exchangeWith, type Fields, linesOf, sourceOf, specFrom } from '../../shared/testing.ts'
import { parseOrigin } from '../../shared/url/web-origin.ts'
import { cors } from './index.ts'
import { parseOriginPattern } from './origin-pattern.ts'
import { trafficCors } from './schema.ts'

function policyOf(written: object) {
  const context = contextWith()
  return { context, run: cors.compile([sourceOf(specFrom(trafficCors, written))], context)! }
}

function send(written: object, method: string, headers: Fields) {
  const exchange = exchangeWith({ method, headers })
  const outcome = policyOf(written).run.request!(exchange)
  if (outcome instanceof Promise || outcome?.kind === 'refusal') throw new Error('unexpected')
  const response = Head.response(200)
  exchange.writeCors!(response)
  return {
    answer:
      outcome === undefined
        ? undefined
        : { status: outcome.head.status, lines: linesOf(outcome.head), body: outcome.body },
    written: linesOf(response),
  }
}

const A = 'https://a.test'
const FULL = {
  allowOrigins: [A],
  allowMethods: ['GET', 'PUT'],
  allowHeaders: ['X-One', 'X-Two'],
  exposeHeaders: ['X-Out'],
  allowCredentials: true,
  maxAge: 60,
}
const preflight = (more: Fields = {}): Fields => ({ origin: A, 'access-control-request-method': 'PUT', ...more })

verifies('traffic.cors/applies', 'a preflight of an allowed origin is answered', () => {
  expect(send(FULL, 'OPTIONS', preflight())).toEqual({
    answer: {
      status: 200,
      lines: [
        `access-control-allow-origin: ${A}`,
        'access-control-allow-credentials: true',
        'access-control-expose-headers: X-Out',
        'access-control-allow-methods: GET, PUT',
        'access-control-allow-headers: X-One, X-Two',
        'access-control-max-age: 60',
        'vary: Origin',
      ],
      body: undefined,
    },
    written: [
      `access-control-allow-origin: ${A}`,
      'access-control-allow-credentials: true',
      'access-control-expose-headers: X-Out',
      'access-control-allow-methods: GET, PUT',
      'access-control-allow-headers: X-One, X-Two',
      'access-control-max-age: 60',
    ],
  })
})

test('wildcards echo the requested method and headers', () => {
  const spec = { allowOrigins: ['*'], allowMethods: ['*'], allowHeaders: ['*'] }
  expect(send(spec, 'OPTIONS', preflight()).answer?.lines.join()).not.toContain('access-control-allow-headers')
  const requested = { 'access-control-request-headers': ['x-one,x-two ', 'x-three'] }
  expect(send(spec, 'OPTIONS', preflight(requested)).answer?.lines).toEqual([
    `access-control-allow-origin: ${A}`,
    'access-control-allow-methods: PUT',
    'access-control-allow-headers: x-one, x-two, x-three',
    'access-control-max-age: 5',
    'vary: Origin',
  ])
})

test('a preflight of another origin is answered without permission', () => {
  expect(send(FULL, 'OPTIONS', preflight({ origin: 'https://b.test' })).answer).toEqual({
    status: 200,
    lines: ['vary: Origin'],
    body: undefined,
  })
})

test('other requests of an allowed origin are forwarded, and browsers may read their responses', () => {
  expect(send(FULL, 'PUT', { origin: A })).toEqual({
    answer: undefined,
    written: [
      `access-control-allow-origin: ${A}`,
      'access-control-allow-credentials: true',
      'access-control-expose-headers: X-Out',
    ],
  })
})

const BACKEND_FIELDS = {
  'Access-Control-Allow-Origin': '*',
  'access-control-allow-credentials': 'true',
  'access-control-expose-headers': 'x-secret',
  'access-control-allow-methods': '*',
  'access-control-allow-headers': '*',
  'access-control-max-age': '86400',
  'access-control-allow-private-network': 'true',
  access_control_allow_origin: '*',
  'x-kept': '1',
}

/** The lines of a response of the backend, as the policies leave them. */
function written(specs: readonly object[], headers: Fields, responseHeaders: Fields = BACKEND_FIELDS): string[] {
  const exchange = exchangeWith({ method: 'GET', headers, status: 200, responseHeaders })
  for (const spec of specs) expect(policyOf(spec).run.request!(exchange)).toBeUndefined()
  exchange.writeCors!(exchange.response!)
  return linesOf(exchange.response!)
}

test.each<[what: string, headers: Fields, permissions: string[]]>([
  ['no origin', {}, []],
  ['an origin that is not allowed', { origin: 'https://b.test' }, []],
  [
    'an allowed origin',
    { origin: A },
    [
      `access-control-allow-origin: ${A}`,
      'access-control-allow-credentials: true',
      'access-control-expose-headers: X-Out',
    ],
  ],
])('for %s, nothing of the CORS fields of the backend is left', (_, headers, permissions) => {
  expect(written([FULL], headers)).toEqual(['x-kept: 1', ...permissions])
})

test.each<[what: string, later: object, permissions: string[]]>([
  ['allows the origin', { allowOrigins: [A] }, [`access-control-allow-origin: ${A}`]],
  ['does not allow the origin', { allowOrigins: ['https://b.test'] }, []],
])('of two policies, the permissions of the later one apply: it %s', (_, later, permissions) => {
  expect(written([FULL, later], { origin: A })).toEqual(['x-kept: 1', ...permissions])
})

test('with credentials, the exposed headers are written out, because browsers take * for a name', () => {
  const any = { allowOrigins: [A], exposeHeaders: ['*'] }
  const answer = { 'content-type': 'a/b', 'x-one': ['1', '2'], 'set-cookie': 'a=b', etag: '"1"' }
  const exposed = (spec: object, headers: Fields) =>
    written([spec], { origin: A }, headers).filter((line) => line.startsWith('access-control-expose-headers'))
  expect(exposed(any, answer)).toEqual(['access-control-expose-headers: *'])
  expect(exposed({ ...any, allowCredentials: true }, answer)).toEqual(['access-control-expose-headers: x-one, etag'])
  expect(exposed({ ...any, allowCredentials: true }, {})).toEqual([])
  const ahead = send({ ...any, allowCredentials: true }, 'OPTIONS', preflight()).answer?.lines
  expect(ahead?.filter((line) => line.startsWith('access-control-expose-headers'))).toEqual([])
})

const ordinary: [what: string, method: string, headers: Fields, permissions: number][] = [
  ['no Origin', 'GET', {}, 0],
  ['another Origin', 'GET', { origin: 'https://b.test' }, 0],
  ['OPTIONS without a requested method', 'OPTIONS', { origin: A }, 3],
  ['OPTIONS with an empty one', 'OPTIONS', preflight({ 'access-control-request-method': '' }), 3],
  ['OPTIONS without Origin', 'OPTIONS', { 'access-control-request-method': 'PUT' }, 0],
  ['another method with a requested method', 'POST', preflight(), 3],
]
for (const [what, method, headers, permissions] of ordinary) {
  test(`${what} is an ordinary request`, () => {
    const result = send(FULL, method, headers)
    expect([result.answer, result.written.length]).toEqual([undefined, permissions])
  })
}

const origins: [pattern: string, origin: string, matches: boolean][] = [
  ['https://a.test', 'https://a.test', true],
  ['https://a.test', 'https://A.TEST', true],
  ['https://a.test', 'https://a.test:443', true],
  ['https://a.test:443', 'https://a.test', true],
  ['https://a.test', 'http://a.test', false],
  ['https://a.test', 'https://a.test:8443', false],
  ['https://a.test', 'https://b.a.test', false],
  ['https://*.a.test', 'https://b.a.test', true],
  ['https://*.a.test', 'https://c.b.a.test', true],
  ['https://*.a.test', 'https://a.test', false],
  ['https://*.a.test', 'https://.a.test', true],
  ['https://*.a.test', 'https://b.a.test.evil.test', false],
  ['http://*.com', 'http://x.y.com', true],
  ['http://*', 'http://anything.test', true],
  ['http://*', 'https://anything.test', false],
  ['http://a.*.b.*.c', 'http://a.1.b.2.c', true],
  ['http://a.*.b.*.c', 'http://a.b.c', false],
  ['http://*aa', 'http://a', false],
  ['http://ab*b', 'http://ab', false],
  ['http://ab*b', 'http://abb', true],
  ['https://a.*.test', 'https://evil.b.test', false],
  ['http://a.test:8443', 'https://a.test:8443', false],
  ['http://[::1]:8080', 'http://[::1]:8080', true],
]
for (const [text, origin, matches] of origins) {
  test(`${text} ${matches ? 'matches' : 'does not match'} ${origin}`, () => {
    expect(parseOriginPattern(text)!(parseOrigin(origin)!)).toBe(matches)
  })
}

test('an invalid origin matches only *', () => {
  for (const host of ['evil.test\\.a.test', 'evil.test%5c.a.test', 'evil.test,.a.test', 'evil.test?.a.test']) {
    expect(send({ allowOrigins: ['https://*.a.test'] }, 'GET', { origin: `https://${host}` }).written, host).toEqual([])
  }
  expect(send(FULL, 'GET', { origin: 'null' }).written).toEqual([])
  expect(send({ allowOrigins: ['*'] }, 'GET', { origin: 'null' }).written).toEqual(['access-control-allow-origin: *'])
})

const varies: [before: string | string[] | undefined, after: string[]][] = [
  [undefined, ['vary: Origin']],
  ['Accept-Encoding', ['vary: Accept-Encoding', 'vary: Origin']],
  ['accept, ORIGIN', ['vary: accept, ORIGIN']],
  [
    ['accept', 'origin'],
    ['vary: accept', 'vary: origin'],
  ],
  ['*', ['vary: *']],
]
for (const [before, after] of varies) {
  test(`responses vary by Origin: ${before}`, () => {
    const exchange = exchangeWith({ status: 200, responseHeaders: before === undefined ? {} : { vary: before } })
    policyOf(FULL).run.response!(exchange)
    expect(linesOf(exchange.response!)).toEqual(after)
  })
}

test.each([200, 204, 301, 304, 400, 401, 403, 404, 429, 500, 502, 503, 504])(
  'a response with status %d varies by Origin',
  (status) => {
    const exchange = exchangeWith({ status })
    policyOf(FULL).run.response!(exchange)
    expect(linesOf(exchange.response!)).toEqual(['vary: Origin'])
  },
)

const warnings: [spec: object, reports: string[]][] = [
  [FULL, []],
  [{ allowOrigins: ['*'] }, []],
  [
    { allowOrigins: ['*'], allowCredentials: true },
    ['cors-any-origin-with-credentials spec.traffic.field.allowOrigins'],
  ],
  [{}, ['cors-no-origin spec.traffic.field.allowOrigins']],
]
for (const [spec, reports] of warnings) {
  test(`findings for ${JSON.stringify(spec)}`, () => {
    expect(policyOf(spec).context.reports).toEqual(reports)
  })
}

test('an invalid origin of a route filter allows nothing and is reported', () => {
  const context = contextWith()
  cors.compile([sourceOf({ allowOrigins: ['a.test'], maxAge: 5 })], context)
  expect(context.reports).toEqual(['invalid-origin spec.traffic.field.allowOrigins[0]'])
})
