import { expect, test } from 'vitest'
import { Head } from './head.ts'
import { isGrpcRequest } from './request-rules.ts'
import { isEventStream } from './response-rules.ts'

function typed(head: Head, types: readonly string[]): Head {
  for (const type of types) head.append('content-type', type)
  return head
}

test.each<[types: string[], is: boolean]>([
  [['application/grpc'], true],
  [['Application/gRPC+Proto'], true],
  [['application/grpc;charset=utf-8'], true],
  [['application/grpc+json ; a=b'], true],
  [['application/grpc-web'], false],
  [['application/grpcx'], false],
  [['text/plain'], false],
  [[], false],
  // Sent twice it is one text, of which nobody can say what it means (RFC 9110, 5.3 and 8.3).
  [['application/grpc', 'text/plain'], false],
  [['application/grpc+proto', 'text/plain'], false],
  [['application/grpc;a=b', 'text/plain'], false],
  [['text/plain', 'application/grpc'], false],
])('a request of type %j is one of gRPC: %s', (types, is) => {
  expect(isGrpcRequest(typed(Head.request('POST', '/'), types))).toBe(is)
})

test.each<[types: string[], is: boolean]>([
  [['text/event-stream'], true],
  [['Text/Event-Stream ;charset=utf-8'], true],
  [['text/event-stream-x'], false],
  [['text/event-stream', 'text/plain'], false],
  [['text/event-stream; a=b', 'text/plain'], false],
])('a response of type %j is a stream of events: %s', (types, is) => {
  expect(isEventStream(typed(Head.response(200), types))).toBe(is)
})
