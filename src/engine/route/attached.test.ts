import fc from 'fast-check'
import { expect, test } from 'vitest'
import { difference } from './attached.ts'

test('removed and added members, in any order of the others', () => {
  const lists = fc.shuffledSubarray([1, 2, 3, 4, 5, 6])
  fc.assert(
    fc.property(lists, lists, (before, after) => {
      const { removed, added } = difference(before, after)
      expect(new Set(removed)).toEqual(new Set(before).difference(new Set(after)))
      expect(new Set(added)).toEqual(new Set(after).difference(new Set(before)))
    }),
  )
})
