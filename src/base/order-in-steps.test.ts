import { expect, test } from 'vitest'
import { Pace, runAtOnce } from './in-slices.ts'
import { orderInSteps } from './order-in-steps.ts'

const placed = (starts: readonly number[]) => starts.map((start, index) => ({ start, index }))
const order = (starts: readonly number[]) => runAtOnce(orderInSteps(placed(starts), new Pace()))

test.each<readonly [what: string, starts: readonly number[]]>([
  ['none', []],
  ['one', [3]],
  ['two', [2, 1]],
  ['descending', [5, 4, 3, 2, 1]],
  ['two lists, one after the other', [1, 3, 5, 7, 2, 4, 6]],
  ['three runs', [4, 5, 1, 2, 0, 9]],
  ['the same position several times', [2, 1, 2, 1, 1, 2, 0, 2]],
])('%s: by position, equal ones as they were', (_, starts) => {
  expect(order(starts)).toEqual(placed(starts).toSorted((one, other) => one.start - other.start))
})

test.each<readonly [starts: readonly number[]]>([[[]], [[1]], [[1, 1, 2, 8]]])('%j is not copied', (starts) => {
  const items = placed(starts)
  expect(runAtOnce(orderInSteps(items, new Pace()))).toBe(items)
})

test('no step looks at many items', () => {
  let looks = 0
  const items = Array.from({ length: 30_000 }, (_, index) => ({
    get start() {
      looks++
      return (index * 7919) % 30_011
    },
  }))
  const steps = orderInSteps(items, new Pace())
  let most = 0
  for (let before = 0; steps.next().done !== true; before = looks) most = Math.max(most, looks - before)
  expect(looks).toBeGreaterThan(300_000)
  // A comparison looks at two items, and one is the work of a character.
  expect(most).toBeLessThanOrEqual(2 * 16_384)
})
