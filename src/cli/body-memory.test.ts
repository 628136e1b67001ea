import { expect, test } from 'vitest'
import { bodyMemory } from './body-memory.ts'

test.each([
  [undefined, undefined],
  ['', undefined],
  ['512Mi', 536_870_912],
  ['1000', 1000],
])('%s is %s', (text, bytes) => {
  expect(bodyMemory({ GATEWRIGHT_BODY_MEMORY: text })).toBe(bytes)
})

test.each(['0', 'much', '-1', '8Gi'])('%s is no size', (text) => {
  expect(() => bodyMemory({ GATEWRIGHT_BODY_MEMORY: text })).toThrow(
    `GATEWRIGHT_BODY_MEMORY is ${text}; it must be a size, such as 512Mi`,
  )
})
