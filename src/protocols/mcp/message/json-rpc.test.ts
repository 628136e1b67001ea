import { expect, test } from 'vitest'
import { errorText, idKey, parseMessage, type RequestMessage } from './json-rpc.ts'

const nested = (depth: number) =>
  `{"jsonrpc":"2.0","method":"notifications/x","params":{"]":"}","a":${'[{"a":'.repeat(depth / 2)}1.0${'}]'.repeat(depth / 2)}}}`

const kinds: [text: string, expected: string][] = [
  [nested(998), 'notification'],
  [nested(1000), 'too-deep'],
  [nested(100_000), 'too-deep'],
  ['{"jsonrpc":"2.0","id":1,"method":"ping"}', 'request'],
  ['{"jsonrpc":"2.0","id":"a","method":"ping","params":{}}', 'request'],
  ['{"jsonrpc":"2.0","id":12345678901234567890,"method":"ping"}', 'request'],
  ['{"jsonrpc":"2.0","method":"notifications/initialized"}', 'notification'],
  ['{"jsonrpc":"2.0","id":1,"result":{}}', 'response'],
  ['{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"x"}}', 'response'],
  ['{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"x"}}', 'response'],
  ['{"jsonrpc":"2.0","error":{"code":-1,"message":"x"}}', 'response'],
  ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', 'batch'],
  ['[]', 'batch'],
  ['', 'not-json'],
  ['{"jsonrpc":"2.0"', 'not-json'],
  ['1', 'not-a-message'],
  ['{}', 'not-a-message'],
  ['{"jsonrpc":"1.0","id":1,"method":"ping"}', 'not-a-message'],
  ['{"jsonrpc":"2.0","id":1}', 'not-a-message'],
  ['{"jsonrpc":"2.0","id":null,"method":"ping"}', 'not-a-message'],
  ['{"jsonrpc":"2.0","id":{},"method":"ping"}', 'not-a-message'],
  ['{"jsonrpc":"2.0","id":1,"method":7}', 'not-a-message'],
  ['{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}', 'not-a-message'],
  ['{"jsonrpc":"2.0","method":"notifications/x","error":{"code":-1,"message":"x"}}', 'not-a-message'],
  ['{"jsonrpc":"2.0","method":"tools/call","params":{"name":"x"}}', 'no-id'],
  ['{"jsonrpc":"2.0","method":"Notifications/x"}', 'no-id'],
  ['{"jsonrpc":"2.0","method":"notifications"}', 'no-id'],
  ['{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', 'not-a-message'],
  ['{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}', 'not-a-message'],
  ['{"jsonrpc":"2.0","id":null,"result":{}}', 'not-a-message'],
  ['{"jsonrpc":"2.0","id":1,"error":{"code":"1","message":""}}', 'not-a-message'],
]

test.each(kinds.map(([text, expected]) => [text.slice(0, 99), expected, text]))('%s is %s', (_, expected, text) => {
  const message = parseMessage(text!)
  expect(message.kind === 'unreadable' ? message.problem : message.kind).toBe(expected)
})

const call = (rest: string) => `{"jsonrpc":"2.0","id":7,"method":"tools/call",${rest}}`
const ambiguous: [text: string, member: string, id: number | null][] = [
  ['{"jsonrpc":"2.0","id":7,"method":"tools/list","Method":"tools/call","params":{"name":"x"}}', 'Method', null],
  ['{"jsonrpc":"2.0","id":7,"method":"tools/call","method":"tools/list"}', 'method', null],
  ['{"jsonrpc":"2.0","id":7,"ID":8,"method":"ping"}', 'ID', null],
  ['{"jsonrpc":"2.0","id":7,"\u0130d":8,"method":"ping"}', '\u0130d', null],
  ['{"jsonrpc":"2.0","id":7,"id":8,"result":{}}', 'id', null],
  ['{"jsonrpc":"2.0","id":7,"result":{},"Result":{}}', 'Result', null],
  [call('"params":{"name":"allowed"},"param\u017f":{"name":"forbidden"}'), 'param\u017f', null],
  [call('"params":{"name":"allowed","Name":"forbidden"}'), 'Name', 7],
  [call('"params":{"name":"allowed","name":"forbidden"}'), 'name', 7],
  [call('"params":{"name":"allowed","na\\u006de":"forbidden"}'), 'name', 7],
  [call('"params":{"name":"x","Arguments":{}}'), 'Arguments', 7],
  [call('"params":{"name":"x","_meta":{"progressToken":1,"ProgressTo\u212aen":2}}'), 'ProgressTo\u212aen', 7],
  ['{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"URI":"a:b"}}', 'URI', 7],
  ['{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"cursor":"a","Cursor":"b"}}', 'Cursor', 7],
  [
    '{"jsonrpc":"2.0","id":7,"method":"completion/complete","params":{"ref":{"type":"t","name":"a","name":"b"}}}',
    'name',
    7,
  ],
  ['{"jsonrpc":"2.0","id":7,"method":"completion/complete","params":{"ref":{"type":"t","Uri":"a"}}}', 'Uri', 7],
  ['{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"requestID":2}}', 'requestID', null],
  ['{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:b","Uri":"c:d"}}', 'Uri', null],
]

