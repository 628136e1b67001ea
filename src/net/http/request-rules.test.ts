import { expect, test } from 'vitest'
import { BODY_CHUNKED, BODY_LENGTH, BODY_NONE, type BodyKind } from './framing.ts'
import { Head } from './head.ts'
import { announcedLength, isGrpcRequest, isIdempotent } from './request-rules.ts'

test.each<[types: string[], is: boolean]>([
  [['application/grpc'], true],
  [['Application/gRPC+Proto'], true],
  [['application/grpc;charset=utf-8'], true],
  [['application/grpc+json ; a=b'], true],
  [['application/grpc-web'], false],
  [['application/grpcx'], false],
  [['text/plain'], false],
  [[], false],
  // A repeated field is one text with an undefined meaning (RFC 9110, 5.3 and 8.3).
  [['application/grpc', 'text/plain'], false],
  [['application/grpc+proto', 'text/plain'], false],
  [['application/grpc;a=b', 'text/plain'], false],
  [['text/plain', 'application/grpc'], false],
])('a request of type %j is a gRPC call: %s', (types, is) => {
  const head = Head.request('POST', '/')
  for (const type of types) head.append('content-type', type)
  expect(isGrpcRequest(head)).toBe(is)
})

test('the methods that may be sent twice (RFC 9110, 9.2.2)', () => {
  const methods = ['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE', 'POST', 'PATCH', 'CONNECT', 'get']
  const idempotent = methods.filter((method) => isIdempotent({ method, isRepeatable: false }))
  expect(idempotent).toEqual(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE'])
  expect(isIdempotent({ method: 'POST', isRepeatable: true })).toBe(true)
})

test.each<[method: string, received: number, kind: BodyKind, length: number, announced: number]>([
  ['POST', -1, BODY_LENGTH, 5, 5],
  ['GET', 9, BODY_LENGTH, 5, 5],
  ['POST', -1, BODY_CHUNKED, -1, -1],
  ['GET', 0, BODY_NONE, -1, 0],
  ['GET', -1, BODY_NONE, -1, -1],
  ['GET', 1, BODY_NONE, -1, -1],
  ['POST', -1, BODY_NONE, -1, 0],
  ['PUT', -1, BODY_NONE, -1, 0],
  ['PATCH', -1, BODY_NONE, -1, 0],
  ['DELETE', -1, BODY_NONE, -1, -1],
])('%s with a received length of %i and a body of kind %i and length %i announces %i', (method, ...rest) => {
  const [received, kind, length, announced] = rest
  const head = Head.request(method, '/')
  head.contentLength = received
  expect(announcedLength(head, { kind, length })).toBe(announced)
})
