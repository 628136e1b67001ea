import { expect, test } from 'vitest'
import { Head } from './head.ts'
import { isGrpcRequest, isIdempotent } from './request-rules.ts'

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
  expect(methods.filter(isIdempotent)).toEqual(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE'])
})
