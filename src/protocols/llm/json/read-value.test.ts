import { expect, test } from 'vitest'
import { parseExactJson } from '#base/exact-json.ts'
import { countAt, isJson, objectAt } from './read-value.ts'

test.each<[json: string, count: number | undefined]>([
  ['0', 0],
  ['12', 12],
  ['12.0', 12],
  ['1e3', 1000],
  ['1000000000000', 1e12],
  ['1000000000001', undefined],
  ['1e400', undefined],
  ['-1', undefined],
  ['-0.5', undefined],
  ['1.5', undefined],
  ['"12"', undefined],
  ['"NaN"', undefined],
  ['[12]', undefined],
  ['{"rawJSON":"12"}', undefined],
  ['null', undefined],
  ['true', undefined],
])('the count %s is %s', (json, count) => {
  expect(countAt(parseExactJson(`{"n":${json}}`), 'n')).toBe(count)
})

test('a member that is an object, and others', () => {
  const object = { a: 1 }
  expect(objectAt({ n: object }, 'n')).toBe(object)
  for (const n of ['text', 1, null, undefined, true]) expect(objectAt({ n }, 'n')).toBeUndefined()
  expect(objectAt(null, 'n')).toBeUndefined()
})

test('JSON is what the runtime reads', () => {
  for (const text of ['1', 'null', '{"a":1,"a":2}', ' [] ']) expect(isJson(text)).toBe(true)
  for (const text of ['', '{', '01', "'a'"]) expect(isJson(text)).toBe(false)
})
