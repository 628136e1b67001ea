import { expect, test } from 'vitest'
import { ALLOWED, DENIED, filterOf, type Policy, shown } from '#test/support/ext-auth-policy.ts'
import type { Reply } from '#test/support/fake-authorization-server.ts'
import { contextWith, exchangeWith, linesOf, sourceOf } from '../../shared/testing.ts'
import { extAuth } from './index.ts'

// The filter ExternalAuth of route rules (Gateway API, HTTPExternalAuthFilter).

const GRPC = { protocol: 'GRPC', grpc: {} } as const
const HTTP = { protocol: 'HTTP', http: {} } as const
const OK: Reply = { status: 200 }

const httpOf = ({ checks }: Policy) =>
  checks.map(
    (check) =>
      (check as { attributes: { request: { http: { headers: object; body: string } } } }).attributes.request.http,
  )

test('an HTTP server gets method, host, path and the credential of the request, and nothing else', async () => {
  const policy = filterOf(HTTP, OK)
  const headers = { host: 'shop.example', authorization: 'Bearer x', cookie: 'a=1', 'x-a': '1' }
  expect(shown(await policy.send({ method: 'DELETE', target: '/a?b=c', headers }))).toBe('allowed')
  expect(policy.destinations).toEqual(['Service/default/authz/9000'])
  expect(policy.requests).toMatchObject([
    {
      purpose: 'authorization',
      method: 'DELETE',
      path: '/a?b=c',
      host: 'shop.example',
      headers: [['authorization', 'Bearer x']],
      body: undefined,
    },
  ])
})

test('allowedHeaders adds headers for an HTTP server', async () => {
  const allowedHeaders = ['X-A', 'cookie', 'Authorization', 'Host', 'content-length', 'x-absent']
  const policy = filterOf({ protocol: 'HTTP', http: { allowedHeaders } }, OK)
  await policy.send({ headers: { authorization: 'Bearer x', cookie: 'a=1', 'x-a': ['1', '2'], 'x-b': '1' } })
  expect(policy.requests[0]!.headers).toEqual([
    ['authorization', 'Bearer x'],
    ['x-a', '1, 2'],
    ['cookie', 'a=1'],
  ])
  expect(policy.context.reports).toEqual([])
})

test.each<[prefix: string | undefined, asked: string]>([
  [undefined, '/a/b?c=d'],
  ['', '/a/b?c=d'],
  ['/', '/a/b?c=d'],
  ['/verify', '/verify/a/b?c=d'],
  ['/verify/', '/verify/a/b?c=d'],
  ['verify/all//', '/verify/all/a/b?c=d'],
])('path %s precedes the path of the request', async (path, asked) => {
  const policy = filterOf({ protocol: 'HTTP', http: path === undefined ? {} : { path } }, OK)
  await policy.send({ target: '/a/b?c=d' })
  expect(policy.requests).toMatchObject([{ path: asked }])
})

test('a target that is no path is not asked about', async () => {
  const policy = filterOf({ protocol: 'HTTP', http: { path: '/verify' } }, OK)
  expect(shown(await policy.send({ method: 'OPTIONS', target: '*' }))).toEqual(DENIED)
  expect(policy.requests).toEqual([])
})

const ANSWER: Reply = {
  status: 200,
  headers: [
    ['x-user', 'ann'],
    ['x-team', 'a'],
    ['x-team', 'b'],
    ['host', 'evil.example'],
    ['connection', 'close'],
    ['content-type', 'text/plain'],
    ['content_type', 'text/plain'],
    ['content-length', '2'],
  ],
  body: 'ok',
}
const RECEIVED = { 'x-user': 'mallory', 'x-role': 'admin', 'content-type': 'application/json' }

test('all headers of the answer go to the backend, without those about the answer itself', async () => {
  const { exchange } = await filterOf(HTTP, ANSWER).send({ headers: RECEIVED })
  expect(exchange.request.authority).toBe('example.com')
  expect(linesOf(exchange.request)).toEqual([
    'x-role: admin',
    'content-type: application/json',
    'x-user: ann',
    'x-team: a',
    'x-team: b',
  ])
})

test('with allowedResponseHeaders only those, and nobody else can set them', async () => {
  const http = { allowedResponseHeaders: ['X-Team', 'x-role', 'content-type'] }
  const { exchange } = await filterOf({ protocol: 'HTTP', http }, ANSWER).send({ headers: RECEIVED })
  expect(linesOf(exchange.request)).toEqual([
    'x-user: mallory',
    'x-team: a',
    'x-team: b',
    'content-type: text/plain',
    'content_type: text/plain',
  ])
})

