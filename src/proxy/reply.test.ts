import { expect, test } from 'vitest'
import type { RejectionCode } from '#base/rejections.ts'
import { reject } from '#exchange/outcome.ts'
import { refuseLargeBody } from '#exchange/refuse-large-body.ts'
import { Head } from '#net/http/head.ts'
import { exchangeWith, linesOf } from '#policies/shared/testing.ts'
import { type Reply, replyToAnswer, replyToRefusal } from './reply.ts'

const PLAIN = exchangeWith()
const GRPC = exchangeWith({ headers: { 'content-type': 'application/grpc' } })
GRPC.version = '2'

function shown({ head, body }: Reply): string[] {
  return [String(head.status), ...linesOf(head), body === undefined ? '' : Buffer.from(body).toString()]
}

test('a refusal is short text, with the id of its decision record', () => {
  expect(shown(replyToRefusal(reject('authorization-denied'), PLAIN, 'w1-a'))).toEqual([
    '403',
    'content-type: text/plain',
    'gatewright-decision: w1-a',
    'authorization failed',
  ])
})

test('the detail is not in the response', () => {
  const reply = replyToRefusal(reject('upstream-failed', { detail: 'reset at 10.0.0.1:80' }), PLAIN, 'w1-a')
  expect(shown(reply).join('\n')).not.toContain('10.0.0.1')
})

test('a policy may set status, text, type and fields', () => {
  const refusal = reject('prompt-guard-rejected', {
    status: 422,
    body: '{"no":"grün"}',
    contentType: 'application/json',
    headers: [
      ['x-why', 'a'],
      ['x-why', 'b'],
    ],
  })
  expect(shown(replyToRefusal(refusal, PLAIN, 'w1-a'))).toEqual([
    '422',
    'content-type: application/json',
    'x-why: a',
    'x-why: b',
    'gatewright-decision: w1-a',
    '{"no":"grün"}',
  ])
})

test('a client is told not to wait for a refusal that asks for more than a minute', () => {
  const retried = (seconds: string) =>
    replyToRefusal(reject('rate-limited', { headers: [['retry-after', seconds]] }), PLAIN, 'd').head.get(
      'x-should-retry',
    )
  expect(['60', '61'].map(retried)).toEqual([undefined, 'false'])
})

test('a refused body names the limit and its field, for HTTP and gRPC clients', () => {
  const refusal = refuseLargeBody('body-too-large', 2_097_152)
  const text = 'request body too large: the limit is 2097152 bytes (frontend.http.maxBufferSize)'
  expect(shown(replyToRefusal(refusal, PLAIN, 'd')).at(-1)).toBe(text)
  expect(decodeURIComponent(replyToRefusal(refusal, GRPC, 'd').head.get('grpc-message') ?? '')).toBe(text)
  expect(refusal.detail).toBe('the limit is 2097152 bytes (frontend.http.maxBufferSize)')
})

test('a refusal with an empty text has neither body nor content type', () => {
  expect(shown(replyToRefusal(reject('rate-limited', { body: '' }), PLAIN, 'd'))).toEqual([
    '429',
    'gatewright-decision: d',
    '',
  ])
})

test.each<[code: RejectionCode, status: number | undefined, grpc: number]>([
  ['malformed-request', undefined, 13],
  ['jwt-missing', undefined, 16],
  ['basic-invalid', 407, 16],
  ['authorization-denied', undefined, 7],
  ['route-not-found', undefined, 12],
  ['rate-limited', undefined, 14],
  ['upgrade-failed', undefined, 14],
  ['upstream-failed', undefined, 14],
  ['request-timeout', undefined, 4],
  ['no-valid-backends', undefined, 14],
  ['backend-missing', undefined, 14],
  ['backend-invalid', undefined, 14],
  ['body-too-large', undefined, 2],
  ['misdirected', undefined, 2],
  ['internal-error', undefined, 2],
])('gRPC: %s (status %s) is grpc-status %i, in HTTP 200 without a body', (code, status, grpc) => {
  const reply = replyToRefusal(reject(code, status === undefined ? {} : { status }), GRPC, 'd')
  expect(reply.head.status).toBe(200)
  expect(reply.head.get('content-type')).toBe('application/grpc')
  expect(reply.head.get('grpc-status')).toBe(String(grpc))
  expect(reply.head.get('gatewright-decision')).toBe('d')
  expect(reply.body).toBeUndefined()
})

test.each([
  ['application/grpc', true],
  ['application/grpc+proto', true],
  ['application/grpc;charset=x', true],
  ['application/grpc ; charset=x', true],
  ['Application/GRPC', true],
  ['application/grpc-web', false],
  ['application/grpcx', false],
  ['application/json', false],
])('content type %s counts as gRPC over HTTP/2: %s', (contentType, counts) => {
  const exchange = exchangeWith({ headers: { 'content-type': contentType } })
  const status = () => replyToRefusal(reject('route-not-found'), exchange, 'd').head.status
  expect(status()).toBe(404)
  exchange.version = '2'
  expect(status()).toBe(counts ? 200 : 404)
})

test.each([
  ['plain', 'plain'],
  ['two words', 'two%20words'],
  ['100%', '100%25'],
  ['a\r\nb', 'a%0D%0Ab'],
  ['grün', 'gr%C3%BCn'],
  ['😀', '%F0%9F%98%80'],
  ['~!$&', '~!$&'],
])('the message %j is sent as %s', (body, sent) => {
  expect(replyToRefusal(reject('ext-auth-denied', { body }), GRPC, 'd').head.get('grpc-message')).toBe(sent)
})

test('gRPC refusals keep the fields of the policy', () => {
  const refusal = reject('rate-limited', { headers: [['retry-after', '7']] })
  expect(linesOf(replyToRefusal(refusal, GRPC, 'd').head)).toContain('retry-after: 7')
})

test.each<[body: string | Uint8Array | undefined, sent: string | undefined]>([
  [undefined, undefined],
  ['grün', 'grün'],
  [new Uint8Array([104, 105]), 'hi'],
])('a configured answer is sent unchanged: %j', (body, sent) => {
  const head = Head.response(302)
  head.set('location', '/x')
  const reply = replyToAnswer({ kind: 'answer', head, body })
  expect(reply.head).toBe(head)
  expect(linesOf(reply.head)).toEqual(['location: /x'])
  expect(reply.body === undefined ? undefined : Buffer.from(reply.body).toString()).toBe(sent)
})
