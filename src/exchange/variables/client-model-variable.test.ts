import { expect, test } from 'vitest'
import { readClientModel } from './client-model-variable.ts'

const read = (text: string) => readClientModel(new TextEncoder().encode(text))

test.each([
  ['{"model":"gpt-5"}', 'gpt-5'],
  [' { "messages" : [{"model":"inner"}], "model" : "gpt-5" }\n', 'gpt-5'],
  ['{"mod\\u0065l":"g\\u0070t"}', 'gpt'],
  ['{"\\u006d\\u006f\\u0064\\u0065\\u006c":"gpt"}', 'gpt'],
  ['{"model":"grün"}', 'grün'],
  ['{"model":""}', ''],
  ['{"stream":true,"stream":false,"model":"m"}', 'm'],
  ['{"models":["a"],"model":"m"}', 'm'],
  [`{"${'long'.repeat(20)}":1,"model":"m"}`, 'm'],
])('%s names %s', (text, model) => {
  expect(read(text)).toBe(model)
})

test.each([
  ['nothing', ''],
  ['no object', '["model"]'],
  ['no member', '{"messages":[]}'],
  ['an empty object', '{}'],
  ['another type', '{"model":["gpt-5"]}'],
  ['null', '{"model":null}'],
  ['a second one', '{"model":"a","model":"b"}'],
  ['the same twice', '{"model":"a","model":"a"}'],
  ['a second one with an escape', '{"model":"a","m\\u006fdel":"b"}'],
  ['a second one that is no text', '{"model":"a","model":1}'],
  ['a second one in other letter case', '{"model":"a","Model":"b"}'],
  ['a first one in other letter case', '{"MODEL":"b","model":"a"}'],
  ['only one in other letter case', '{"Model":"a"}'],
  ['text after the object', '{"model":"a"}{"model":"b"}'],
  ['an object that does not end', '{"model":"a"'],
  ['a fault behind it', '{"model":"a","messages":[1,]}'],
  ['a byte order mark', '\ufeff{"model":"a"}'],
])('%s: no model', (_, text) => {
  expect(read(text)).toBeUndefined()
})

test('a name that is not UTF-8 is none', () => {
  expect(readClientModel(Buffer.from('{"model":"\xff"}', 'latin1'))).toBeUndefined()
})