test('a gRPC server gets all headers, or those of allowedHeaders', async () => {
  const seen = async (allowedHeaders?: readonly string[]) => {
    const policy = filterOf({ protocol: 'GRPC', grpc: allowedHeaders === undefined ? {} : { allowedHeaders } })
    expect(shown(await policy.send({ headers: { authorization: 'Bearer x', 'x-a': '1' } }))).toBe('allowed')
    expect(policy.context.reports).toEqual([])
    return httpOf(policy)[0]!.headers
  }
  const all = {
    ':method': 'GET',
    ':authority': 'example.com',
    ':path': '/',
    ':scheme': 'http',
    host: 'example.com',
    authorization: 'Bearer x',
    'x-a': '1',
  }
  expect(await seen()).toEqual(all)
  expect(await seen([])).toEqual(all)
  expect(await seen(['X-A', ':path', 'Host', 'x-absent'])).toEqual({ 'x-a': '1', ':path': '/', host: 'example.com' })
})

test('what the server reads is told, so that requests cannot hide it', () => {
  const readings = (filter: object) => {
    const context = contextWith()
    const run = extAuth.compile([sourceOf({ backend: 'b', ...filter } as never)], context)
    return [context.readings, run!.fields?.request]
  }
  expect(readings(GRPC)).toEqual([['.grpc: path fields'], []])
  expect(readings({ ...GRPC, grpc: { allowedHeaders: ['x-a'] } })).toEqual([['.grpc: path'], ['x-a']])
  expect(readings(HTTP)).toEqual([['.http: path fields'], []])
  const http = { allowedHeaders: ['x-a'], allowedResponseHeaders: ['x-b'] }
  expect(readings({ ...HTTP, http })).toEqual([['.http: path'], ['x-a', 'x-b']])
})

test('a failure of the server denies', async () => {
  for (const filter of [GRPC, HTTP]) {
    expect(shown(await filterOf(filter, { failure: 'timeout' }).send())).toEqual(DENIED)
    expect(shown(await filterOf(filter, { status: 500 }).send())).toEqual(DENIED)
  }
  expect(shown(await filterOf(HTTP, { status: 204 }).send())).toEqual(DENIED)
  expect(shown(await filterOf(HTTP, { status: 401, body: 'who?' }).send())).toEqual({ status: 401, body: 'who?' })
})

test('without a usable backend every request is denied, and nobody is asked', async () => {
  for (const { backend: _, ...filter } of [
    { ...GRPC, backend: '' },
    { ...HTTP, backend: '' },
  ]) {
    const run = extAuth.compile([sourceOf(filter)], contextWith())
    const exchange = exchangeWith()
    expect(run!.request!(exchange)).toMatchObject({
      code: 'ext-auth-denied',
      detail: 'the reference to the authorization server cannot be used',
    })
  }
})

test('a misspelt header name denies, and is reported', async () => {
  const policy = filterOf({ protocol: 'HTTP', http: { allowedResponseHeaders: ['x user'] } }, OK)
  expect(policy.context.reports).toEqual(['header-invalid spec.traffic.field.http.allowedResponseHeaders[0]'])
  expect(shown(await policy.send())).toEqual(DENIED)
})

test('forwardBody sends bodies up to its size, and refuses larger ones', async () => {
  const post = { method: 'POST', body: '0123456789' }
  const grpc = filterOf({ ...GRPC, forwardBody: { maxSize: 10 } }, ALLOWED)
  expect(shown(await grpc.send(post))).toBe('allowed')
  expect(httpOf(grpc)).toMatchObject([{ body: '0123456789' }])
  const http = filterOf({ ...HTTP, forwardBody: { maxSize: 9 } }, OK)
  expect(shown(await http.send(post))).toEqual({
    status: 413,
    body: 'external authorization failed: the limit of the body is 9 bytes (externalAuth.forwardBody.maxSize)',
  })
  expect(http.requests).toEqual([])
  const none = filterOf({ ...HTTP, forwardBody: { maxSize: 0 } }, OK)
  expect(shown(await none.send(post))).toBe('allowed')
  expect(none.requests).toMatchObject([{ body: undefined }])
})
