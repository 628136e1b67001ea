import { expect, test } from 'vitest'
import { escapeName } from './type-of-schema.ts'

test.each([
  ['size', 'size'],
  ['in', '__in__'],
  ['a.b-c/d e', 'a__dot__b__dash__c__slash__d__space__e'],
  ['a__b', 'a__underscores__b'],
  ['1a', undefined],
  ['a$', undefined],
  ['', undefined],
])('expressions call the member %j %j', (name, escaped) => {
  expect(escapeName(name)).toBe(escaped)
})
