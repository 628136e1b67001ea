import { expect, test } from 'vitest'
import { type A2aRequest, classifyRequest } from './classify-request.ts'
import { readMethod } from './read-method.ts'

const requests: [method: string, target: string, expected: A2aRequest][] = [
  ['GET', '/.well-known/agent-card.json', 'agent-card'],
  ['GET', '/.well-known/agent.json', 'agent-card'],
  ['GET', '/agents/travel/.well-known/agent-card.json?v=1', 'agent-card'],
  ['GET', '/a//%2ewell-known//agent%2Ejson', 'agent-card'],
  ['GET', '/?x=/.well-known/agent.json', 'other'],
  ['GET', '/.well-known/agent-card.json/', 'other'],
  ['GET', '/x.well-known/agent.json', 'other'],
  ['HEAD', '/.well-known/agent-card.json', 'other'],
  ['POST', '/.well-known/agent-card.json', 'call'],
  ['POST', '/rpc', 'call'],
  ['GET', '/v1/tasks/1', 'other'],
]

test.each(requests)('%s %s is %s', (method, target, expected) => {
  expect(classifyRequest(method, target)).toBe(expected)
})

const bodies: [contentType: string | undefined, body: string, method: string][] = [
  ['application/json', '{"jsonrpc":"2.0","id":1,"method":"message/send","params":{}}', 'message/send'],
  ['application/json; charset=utf-8', '{"method":"SendStreamingMessage"}', 'SendStreamingMessage'],
  ['application/a2a+json', '{"method":"GetTask"}', 'GetTask'],
  ['application/json', '{"method":"message/send","Method":"tasks/cancel"}', 'unknown'],
  ['application/json', '{"method":"tasks/cancel","method":"message/send"}', 'unknown'],
  ['application/json', '{"method":"message/send","params":{"method":"a","Method":"b","method":"c"}}', 'message/send'],
  ['application/json', '{"method":7}', 'unknown'],
  ['application/json', '{"method":""}', 'unknown'],
  ['application/json', '{"id":1}', 'unknown'],
  ['application/json', '[{"method":"message/send"}]', 'unknown'],
  ['application/json', '{"method":', 'unknown'],
  ['application/json', 'null', 'unknown'],
  ['application/grpc', '{"method":"message/send"}', 'unknown'],
  [undefined, '{"method":"message/send"}', 'unknown'],
]

test.each(bodies)('%s %s calls %s', (contentType, body, method) => {
  expect(readMethod(contentType, new TextEncoder().encode(body))).toBe(method)
})

test('a body that was not read has no known method', () => {
  expect(readMethod('application/json', undefined)).toBe('unknown')
})
