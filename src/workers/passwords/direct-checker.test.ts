import { expect, test } from 'vitest'
import { DIRECT_CHECKER } from './direct-checker.ts'

const SHA1 = '{SHA}VBPuJHI7uixaa6LQGWx4s+5GKNE='

test.each([
  ['the password of the user', 'myPassword', undefined, 'right'],
  ['another password', 'other', undefined, 'wrong'],
  ['an unknown user, even with the password of another user', 'myPassword', 'nobody', 'wrong'],
])('%s', (_, password, decoyFor, verdict) => {
  expect(DIRECT_CHECKER.check(password, SHA1, decoyFor)).toBe(verdict)
})
