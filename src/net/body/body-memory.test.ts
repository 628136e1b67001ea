import { expect, test } from 'vitest'
import { BodyClaim, BodyMemory } from './body-memory.ts'

test('requests share a memory; what one gives back another takes', () => {
  const memory = new BodyMemory(10)
  const [one, other] = [new BodyClaim(memory), new BodyClaim(memory)]
  expect([one.take(6), other.take(5), other.take(4), one.take(1)]).toEqual([true, false, true, false])
  expect(memory.heldBytes).toBe(10)
  one.give(2)
  expect([other.take(3), other.take(2), memory.heldBytes]).toEqual([false, true, 10])
  one.release()
  expect([memory.heldBytes, other.take(4)]).toEqual([6, true])
})

test('what is on its way already may be too much', () => {
  const memory = new BodyMemory(10)
  const claim = new BodyClaim(memory)
  claim.takeAnyway(12)
  expect([memory.heldBytes, claim.take(0), claim.take(1)]).toEqual([12, false, false])
  claim.release()
  expect(memory.heldBytes).toBe(0)
})

test.each<[what: string, late: (claim: BodyClaim) => void]>([
  ['released again', (claim) => claim.release()],
  ['given back late', (claim) => claim.give(4)],
  ['taken late', (claim) => claim.take(4)],
  ['taken late, room or not', (claim) => claim.takeAnyway(4)],
])('at the end everything is given back, once: %s', (_, late) => {
  const memory = new BodyMemory(10)
  const [claim, other] = [new BodyClaim(memory), new BodyClaim(memory)]
  claim.take(4)
  other.take(5)
  claim.release()
  late(claim)
  expect(memory.heldBytes).toBe(5)
})
