import { expect, test } from 'vitest'
import { missingEntry } from './missing-entry.ts'

test.each([
  [['Authorization'], ['authorization'], 'has no entry "Authorization"; rename its entry "authorization"'],
  [['Authorization'], ['token'], 'has no entry "Authorization"'],
  [['tls.crt', 'ca.crt'], ['CA.crt'], 'has no entry "tls.crt" or "ca.crt"; rename its entry "CA.crt"'],
  [['ca.crt'], [], 'has no entry "ca.crt"'],
])('%j of %j', (names, present, message) => {
  expect(missingEntry(names, present)).toBe(message)
})
