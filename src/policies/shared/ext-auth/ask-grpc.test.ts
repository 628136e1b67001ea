import { expect, test } from 'vitest'
import type { Json, JsonObject } from '#base/json.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { DENIED, GRPC, header, type Policy, policyOf, SERVER, shown } from '#test/support/ext-auth-policy.ts'
import { verifies } from '#test/support/verifies.ts'
import { linesOf } from '../testing.ts'

verifies(
  ['traffic.extAuth.grpc/protocol', 'traffic.extAuth.grpc/contextExtensions', 'traffic.extAuth/backendRef'],
  'what a gRPC server is asked',
  async () => {
    const grpc = { contextExtensions: { tenant: 'blue', 'a.b/c': '' } }
    const policy = policyOf({ ...SERVER, grpc })
    const headers = { 'x-a': ['1', '2'], cookie: ['a=1', 'b=2'], 'user-agent': 'gr\u00c3\u00bcn', 'x-raw': '\u00ff' }
    const sent = await policy.send({ method: 'PUT', target: '/a/b?c=d', headers, scheme: 'https' }, (exchange) => {
      exchange.version = '2'
    })
    expect(shown(sent)).toBe('allowed')
    expect(policy.destinations).toEqual(['Service/default/authz/9000'])
    expect(policy.requests).toMatchObject([
      {
        purpose: 'authorization',
        protocol: 'grpc',
        method: 'POST',
        path: '/envoy.service.auth.v3.Authorization/Check',
        defaultDeadlineMs: 2000,
      },
    ])
    expect(policy.checks).toMatchObject([
      {
        attributes: {
          source: {
            address: { socketAddress: { protocol: 0, address: '192.0.2.7', portValue: 40_000 } },
            principal: '',
          },
          destination: { address: { socketAddress: { protocol: 0, address: '127.0.0.1', portValue: 8080 } } },
          request: {
            http: {
              id: expect.stringMatching(/^[0-9a-f]{32}$/),
              method: 'PUT',
              path: '/a/b?c=d',
              host: 'example.com',
              scheme: 'https',
              query: '',
              fragment: '',
              size: 0,
              protocol: 'HTTP/2',
              body: '',
              headers: {
                ':method': 'PUT',
                ':authority': 'example.com',
                ':path': '/a/b?c=d',
                ':scheme': 'https',
                host: 'example.com',
                'x-a': '1, 2',
                cookie: 'a=1; b=2',
                'user-agent': 'grün',
                'x-raw': '\ufffd',
              },
            },
          },
          contextExtensions: { tenant: 'blue', 'a.b/c': '' },
          metadataContext: { filterMetadata: {} },
          tlsSession: { sni: 'example.com' },
        },
      },
    ])
  },
)

test('a request over HTTP/1.1 without TLS is asked about as such', async () => {
  const policy = policyOf(GRPC)
  await policy.send()
  expect(policy.checks).toMatchObject([
    { attributes: { request: { http: { protocol: 'HTTP/1.1' } }, tlsSession: null } },
  ])
})

test('the time of the question is that of the request', async () => {
  const policy = policyOf(GRPC)
  await policy.send({}, (exchange) => {
    exchange.startMonotonicMs = 1000
    exchange.context = { ...exchange.context, now: () => 1_763_800_000_250, monotonic: () => 3000 }
  })
  expect(policy.checks).toMatchObject([
    { attributes: { request: { time: { seconds: 1_763_799_998, nanos: 250_000_000 } } } },
  ])
})

const CLAIMS = { sub: 'alice', exp: 1_763_800_000, groups: ['a'], deep: { n: null, b: true, f: 1.5 } }
const signedIn = (exchange: Exchange) => {
  exchange.identity.jwt = { claims: CLAIMS, token: 't0ken' }
}
/** A `google.protobuf.Struct` as `protobufjs` shows it, as JSON. */
function jsonOf(value: unknown): unknown {
  const wrapped = value as Record<string, unknown>
  if ('fields' in wrapped) {
    const fields = Object.entries(wrapped.fields as object)
    return Object.fromEntries(fields.map(([name, one]) => [name, jsonOf(one)]))
  }
  const kind = wrapped.kind as string
  if (kind === 'nullValue') return null
  if (kind === 'structValue') return jsonOf(wrapped.structValue)
  if (kind === 'listValue') return (wrapped.listValue as { values: unknown[] }).values.map(jsonOf)
  return wrapped[kind]
}
function metadataAsked({ checks }: Policy): unknown {
  const check = checks.at(-1) as { attributes: { metadataContext: { filterMetadata: Record<string, object> } } }
  const entries = Object.entries(check.attributes.metadataContext.filterMetadata)
  return Object.fromEntries(entries.map(([key, value]) => [key, jsonOf(value)]))
}

