import { expect, test } from 'vitest'
import { discourageRetries } from './discourage-retries.ts'
import { Head } from './head.ts'

const NOW_MS = Date.UTC(2026, 0, 1)

test.each([
  ['no wait', {}, undefined],
  ['a wait of a minute', { 'retry-after': '60' }, undefined],
  ['a longer one', { 'retry-after': '61' }, 'false'],
  ['a fraction more', { 'retry-after': '60.5' }, 'false'],
  ['a date in a minute', { 'retry-after': 'Thu, 01 Jan 2026 00:01:00 GMT' }, undefined],
  ['a later date', { 'retry-after': 'Thu, 01 Jan 2026 00:01:01 GMT' }, 'false'],
  ['a date in the past', { 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, undefined],
  ['no time', { 'retry-after': 'soon' }, undefined],
  ['milliseconds, which clients prefer', { 'retry-after-ms': '60001', 'retry-after': '1' }, 'false'],
  ['few milliseconds', { 'retry-after-ms': '60000', 'retry-after': '90' }, undefined],
  ['no milliseconds', { 'retry-after-ms': '0', 'retry-after': '90' }, 'false'],
  ['a server that knows better', { 'retry-after': '90', 'x-should-retry': 'true' }, 'true'],
])('%s', (_, fields, expected) => {
  const head = Head.response(429)
  for (const [name, value] of Object.entries(fields)) head.set(name, value)
  discourageRetries(head, NOW_MS)
  expect(head.get('x-should-retry')).toBe(expected)
})
