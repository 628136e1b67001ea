import { expect, test } from 'vitest'
import { parseExactJson } from '#base/exact-json.ts'
import { errorText, idKey, parseMessage } from './json-rpc.ts'

const kinds: [text: string, expected: string][] = [
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
  ['{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', 'not-a-message'],
  ['{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}', 'not-a-message'],
  ['{"jsonrpc":"2.0","id":null,"result":{}}', 'not-a-message'],
  ['{"jsonrpc":"2.0","id":1,"error":{"code":"1","message":""}}', 'not-a-message'],
]

test.each(kinds)('%s is %s', (text, expected) => {
  const message = parseMessage(text)
  expect(typeof message === 'string' ? message : message.kind).toBe(expected)
})

test.each(['9007199254740993', '[0.12345678901234567890]', '{"a":-18446744073709551615}', '[1e400000000000000000]'])(
  '%s keeps its numbers',
  (text) => expect(JSON.stringify(parseExactJson(text))).toBe(text),
)

test('numbers that a double holds are plain numbers', () => {
  expect(parseExactJson('[1234567890123456, 12, "12345678901234567890"]')).toEqual([
    1234567890123456,
    12,
    '12345678901234567890',
  ])
})

test('ids of different types are different', () => {
  expect(new Set([idKey(1), idKey('1'), idKey('a')]).size).toBe(3)
})

test('an error names its request, or none', () => {
  expect(errorText(null, -32600, 'x')).toBe('{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"x"}}')
})
