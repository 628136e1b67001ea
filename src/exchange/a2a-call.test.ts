import { expect, test } from 'vitest'
import { Head } from '#net/http/head.ts'
import { type A2aCall, readA2aCall } from './a2a-call.ts'
import { methodOfPath } from './a2a-methods.ts'
import { LARGE_BODY, largeBody, UNREAD_BODY, wholeBody } from './known-body.ts'

const requests: [method: string, target: string, expected: string | undefined][] = [
  // the public card, in the spellings that servers accept
  ['GET', '/.well-known/agent-card.json', 'agent-card'],
  ['GET', '/.well-known/agent.json', 'agent-card'],
  ['HEAD', '/.well-known/agent.json', 'agent-card'],
  ['POST', '/.well-known/agent-card.json', 'agent-card'],
  ['GET', '/agents/travel/.well-known/agent-card.json?v=1', 'agent-card'],
  ['GET', '/a//%2ewell-known//agent%2Ejson', 'agent-card'],
  ['GET', '/.well-known/agent-card.json/', 'agent-card'],
  ['GET', '/.Well-Known/AGENT-CARD.json', 'agent-card'],
  ['GET', '/.well-known;x/agent-card.json;v=1', 'agent-card'],
  ['GET', '/?x=/.well-known/agent.json', undefined],
  ['GET', '/x.well-known/agent.json', undefined],
  ['OPTIONS', '/.well-known/agent-card.json', undefined],
  // HTTP+JSON of 0.3 and 1.0, also with tenants
  ['GET', '/v1/card', 'GetExtendedAgentCard'],
  ['GET', '/extendedAgentCard', 'GetExtendedAgentCard'],
  ['GET', '/tenant-1/extendedAgentCard', 'GetExtendedAgentCard'],
  ['GET', '/agent/authenticatedExtendedCard', 'GetExtendedAgentCard'],
  ['POST', '/v1/message:send', 'SendMessage'],
  ['POST', '/message:send', 'SendMessage'],
  ['POST', '/message%3Asend', 'SendMessage'],
  ['POST', '/Message:Send/', 'SendMessage'],
  ['POST', '/a2a/v1/message:stream', 'SendStreamingMessage'],
  ['GET', '/message:send', 'unknown'],
  ['HEAD', '/message:send', undefined],
  ['OPTIONS', '/message:send', undefined],
  ['GET', '/v1/tasks/7', 'GetTask'],
  ['HEAD', '/v1/tasks/7', 'GetTask'],
  ['GET', '/tasks?pageSize=3', 'ListTasks'],
  ['POST', '/tasks/7:cancel', 'CancelTask'],
  ['POST', '/v1/tasks/a%3Ab:cancel', 'CancelTask'],
  ['GET', '/tasks/7:subscribe', 'SubscribeToTask'],
  ['POST', '/v1/tasks/7:subscribe', 'SubscribeToTask'],
  ['POST', '/tasks/7/pushNotificationConfigs', 'CreateTaskPushNotificationConfig'],
  ['GET', '/tasks/7/pushNotificationConfigs', 'ListTaskPushNotificationConfigs'],
  ['GET', '/tasks/7/pushNotificationConfigs/1', 'GetTaskPushNotificationConfig'],
  ['DELETE', '/tasks/7/pushNotificationConfigs/1', 'DeleteTaskPushNotificationConfig'],
  ['DELETE', '/tasks/7', 'unknown'],
  ['GET', '/tasks/7:cancel', 'unknown'],
  ['GET', '/tasks/7:cancelled', 'GetTask'],
  ['GET', '/tasks:cancel', undefined],
  ['GET', '/a2a.v1.A2AService/SendMessage', 'SendMessage'],
  ['OPTIONS', '/a2a.v1.A2AService/SendMessage', undefined],
  // gRPC of both
  ['POST', '/a2a.v1.A2AService/SendMessage', 'SendMessage'],
  ['POST', '/lf.a2a.v1.A2AService/SendStreamingMessage', 'SendStreamingMessage'],
  ['POST', '/a2a.v1.A2AService/GetAgentCard', 'GetExtendedAgentCard'],
  ['POST', '/a2a.v1.A2AService/TaskSubscription', 'SubscribeToTask'],
  ['POST', '/a2a.v1.A2AService/ListTaskPushNotificationConfig', 'ListTaskPushNotificationConfigs'],
  // names that every object inherits
  ['POST', '/a2a.v1.A2AService/constructor', 'constructor'],
  ['POST', '/a2a.v1.A2AService/__proto__', '__proto__'],
  ['POST', `/a2a.v1.A2AService/${'x'.repeat(128)}`, 'x'.repeat(128)],
  ['POST', `/a2a.v1.A2AService/${'x'.repeat(129)}`, 'unknown'],
  ['POST', '/other.Service/SendMessage', undefined],
  // JSON-RPC has one path
  ['POST', '/rpc', undefined],
  ['GET', '/', undefined],
]

