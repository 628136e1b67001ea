import { expect, test } from 'vitest'
import { DecisionIds } from './decision-ids.ts'

const COUNT = 20_000

function idsUpTo(count: number, ids = new DecisionIds()): string[] {
  return Array.from({ length: count }, () => ids.idOf(ids.next()))
}

test('an id is 16 hexadecimal digits, the same whenever it is asked for', () => {
  const ids = new DecisionIds()
  for (const number of [1, 2, 2 ** 32, 2 ** 52]) {
    expect(ids.idOf(number)).toMatch(/^[0-9a-f]{16}$/)
    expect(ids.idOf(number)).toBe(ids.idOf(number))
  }
})

test('no two are alike, in one worker and in several', () => {
  const all = [...idsUpTo(COUNT), ...idsUpTo(COUNT)]
  expect(new Set(all).size).toBe(2 * COUNT)
  const ids = new DecisionIds()
  expect(ids.idOf(7)).not.toBe(ids.idOf(7 + 2 ** 32))
})

test('ids of successive decisions differ in half of their bits, and every bit varies', () => {
  const bits = idsUpTo(COUNT).map((id) => BigInt(`0x${id}`))
  const flips = Array<number>(64).fill(0)
  for (const [i, id] of bits.slice(1).entries()) {
    const changed = id ^ bits[i]!
    for (let bit = 0; bit < 64; bit++) if ((changed >> BigInt(bit)) & 1n) flips[bit]!++
  }
  // Ten standard deviations of a fair coin.
  for (const count of flips) expect(Math.abs(count - COUNT / 2)).toBeLessThan(5 * Math.sqrt(COUNT))
})

test('a later decision has the larger id as often as not', () => {
  const ids = idsUpTo(COUNT)
  const rising = ids.slice(1).filter((id, i) => id > ids[i]!).length
  expect(Math.abs(rising - COUNT / 2)).toBeLessThan(5 * Math.sqrt(COUNT))
})
