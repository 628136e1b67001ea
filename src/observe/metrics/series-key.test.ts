import { expect, test } from 'vitest'
import { seriesKey, valuesKey } from './series-key.ts'

test.each([
  [['a', 'b'], ['ab']],
  [
    ['a\nb', 'c'],
    ['a', 'b\nc'],
  ],
  [
    ['', 'a'],
    ['a', ''],
  ],
  [['1:a'], ['', '1:a']],
  [['2:ab'], ['ab', '']],
  [[], ['']],
])('the lists %j and %j have different keys', (one, other) => {
  expect(valuesKey(one)).not.toBe(valuesKey(other))
  expect(valuesKey(one)).toBe(valuesKey([...one]))
})

test.each([
  ['metric', { metric: 'calls', values: ['a'], customNames: [] }],
  ['value', { metric: 'requests', values: ['b'], customNames: [] }],
  ['name instead of a value', { metric: 'requests', values: [], customNames: ['a'] }],
] as const)('another %s: another series', (_, other) => {
  expect(seriesKey(other)).not.toBe(seriesKey({ metric: 'requests', values: ['a'], customNames: [] }))
})