test.each(requests)('%s %s is %s', (method, target, expected) => {
  expect(methodOfPath(method, target)?.name).toBe(expected)
})

const CANCEL = '{"jsonrpc":"2.0","id":1,"method":"tasks/cancel","params":{"id":"7"}}'

test.each<[method: string, target: string, body: string, allow: string | undefined, named: string]>([
  ['PUT', '/tasks/7:cancel', '', 'POST', 'unknown'],
  ['PATCH', '/v1/tasks/7:cancel', '', 'POST', 'unknown'],
  ['GET', '/tasks/7:cancel', '', 'POST', 'unknown'],
  ['DELETE', '/tasks/7:subscribe', '', 'GET, POST', 'unknown'],
  ['DELETE', '/tasks/7', '', 'GET', 'unknown'],
  ['PATCH', '/tasks/7/pushNotificationConfigs', '', 'POST, PUT, GET', 'unknown'],
  ['PUT', '/tasks/7/pushNotificationConfigs/1', '', 'GET, DELETE', 'unknown'],
  ['POST', '/extendedAgentCard', '', 'GET', 'unknown'],
  ['PUT', '/a2a.v1.A2AService/CancelTask', '', 'POST', 'unknown'],
  ['GET', '/a2a.v1.A2AService/CancelTask', '', 'POST', 'unknown'],
  ['PUT', '/rpc', CANCEL, 'POST', 'unknown'],
  ['PATCH', '/', CANCEL, 'POST', 'unknown'],
  ['GET', '/rpc', CANCEL, 'POST', 'unknown'],
  ['PURGE', '/rpc', CANCEL, 'POST', 'unknown'],
  // A message of JSON-RPC is a call wherever it is posted.
  ['POST', '/tasks', CANCEL, undefined, 'CancelTask'],
  ['POST', '/tasks/send', CANCEL, undefined, 'CancelTask'],
  ['HEAD', '/tasks/7:cancel', '', undefined, 'unknown'],
  ['OPTIONS', '/tasks/7:cancel', '', undefined, 'unknown'],
  ['OPTIONS', '/rpc', CANCEL, undefined, 'unknown'],
  ['PUT', '/documents/7', '{"method":"card"}', undefined, 'card'],
  ['PUT', '/documents/7', '{"title":"x"}', undefined, 'unknown'],
  ['GET', '/documents/7', '', undefined, 'unknown'],
])('%s %s with %j may have %s', (method, target, body, allow, named) => {
  const call = readA2aCall(Head.request(method, target), wholeBody(Buffer.from(body)))
  expect([call.allow, call.method, call.unreadable]).toEqual([allow, named, undefined])
})

test('a message of JSON-RPC at a path of another binding is unreadable, whatever the method is', () => {
  const call = readA2aCall(Head.request('GET', '/tasks/7'), wholeBody(Buffer.from(CANCEL)))
  expect(call.unreadable).toContain('a JSON-RPC message')
})

function read(body: string | Uint8Array, headers: Record<string, string> = {}, target = '/rpc'): A2aCall {
  const request = Head.request('POST', target)
  for (const [name, value] of Object.entries(headers)) request.set(name, value)
  return readA2aCall(request, wholeBody(Buffer.from(body)))
}

test.each([
  ['{"jsonrpc":"2.0","id":1,"method":"message/send","params":{}}', 'SendMessage'],
  ['{"method":"SendStreamingMessage"}', 'SendStreamingMessage'],
  ['{"method":"tasks/resubscribe"}', 'SubscribeToTask'],
  ['{"method":"tasks/sendSubscribe"}', 'SendStreamingMessage'],
  ['{"method":"x-vendor/ping"}', 'x-vendor/ping'],
  ['{"method":"constructor"}', 'constructor'],
  ['{"method":"message/send","params":{"method":"a","Method":"b","method":"c"}}', 'SendMessage'],
])('%s calls %s', (body, method) => {
  expect(read(body)).toEqual({ method, binding: 'jsonrpc', unreadable: undefined })
  expect(read(body, { 'content-type': 'text/plain' }).method).toBe(method)
})

test.each([['{"method":7}'], ['{"method":""}'], ['{"id":1}'], ['null'], [`{"method":"${'x'.repeat(129)}"}`]])(
  '%s is no call',
  (body) => {
    expect(read(body)).toEqual({ method: 'unknown', binding: undefined, unreadable: undefined })
  },
)

