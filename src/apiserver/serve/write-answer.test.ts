import { expect, test } from 'vitest'
import { runAtOnce } from '#base/in-slices.ts'
import { jsonOf } from './write-answer.ts'

const MEMBERS = Array.from({ length: 1234 }, (_, at) => ({ metadata: { name: `object-${at}`, labels: undefined } }))

test.each<[string, object]>([
  ['an object', { kind: 'ConfigMap', metadata: { name: 'a' }, data: { a: '1' } }],
  ['an empty list', { kind: 'ConfigMapList', metadata: {}, items: [] }],
  ['a short list', { kind: 'ConfigMapList', metadata: {}, items: MEMBERS.slice(0, 3) }],
  ['a long list', { kind: 'ConfigMapList', metadata: { resourceVersion: '7' }, items: MEMBERS }],
  ['a long table', { kind: 'Table', columnDefinitions: [{ name: 'Name' }], rows: MEMBERS }],
  ['a long list that is no list of objects', { kind: 'Odd', values: Array.from({ length: 50 }, () => undefined) }],
  ['an object without members', {}],
])('the JSON of %s', (_, body) => {
  expect(runAtOnce(jsonOf(body))).toBe(JSON.stringify(body))
})

test('a long list is written in many steps', () => {
  expect(jsonOf({ items: MEMBERS }).toArray().length).toBeGreaterThan(10)
})
