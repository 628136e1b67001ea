import { expect, test } from 'vitest'
import { clientCallId, givenCallId } from './client-call-id.ts'

test.each([
  'toolu_1',
  'call-2',
  'functions.Bash:0',
  'call:1|fc.x',
  'é 💥',
  'toolu_b64_',
  'toolu_b64_YQ',
  'a'.repeat(90),
])('the id %s of a call comes back', (given) => {
  const id = clientCallId(given)
  expect(id).toMatch(/^[A-Za-z0-9_-]+$/)
  expect(givenCallId(id)).toBe(given)
})

test('the id that the API accepts stays', () => {
  expect(clientCallId('toolu_1')).toBe('toolu_1')
})