verifies('traffic.extAuth.grpc/requestMetadata-unset-jwt', 'the claims of a token are metadata', async () => {
  const policy = policyOf(GRPC)
  await policy.send({}, signedIn)
  expect(metadataAsked(policy)).toEqual({ 'envoy.filters.http.jwt_authn': { jwt_payload: CLAIMS } })
  await policy.send()
  expect(metadataAsked(policy)).toEqual({})
})

verifies('traffic.extAuth.grpc/requestMetadata', 'expressions for the metadata; failures are left out', async () => {
  const requestMetadata = {
    'my.filter': '{"user": jwt.sub, "n": 1, "path": request.path}',
    fails: 'request.headers["absent"]',
    text: '"not a map"',
  }
  const policy = policyOf({ ...SERVER, grpc: { requestMetadata } })
  await policy.send({ target: '/p' }, signedIn)
  expect(metadataAsked(policy)).toEqual({ 'my.filter': { user: 'alice', n: 1, path: '/p' } })
  expect(policy.context.reports).toEqual([])
})

/** An object in objects, or in lists. */
function nested(depth: number, inLists: boolean): JsonObject {
  let value: Json = {}
  for (let i = 1; i < depth; i++) value = inLists && i < depth - 1 ? [value] : { a: value }
  return value as JsonObject
}

test.each([false, true])('metadata that no server could read is left out, nested in lists: %s', async (inLists) => {
  const claims = (depth: number) => (exchange: Exchange) => {
    exchange.identity.jwt = { claims: nested(depth, inLists), token: 'x' }
  }
  const policy = policyOf(GRPC)
  // The server reads with another implementation, which throws if it cannot.
  await policy.send({}, claims(28))
  expect(metadataAsked(policy)).toHaveProperty(['envoy.filters.http.jwt_authn', 'jwt_payload'])
  for (const depth of [29, 100_000]) {
    await policy.send({}, claims(depth))
    expect(metadataAsked(policy)).toEqual({})
  }
  const own = policyOf({ ...SERVER, grpc: { requestMetadata: { a: 'json(request.body)', b: '{"c": 1}' } } })
  await own.send({ method: 'POST', body: JSON.stringify(nested(29, inLists)) })
  expect(metadataAsked(own)).toEqual({ b: { c: 1 } })
})

const HEADERS = { 'x-user': ['forged', 'twice'], x_user: 'forged too', 'x-old': '1', 'x-keep': '1' }

const OK_CASES: [what: string, ok: object, lines: string[]][] = [
  ['nothing', {}, ['x-user: forged', 'x-user: twice', 'x_user: forged too', 'x-old: 1', 'x-keep: 1']],
  [
    'headers replace those of the client, in every spelling',
    { headers: [header('X-User', 'alice')] },
    ['x-old: 1', 'x-keep: 1', 'x-user: alice'],
  ],
  [
    'append, if the server says so',
    { headers: [header('x-old', '2', { append: { value: true } })] },
    ['x-user: forged', 'x-user: twice', 'x_user: forged too', 'x-old: 1', 'x-keep: 1', 'x-old: 2'],
  ],
  [
    'append actions',
    {
      headers: [
        header('x-old', 'no', { appendAction: 'ADD_IF_ABSENT' }),
        header('x-new', 'yes', { appendAction: 'ADD_IF_ABSENT' }),
        header('x-user', 'set', { appendAction: 'OVERWRITE_IF_EXISTS_OR_ADD' }),
        header('x-keep', 'set', { appendAction: 'OVERWRITE_IF_EXISTS' }),
        header('x-none', 'no', { appendAction: 'OVERWRITE_IF_EXISTS' }),
      ],
    },
    ['x-old: 1', 'x-new: yes', 'x-user: set', 'x-keep: set'],
  ],
  [
    'removal comes first',
    { headersToRemove: ['X-User', 'x-old'], headers: [header('x-old', '2', { append: { value: true } })] },
    ['x-keep: 1', 'x-old: 2'],
  ],
  [
    'a raw value is preferred, a text is sent as UTF-8',
    {
      headersToRemove: ['x-user', 'x-old', 'x-keep'],
      headers: [{ header: { key: 'x-raw', value: 'no', rawValue: Buffer.from([0x61, 0xff]) } }, header('x-text', 'ü')],
    },
    ['x-raw: a\u00ff', 'x-text: \u00c3\u00bc'],
  ],
  [
    'a value that no header can have removes the header',
    { headersToRemove: ['x-old', 'x-keep'], headers: [header('x-user', 'a\r\nx-admin: 1')] },
    [],
  ],
  [
    'framing, host and pseudo-headers are not changed',
    {
      headersToRemove: ['x-user', 'x-old', 'host', ':path', 'content-length', 'Content_Length'],
      headers: [
        header('Content-Length', '5'),
        header('transfer-encoding', 'chunked'),
        header('content_length', '5'),
        header('Transfer_Encoding', 'chunked'),
        header('http2_settings', 'x'),
        header('connection', 'x-keep'),
        header('Upgrade', 'h2c'),
        header('te', 'trailers'),
        header('keep-alive', '1'),
        header('proxy-connection', 'close'),
        header('trailer', 'x'),
        header('http2-settings', 'x'),
        header('host', 'evil.test'),
        header(':authority', 'evil.test'),
        header(':path', '/evil'),
        header(':method', 'DELETE'),
        header('not a name', 'x'),
        header('', 'x'),
      ],
    },
    ['x-keep: 1'],
  ],
]