test.each(ambiguous)('%s is ambiguous', (text, member, id) => {
  const detail = `ambiguous member "${member}"`
  expect(parseMessage(text)).toEqual({ kind: 'unreadable', problem: 'ambiguous', detail, id })
})

const MEMBERS_READ: readonly (readonly [method: string, ...members: string[]])[] = [
  ['initialize', 'protocolVersion', 'capabilities', 'capabilities.tasks'],
  ['tools/list', 'cursor'],
  ['prompts/list', 'cursor'],
  ['resources/list', 'cursor'],
  ['resources/templates/list', 'cursor'],
  ['tools/call', 'name', 'arguments'],
  ['prompts/get', 'name', 'arguments'],
  ['resources/read', 'uri'],
  ['resources/subscribe', 'uri'],
  ['resources/unsubscribe', 'uri'],
  ['completion/complete', 'ref', 'ref.type', 'ref.name', 'ref.uri'],
  ['notifications/cancelled', 'requestId'],
  ['notifications/progress', 'progressToken'],
  ['notifications/resources/updated', 'uri'],
  ['x/own', '_meta', '_meta.progressToken'],
]

test.each(MEMBERS_READ)('what is read of the params of %s has one reading', (method, ...members) => {
  for (const path of members) {
    const names = path.split('.')
    const last = names.at(-1)!.toUpperCase()
    const inner = names.slice(0, -1).reduceRight((value, name) => `{"${name}":${value}}`, `{"${last}":1}`)
    const message = parseMessage(`{"jsonrpc":"2.0","id":7,"method":"${method}","params":${inner}}`)
    expect(message).toMatchObject({ problem: 'ambiguous', detail: `ambiguous member "${last}"` })
  }
})

test.each(['jsonrpc', 'id', 'method', 'params', 'result', 'error'])('%s of a message has one reading', (name) => {
  const message = parseMessage(`{"jsonrpc":"2.0","id":7,"method":"ping","${name.toUpperCase()}":1}`)
  expect(message).toMatchObject({ problem: 'ambiguous', detail: `ambiguous member "${name.toUpperCase()}"` })
})

test.each([
  call('"params":{"name":"x","arguments":{"name":1,"Name":2,"name":3,"method":4,"Method":5}}'),
  call('"params":{"name":"x","task":{"ttl":1,"TTL":2}}'),
  '{"jsonrpc":"2.0","method":"notifications/x","params":{"Name":"a","URI":"b"}}',
  '{"jsonrpc":"2.0","id":7,"result":{"a":1,"a":2,"A":3}}',
])('%s has one reading', (text) => expect(parseMessage(text)).not.toHaveProperty('problem'))

test('ids of different types are different', () => {
  expect(new Set([idKey(1), idKey('1'), idKey('a')]).size).toBe(3)
})

test.each([
  ['1.0', '1'],
  ['1e3', '1000'],
  ['-0', '0'],
  ['9007199254740993', '9007199254740993'],
  ['1.5', '1.5'],
])('the id %s may be answered as %s', (id, written) => {
  const message = parseMessage(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`) as RequestMessage
  expect(idKey(message.id)).toBe(written)
})

test('an error names its request, or none', () => {
  expect(errorText(null, -32600, 'x')).toBe('{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"x"}}')
})
