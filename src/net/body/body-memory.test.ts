import { expect, test } from 'vitest'
import { BodyClaim, BodyMemory } from './body-memory.ts'

test('requests share memory: another request can take what one releases', () => {
  const memory = new BodyMemory(10)
  const [one, other] = [new BodyClaim(memory), new BodyClaim(memory)]
  expect([one.take(6), other.take(5), other.take(4), one.take(1)]).toEqual([true, false, true, false])
  expect(memory.heldBytes).toBe(10)
  one.give(2)
  expect([other.take(3), other.take(2), memory.heldBytes]).toEqual([false, true, 10])
  one.release()
  expect([memory.heldBytes, other.take(4)]).toEqual([6, true])
})

test('bytes that have already arrived may exceed the memory', () => {
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
])('at the end everything is released, once: %s', (_, late) => {
  const memory = new BodyMemory(10)
  const [claim, other] = [new BodyClaim(memory), new BodyClaim(memory)]
  claim.take(4)
  other.take(5)
  claim.release()
  late(claim)
  expect(memory.heldBytes).toBe(5)
})

/** A memory of 10 bytes with a clock, and bodies that record when they give way. */
function crowded() {
  let nowMs = 0
  const gone: string[] = []
  const memory = new BodyMemory(10, () => nowMs)
  const coming = (name: string, bytes: number) => {
    const claim = new BodyClaim(memory)
    const body = {
      giveWay: () => {
        gone.push(name)
        claim.give(bytes)
      },
    }
    claim.expect(body)
    claim.take(bytes)
    return { claim, body }
  }
  return { memory, gone, coming, pass: (ms: number) => (nowMs += ms) }
}

test('the body that has taken longest gives way, possibly the one that asks', () => {
  const { gone, coming, pass } = crowded()
  const [first, second] = [coming('first', 4), coming('second', 6)]
  pass(10_000)
  expect([first.claim.makeRoom(8, first.body), gone]).toEqual([false, ['first']])
  expect([second.claim.makeRoom(4, second.body), gone]).toEqual([true, ['first']])
})

test.each<[what: string, end: (claim: BodyClaim) => void]>([
  ['complete', (claim) => claim.complete()],
  ['released', (claim) => claim.release()],
  ['followed by another', (claim) => claim.expect({ giveWay: () => {} })],
])('a body that is %s no longer gives way', (_, end) => {
  const { gone, coming, pass } = crowded()
  end(coming('first', 8).claim)
  pass(10_000)
  const { claim, body } = coming('second', 2)
  claim.makeRoom(9, body)
  expect(gone).toEqual([])
})

test('a completed request releases nothing and expects nothing', () => {
  const { gone, coming, pass } = crowded()
  coming('first', 8)
  const { claim, body } = coming('over', 1)
  claim.release()
  claim.expect(body)
  pass(10_000)
  expect([claim.makeRoom(9, body), gone]).toEqual([false, []])
  const { claim: next, body: nextBody } = coming('next', 0)
  pass(10_000)
  next.makeRoom(11, nextBody)
  expect(gone).toEqual(['first', 'next'])
})

test.each<[ended: string[], gone: string[]]>([
  [['first'], ['second', 'third']],
  [['second'], ['first', 'third']],
  [['third'], ['first', 'second']],
  [['second', 'first'], ['third']],
  [['second', 'third'], ['first']],
  [['first', 'second', 'third'], []],
])('after %j have ended, %j give way, the oldest first', (ended, expected) => {
  const { gone, coming, pass } = crowded()
  const claims = new Map(['first', 'second', 'third'].map((name) => [name, coming(name, 3).claim]))
  for (const name of ended) claims.get(name)!.complete()
  pass(10_000)
  const { claim, body } = coming('late', 0)
  claim.makeRoom(11, body)
  expect(gone).toEqual(expected)
  gone.length = 0
  pass(10_000)
  claim.makeRoom(11, body)
  expect(gone).toEqual(['late'])
})
