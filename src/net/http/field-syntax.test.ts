import { expect, test } from 'vitest'
import { withoutPort } from './field-syntax.ts'

test.each([
  ['example.com:8080', 'example.com'],
  ['example.com', 'example.com'],
  ['example.com:', 'example.com'],
  ['127.0.0.1:80', '127.0.0.1'],
  ['[::1]:8443', '[::1]'],
  ['[2001:db8::1]', '[2001:db8::1]'],
  ['', ''],
])('%s without its port is %s', (authority, host) => {
  expect(withoutPort(authority)).toBe(host)
})
