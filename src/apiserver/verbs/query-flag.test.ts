import { expect, test } from 'vitest'
import { queryFlag } from './query-flag.ts'

test.each([
  ['', false],
  ['watch=true', true],
  ['watch=True', true],
  ['watch=1', true],
  ['watch', true],
  ['watch=', true],
  ['watch=yes', true],
  ['watch=false', false],
  ['watch=False', false],
  ['watch=0', false],
])('a query "%s"', (query, expected) => {
  expect(queryFlag(new URLSearchParams(query), 'watch')).toBe(expected)
})
