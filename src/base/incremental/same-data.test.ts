import { expect, test } from 'vitest'
import { sameData } from './same-data.ts'

const OWN_PROTOTYPE = JSON.parse('{"__proto__": {}}') as unknown

test.each([
  ['equal members in another order', { a: 1, b: [1, { c: null }] }, { b: [1, { c: null }], a: 1 }, true],
  ['undefined counts as absent', { a: undefined }, {}, true],
  ['undefined counts as absent, the other way', {}, { a: undefined }, true],
  ['null is a value', { a: null }, {}, false],
  ['lists and objects differ', [], {}, false],
  ['items in another order', [1, 2], [2, 1], false],
  ['one more member', { a: 1 }, { a: 1, b: 2 }, false],
  ['a member named like an inherited one', {}, { constructor: 'x' }, false],
  ['the same, the other way', { constructor: 'x' }, {}, false],
  ['a member named __proto__', {}, OWN_PROTOTYPE, false],
  ['the same, the other way', OWN_PROTOTYPE, {}, false],
])('%s', (_, one, other, same) => {
  expect(sameData(one, other)).toBe(same)
})
