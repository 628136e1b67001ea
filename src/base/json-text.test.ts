import { expect, test } from 'vitest'
import { walkElements, walkMembers } from './json-text.ts'
import { skipValue } from './skip-json.ts'

const members: [text: string, found: [key: string, value: string][] | undefined][] = [
  ['{}', []],
  ['{ }', []],
  ['{"a":1}', [['a', '1']]],
  [
    '{"a" : [1, {"b": "]}"}] , "a":{"c":"\\""} }',
    [
      ['a', '[1, {"b": "]}"}]'],
      ['a', '{"c":"\\""}'],
    ],
  ],
  [
    '{"\\u0061":"\\\\","":true}',
    [
      ['a', '"\\\\"'],
      ['', 'true'],
    ],
  ],
  ['{"\\q":1}', [['\\q', '1']]],
  ['{"a":1', undefined],
  ['{"a":}', undefined],
  ['{"a" 1}', undefined],
  ['{"a"12}', undefined],
  ['{"a":1 "b":2}', undefined],
  [
    '{\t"a"\r:\n1\r,\t"b"\n: 2\r}',
    [
      ['a', '1'],
      ['b', '2'],
    ],
  ],
  ['{"a":1,}', undefined],
  ['{"a":"x}', undefined],
  ['{"a":[1}', undefined],
  ['{a:1}', undefined],
  ['x"a":1}', undefined],
  ['[1]', undefined],
  ['', undefined],
]

test.each(members)('members of %s', (text, expected) => {
  const found: [string, string][] = []
  const end = walkMembers(text, 0, (key, start) => {
    const end = skipValue(text, start)
    if (end >= 0) found.push([key, text.slice(start, end)])
    return end
  })
  if (expected !== undefined) expect(found).toEqual(expected)
  expect(end).toBe(expected === undefined ? -1 : text.length)
})

test.each<[string, string[] | undefined]>([
  ['[]', []],
  ['[1 , {"a":[2]},"]"]', ['1', '{"a":[2]}', '"]"']],
  ['[1,]', undefined],
  ['[1 2]', undefined],
  ['[\r1\t,\n2\r]', ['1', '2']],
  ['[1', undefined],
  ['{}', undefined],
])('elements of %s', (text, expected) => {
  const found: string[] = []
  const end = walkElements(text, 0, (start) => {
    const end = skipValue(text, start)
    if (end >= 0) found.push(text.slice(start, end))
    return end
  })
  if (expected !== undefined) expect(found).toEqual(expected)
  expect(end).toBe(expected === undefined ? -1 : text.length)
})
