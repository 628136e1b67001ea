import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MemberReader, wantedMembers } from './member-reader.ts'

const WANTED = wantedMembers([
  ...['type', 'usage', 'response.id', 'response.usage', 'response.deep.model', 'list[].a', 'list[].in.b'],
])

function read(text: string, cuts: readonly number[] = []): Record<string, unknown> {
  const found: Record<string, unknown> = {}
  const reader = new MemberReader(WANTED, (path, value) => {
    found[path] = path.startsWith('list') ? [...((found[path] as unknown[]) ?? []), value] : value
  })
  const bytes = Buffer.from(text)
  let at = 0
  for (const size of [...cuts, bytes.length]) {
    reader.push(bytes.subarray(at, at + size))
    at += size
  }
  return found
}

test.each<[text: string, found: Record<string, unknown>]>([
  [
    '{"type":"a","response":{"id":"r","output":[{"id":"no"}],"usage":{"n":1}}}',
    { type: 'a', 'response.id': 'r', 'response.usage': { n: 1 } },
  ],
  [
    '{"response" : { "usage" : null , "id":"r" } , "usage":2}',
    { 'response.usage': null, 'response.id': 'r', usage: 2 },
  ],
  ['{"response":{},"usage":2}', { usage: 2 }],
  [
    '{"response":{"deep":{"model":"m","id":"no"},"id":"r"},"type":1}',
    { 'response.deep.model': 'm', 'response.id': 'r', type: 1 },
  ],
  [
    '{"list":[{"a":1},{"x":[{"a":0}],"a":2,"in":{"b":3,"a":0}}],"usage":4}',
    { 'list[].a': [1, 2], 'list[].in.b': [3], usage: 4 },
  ],
  ['{"list" : [ 1, "a", null, {} , { "a" : "x" } ] , "type" : 1}', { 'list[].a': ['x'], type: 1 }],
  // Only objects that are elements of the list itself are entered.
  ['{"list":[[{"a":1}],{"a":2}],"usage":3}', { 'list[].a': [2], usage: 3 }],
  ['{"list":{"x":{"a":1},"a":2},"usage":3}', { usage: 3 }],
  ['{"list":[],"x":[{"a":1}],"usage":3}', { usage: 3 }],
  ['{"list":[{"a":1}],"other":{"a":2},"type":3}', { 'list[].a': [1], type: 3 }],
  // Only an object that is the value itself is entered.
  ['{"response":[{"id":"no"}],"id":"no","usage":1}', { usage: 1 }],
  ['{"response":"{\\"id\\":1}","x":{"id":"no"}}', {}],
  ['{"other":{"response":{"id":"no"}},"usage":3}', { usage: 3 }],
])('%s', (text, found) => {
  expect(read(text)).toEqual(found)
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 100 }), (cuts) => {
      expect(read(text, cuts)).toEqual(found)
    }),
  )
})
