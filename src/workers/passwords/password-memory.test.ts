import { expect, test } from 'vitest'
import { PasswordMemory } from './password-memory.ts'

test('the digest of several texts depends on where each ends, and on the key of the memory', () => {
  const memory = new PasswordMemory()
  const digests = [['a', 'bc'], ['ab', 'c'], ['abc'], ['a', 'bc', '']].map((texts) => memory.digestOf(...texts))
  expect(new Set(digests).size).toBe(4)
  expect(memory.digestOf('a', 'bc')).toBe(digests[0])
  expect(new PasswordMemory().digestOf('a', 'bc')).not.toBe(digests[0])
})
