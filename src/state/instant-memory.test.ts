import { expect, test } from 'vitest'
import { VirtualTime } from '#test/support/virtual-time.ts'
import { createInstantMemory, InstantMemory } from './instant-memory.ts'
import { LocalTable } from './shared-table.ts'

test('a key that several threads claim is claimed once, before they have told each other', () => {
  const memory = createInstantMemory()
  const [one, other] = [new LocalTable(() => {}, memory), new LocalTable(() => {}, memory)]
  expect([one.claim('x', 'a'), other.claim('x', 'a'), one.claim('x', 'a')]).toEqual([true, false, false])
  expect([other.claim('y', 'a'), other.claim('x', 'b')]).toEqual([true, true])
  expect([one.get('x', 'a'), other.get('x', 'a')]).toEqual(['', undefined])
})

test('a key that another thread has set cannot be claimed, however many were claimed since', () => {
  const memory = createInstantMemory()
  const other = new LocalTable(() => {}, memory)
  const one = new LocalTable((entry) => other.add(entry), memory)
  for (let i = 0; i < 10_000; i++) one.claim('x', `${i}`)
  const again = Array.from({ length: 10_000 }, (_, i) => other.claim('x', `${i}`))
  expect(again).not.toContain(true)
})

test('all threads see a hold until it ends, or is ended', async () => {
  using time = new VirtualTime(5000)
  const memory = createInstantMemory()
  const [one, other] = [new InstantMemory(memory), new InstantMemory(memory)]
  expect(other.heldMs('a')).toBe(0)
  one.hold('a', 250)
  expect([one.heldMs('a'), other.heldMs('a'), other.heldMs('b')]).toEqual([250, 250, 0])
  await time.pass(249)
  expect(other.heldMs('a')).toBe(1)
  await time.pass(1)
  expect(other.heldMs('a')).toBe(0)
  expect([other.take('a', 100), one.take('a', 500), one.take('b', 500)]).toEqual([true, false, true])
  await time.pass(100)
  expect([one.take('a', 100), other.take('a', 100)]).toEqual([true, false])
  other.hold('a', 0)
  expect(one.heldMs('a')).toBe(0)
})

test.each([2 ** 31, 2 ** 32, 2 ** 33])('a hold ends although the time has %i milliseconds', async (start) => {
  using time = new VirtualTime(start - 100)
  const memory = new InstantMemory(createInstantMemory(false))
  for (const [ms, left] of [
    [100, 100],
    [200, 200],
  ] as const) {
    memory.hold('a', ms)
    expect(memory.heldMs('a') - left).toBeLessThanOrEqual(1)
  }
  await time.pass(201)
  expect(memory.heldMs('a')).toBe(0)
  // A hold that nobody has ended does not come back when the 32-bit time wraps around.
  memory.hold('a', 60_000)
  await time.pass(2 ** 32 - 1000)
  expect(memory.heldMs('a')).toBe(0)
})
