import { expect, test } from 'vitest'
import { foldCase, isCaseVariant } from './fold-case.ts'
import { EXACT_NAMES, findAmbiguousMember, shapeOf } from './json-ambiguity.ts'

const ref = shapeOf({ name: undefined, kind: undefined })
const shape = shapeOf({ method: undefined, params: shapeOf({ ref, items: ref }) })

const ambiguous: [text: string, key: string, depth: number][] = [
  ['{"method":"a","method":"b"}', 'method', 1],
  ['{"method":"a","\\u006dethod":"b"}', 'method', 1],
  ['{"method":"a","Method":"b"}', 'Method', 1],
  [' \r\n\t{"method":"a","Method":"b"}', 'Method', 1],
  ['{"METHOD":"b"}', 'METHOD', 1],
  ['{"other":1,"other":2}', 'other', 1],
  ['{"param\u017f":{}}', 'param\u017f', 1],
  ['{"param\\u017f":{}}', 'param\u017f', 1],
  ['{"params":{"ref":{"\u212aind":1}}}', '\u212aind', 3],
  ['{"params":{"ref":{"k\u0131nd":1}}}', 'k\u0131nd', 3],
  ['{"params":{"ref":{"k\u0130nd":1}}}', 'k\u0130nd', 3],
  ['{"params":{"Ref":{}}}', 'Ref', 2],
  ['{"params":{"items":[{"name":1},[{"Name":2}]]}}', 'Name', 3],
  ['{"x":{"Name":1},"params":{},"params":[]}', 'params', 1],
]

test.each(ambiguous)('%s has two readings', (text, key, depth) => {
  expect(findAmbiguousMember(text, shape)).toEqual({ key, depth })
})

test.each([
  '{"method":"a","params":{"ref":{"name":1,"kind":2},"arguments":{"name":1,"Name":2,"name":3}}}',
  '{"methods":1,"m":{"a":1,"a":2},"Other":1,"other":2}',
  '{"params":"{\\"Ref\\":1}","x":"\\",\\"method\\":1"}',
  '{"params":{"items":[1,"name",[]]}}',
  '[]',
  '"method"',
])('%s has one', (text) => {
  expect(findAmbiguousMember(text, shape)).toBeUndefined()
})

test('with exact names only duplicates count, at any depth', () => {
  expect(findAmbiguousMember('{"a":{"Sub":1,"sub":2}}', EXACT_NAMES)).toBeUndefined()
  expect(findAmbiguousMember('{"a":[{"b":[[{"sub":1,"sub":2}]]}]}', EXACT_NAMES)).toEqual({ key: 'sub', depth: 3 })
})

test('an object with many members', () => {
  const members = Array.from({ length: 12 }, (_, at) => `"m${at}":${at}`)
  expect(findAmbiguousMember(`{${members.join()}}`, EXACT_NAMES)).toBeUndefined()
  const key = 'm11'
  expect(findAmbiguousMember(`{${members.join()},"${key}":0}`, EXACT_NAMES)).toEqual({ key, depth: 1 })
})

test('nesting is walked once', () => {
  const depth = 800
  const text = `${'{"a":'.repeat(depth)}"${'x'.repeat(100_000)}"${'}'.repeat(depth)}`
  const read: string[] = []
  const counted = new Proxy(new String(text), {
    get: (target, name) => {
      if (name === 'indexOf') read.push('string')
      const member: unknown = Reflect.get(target, name)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
  expect(findAmbiguousMember(counted as unknown as string, EXACT_NAMES)).toBeUndefined()
  expect(read.length).toBeLessThan(3 * depth)
})

test.each([
  ['model', 'model'],
  ['Model', 'model'],
  ['topK', 'topk'],
  ['\u017ftream', 'stream'],
  ['to\u212aens', 'tokens'],
  ['\u0130d', 'id'],
  ['\u0131d', 'id'],
])('%s folds to %s', (name, folded) => expect(foldCase(name)).toBe(folded))

test('a name that is longer in another case is no variant', () => {
  expect(isCaseVariant('me\u00dfage', 'message')).toBe(false)
})

test('a name is no variant of itself', () => {
  expect([isCaseVariant('uri', 'uri'), isCaseVariant('URI', 'uri'), isCaseVariant('urI', 'uriTemplate')]).toEqual([
    false,
    true,
    false,
  ])
})
