import { expect, test } from 'vitest'
import { hostOf, matchedAuthority } from './authority-form.ts'

test.each<[authority: string, host: string, matched: string]>([
  ['example.com', 'example.com', 'example.com'],
  ['Example.COM', 'example.com', 'example.com'],
  ['example.com.', 'example.com', 'example.com'],
  ['example.com:80', 'example.com', 'example.com'],
  ['EXAMPLE.com.:443', 'example.com', 'example.com'],
  ['example.com:080', 'example.com', 'example.com'],
  ['example.com:', 'example.com', 'example.com'],
  ['example.com:8080', 'example.com', 'example.com:8080'],
  ['example.com:8', 'example.com', 'example.com:8'],
  ['example.com.:8443', 'example.com', 'example.com:8443'],
  ['[2001:DB8::1]:80', '[2001:db8::1]', '[2001:db8::1]'],
  ['[::1]:8080', '[::1]', '[::1]:8080'],
  ['', '', ''],
])('%s: the host is %s, rules see %s', (authority, host, matched) => {
  expect([hostOf(authority), matchedAuthority(authority)]).toEqual([host, matched])
  expect(matchedAuthority(matched)).toBe(matched)
})
