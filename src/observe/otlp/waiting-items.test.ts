import fc from 'fast-check'
import { expect, test } from 'vitest'
import { WaitingItems } from './waiting-items.ts'

/** One byte with this number. */
const item = (number: number) => Uint8Array.of(number)

test('items keep their order, whatever is added, taken, put back and dropped', () => {
  const steps = fc.array(
    fc.tuple(fc.constantFrom('push', 'take', 'drop'), fc.integer({ min: 0, max: 9 }), fc.boolean()),
  )
  fc.assert(
    fc.property(steps, (list) => {
      const items = new WaitingItems()
      let expected: number[] = []
      let next = 0
      for (const [what, count, returns] of list) {
        if (what === 'push') {
          for (let i = 0; i < count; i++, next = (next + 1) % 256) {
            items.push(item(next))
            expected.push(next)
          }
        } else if (what === 'drop' && items.length > 0) {
          items.drop()
          expected = expected.slice(1)
        } else if (what === 'take') {
          const taken = items.take(count)
          expect(taken.map(([number]) => number)).toEqual(expected.slice(0, count))
          if (returns) items.putBack(taken)
          else expected = expected.slice(count)
        }
        expect([items.length, items.bytes]).toEqual([expected.length, expected.length])
      }
      expect(items.take(1_000_000).map(([number]) => number)).toEqual(expected)
    }),
  )
})

test('as many are taken as the size allows', () => {
  const items = new WaitingItems()
  for (const bytes of [3, 4, 5]) items.push(new Uint8Array(bytes))
  expect([items.take(8).length, items.bytes, items.take(4).length, items.take(5).length]).toEqual([2, 5, 0, 1])
})