const JSON_TYPE = { 'content-type': 'application/a2a+json; charset=utf-8' }
test.each<[body: string | Uint8Array, headers: Record<string, string>, why: RegExp]>([
  ['{"method":"message/send","Method":"tasks/cancel"}', {}, /ambiguous member "Method"/],
  ['{"method":"tasks/cancel","method":"message/send"}', {}, /ambiguous member "method"/],
  ['[{"method":"message/send"}]', {}, /list/],
  ['{"method":', JSON_TYPE, /not JSON/],
  [Buffer.from('{"method":"message/send"}', 'utf16le'), JSON_TYPE, /not JSON/],
  ['{"method":"message/send"}', { 'content-encoding': 'gzip' }, /compressed/],
  ['hello', JSON_TYPE, /not JSON/],
  // What the SDK for Python reads, whatever the content type is.
  ['{"method":"tasks/cancel","id":NaN}', {}, /not JSON/],
  [' \n[{"method":"tasks/cancel","id":Infinity}]', {}, /not JSON/],
  [Buffer.from('\ufeff{"method":"tasks/cancel"}', 'utf16le'), {}, /not JSON/],
  [Buffer.from('{"method":"tasks/cancel"}', 'utf16le').swap16(), {}, /not JSON/],
  [Buffer.from('{"method":"tasks/cancel","id":"\xff"}', 'latin1'), {}, /not JSON/],
])('%s with %o is unreadable', (body, headers, why) => {
  expect(read(body, headers)).toMatchObject({ method: 'unknown', unreadable: expect.stringMatching(why) })
})

test.each<[body: string | Uint8Array, headers: Record<string, string>]>([
  ['hello', { 'content-type': 'text/plain' }],
  ['--x\r\n\r\n{"method":"tasks/cancel"}', { 'content-type': 'multipart/form-data; boundary=x' }],
  ['', JSON_TYPE],
])('%s is no call, whatever reads it', (body, headers) => {
  for (const target of ['/rpc', '/tasks/1:cancel']) expect(read(body, headers, target).unreadable).toBe(undefined)
})

test.each([
  ['/message:send', 'rest', 'SendMessage', /binding HTTP\+JSON/],
  ['/.well-known/agent-card.json', 'card', 'agent-card', /agent card/],
  ['/a2a.v1.A2AService/GetTask', 'grpc', 'GetTask', /binding gRPC/],
] as const)('a JSON-RPC message at %s is unreadable', (target, binding, method, why) => {
  expect(read('{"message":{}}', {}, target)).toEqual({ method, binding, unreadable: undefined })
  const bodies = [
    '{"method":"tasks/cancel"}',
    '{"method":"x","method":"tasks/cancel"}',
    '{"Method":"tasks/cancel"}',
    '[{"method":"tasks/cancel"}]',
  ]
  for (const body of bodies) {
    const unreadable = expect.stringMatching(why)
    expect(read(body, {}, target)).toEqual({ method: 'unknown', binding, unreadable })
  }
})

test('a body that could be JSON-RPC is unreadable at paths of other bindings, too', () => {
  for (const target of ['/message:send', '/.well-known/agent-card.json', '/a2a.v1.A2AService/GetTask']) {
    const { method } = read('', {}, target)
    for (const [body, headers] of [
      ['x', { 'content-encoding': 'gzip' }],
      ['{"method":"tasks/cancel","id":NaN}', {}],
    ] as const) {
      expect(read(body, headers, target)).toMatchObject({ method, unreadable: expect.any(String) })
    }
  }
})

test('messages of gRPC of any length are no JSON', () => {
  for (const length of [0, 0x5b, 0x7b, 0x207b, 0x7b00]) {
    const message = Buffer.alloc(5 + length)
    message.writeUInt32BE(length, 1)
    expect(read(message, { 'content-type': 'application/grpc' }, '/a2a.v1.A2AService/GetTask')).toEqual({
      method: 'GetTask',
      binding: 'grpc',
      unreadable: undefined,
    })
  }
})

test.each([
  ['{"jsonrpc":"2.0","method":"tasks/get","params":{"x', 'GetTask'],
  ['{"params":{"a":[1,{}]},"method":"SendMessage"', 'SendMessage'],
  ['{"params":{"method":"SendMessage', 'unknown'],
  ['{"Method":"SendMessage","par', 'SendMessage'],
  ['[{"method":"SendMessage"', 'unknown'],
  ['{"method":"\\u12","params":{"', 'unknown'],
])('the beginning %s calls %s', (start, method) => {
  const request = Head.request('POST', '/rpc')
  expect(readA2aCall(request, largeBody(Buffer.from(start))).method).toBe(method)
})

test('a body that is too large, or was not read', () => {
  const request = Head.request('POST', '/rpc')
  expect(readA2aCall(request, LARGE_BODY).unreadable).toMatch(/too large/)
  expect(readA2aCall(request, UNREAD_BODY).unreadable).toBe(undefined)
})
