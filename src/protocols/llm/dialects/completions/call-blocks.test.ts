import { expect, test } from 'vitest'
import { JsonEnd } from './call-blocks.ts'

test.each([
  ['{}', true],
  ['{"a":[1,{"b":"}]"}]}', true],
  ['{"a":"\\"}"', false],
  ['{"a":"\\\\"}', true],
  ['[]', true],
  ['', false],
  ['{"a":{}', false],
])('%s', (text, isComplete) => {
  const whole = new JsonEnd()
  whole.read(text)
  expect(whole.isReached).toBe(isComplete)
  const pieces = new JsonEnd()
  for (const character of text) pieces.read(character)
  expect(pieces.isReached).toBe(isComplete)
})
