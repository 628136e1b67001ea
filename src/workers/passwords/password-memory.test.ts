import { expect, test } from 'vitest'
import { VirtualTime } from '#test/support/virtual-time.ts'
import { PasswordMemory } from './password-memory.ts'

test('the digest of several texts depends on where each ends, and on the key of the memory', () => {
  const memory = new PasswordMemory()
  const digests = [['a', 'bc'], ['ab', 'c'], ['abc'], ['a', 'bc', '']].map((texts) => memory.digestOf(...texts))
  expect(new Set(digests).size).toBe(4)
  expect(memory.digestOf('a', 'bc')).toBe(digests[0])
  expect(new PasswordMemory().digestOf('a', 'bc')).not.toBe(digests[0])
})

test('a digest that is added again is the last one to be dropped', async () => {
  using time = new VirtualTime(0)
  const memory = new PasswordMemory()
  expect(memory.has('a')).toBe(false)
  memory.add('a')
  await time.pass(1)
  memory.add('b')
  await time.pass(59_999)
  expect(memory.has('a')).toBe(false)
  memory.add('a')
  for (let i = 0; i < 4095; i++) memory.add(`${i}`)
  expect([memory.has('a'), memory.has('b')]).toEqual([true, false])
})