test.each(OK_CASES)('a gRPC server allows: %s', async (_, okResponse, lines) => {
  const sent = await policyOf(GRPC, { check: { status: { code: 0 }, okResponse } }).send({ headers: HEADERS })
  expect(shown(sent)).toBe('allowed')
  expect(linesOf(sent.exchange.request)).toEqual(lines)
  const { method, target, authority } = sent.exchange.request
  expect([method, target, authority]).toEqual(['GET', '/', 'example.com'])
})

test('a gRPC server changes the query, the response and the metadata', async () => {
  const okResponse = {
    queryParametersToSet: [
      { key: 'user', value: 'a&b ü' },
      { key: 'new', value: '' },
    ],
    queryParametersToRemove: ['token'],
    responseHeadersToAdd: [header('X-Checked', 'yes'), header('content-length', '0'), header('x-bad', 'a\nb')],
  }
  const dynamicMetadata = { fields: { user: { stringValue: 'alice' }, __proto__: { numberValue: 1 } } }
  const reply = { check: { status: { code: 0 }, okResponse, dynamicMetadata } }
  const { exchange } = await policyOf(GRPC, reply).send({ target: '/a?user=me&token=x&z=1' })
  expect(exchange.request.target).toBe('/a?z=1&user=a%26b%20%C3%BC&new=')
  expect(exchange.queuedHeaders).toEqual([['x-checked', 'yes']])
  expect(exchange.extauthz?.user).toBe('alice')
  expect(Object.getPrototypeOf(exchange.extauthz)).toBe(null)
})

const DENIAL_CASES: [what: string, check: object, expected: object][] = [
  ['without a response', { status: { code: 7 } }, DENIED],
  ['with any code', { status: { code: 99 }, okResponse: { headers: [header('x', 'y')] } }, DENIED],
  ['without a status', { status: { code: 7 }, deniedResponse: {} }, { status: 403, body: '' }],
  [
    'with status, headers and body',
    {
      status: { code: 16 },
      deniedResponse: {
        status: { code: 401 },
        headers: [
          header('WWW-Authenticate', 'Bearer'),
          header('set-cookie', 'a=1'),
          header('set-cookie', 'b=2'),
          header('Content-Type', 'text/html'),
          header('content-length', '3'),
          header('transfer-encoding', 'chunked'),
          header('connection', 'close'),
          header(':status', '200'),
          header('x-split', 'a\r\nb: c'),
        ],
        body: '<p>Grüß Gott',
      },
    },
    {
      status: 401,
      body: '<p>Grüß Gott',
      headers: [
        ['www-authenticate', 'Bearer'],
        ['set-cookie', 'a=1'],
        ['set-cookie', 'b=2'],
      ],
      contentType: 'text/html',
    },
  ],
  [
    'with a status that no response has',
    { status: { code: 7 }, deniedResponse: { status: { code: 100 } } },
    { status: 403, body: '' },
  ],
]

test.each(DENIAL_CASES)('a gRPC server denies %s', async (_, check, expected) => {
  const metadata = { dynamicMetadata: { fields: { why: { stringValue: 'no' } } } }
  for (const failureMode of ['FailClosed', 'FailOpen']) {
    const sent = await policyOf({ ...GRPC, failureMode }, { check: { ...check, ...metadata } }).send()
    expect(shown(sent)).toEqual(expected)
    expect(sent.outcome).toMatchObject({ code: 'ext-auth-denied' })
    expect(sent.exchange.extauthz).toMatchObject({ why: 'no' })
  }
})

test('the id of the question is that of the trace, if the request belongs to one', async () => {
  const policy = policyOf(GRPC)
  const trace = '0af7651916cd43dd8448eb211c80319c'
  await policy.send({ headers: { traceparent: `00-${trace}-b7ad6b7169203331-01` } })
  expect(policy.checks).toMatchObject([{ attributes: { request: { http: { id: trace } } } }])
})
