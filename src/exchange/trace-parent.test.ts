import { expect, test } from 'vitest'
import { Head } from '#net/http/head.ts'
import { traceId, traceParent } from './trace-parent.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const VALID = `00-${TRACE}-b7ad6b7169203331-01`

function headWith(...values: string[]): Head {
  const head = Head.request('GET', '/')
  for (const value of values) head.append('traceparent', value)
  return head
}

test('a valid trace', () => {
  expect([traceParent(headWith(VALID)), traceId(headWith(VALID))]).toEqual([VALID, TRACE])
})

test.each([
  ['none', []],
  ['two', [VALID, VALID]],
  ['empty', ['']],
  ['upper case', [VALID.toUpperCase()]],
  ['version ff', [VALID.replace('00-', 'ff-')]],
  ['no trace', [VALID.replace(TRACE, '0'.repeat(32))]],
  ['no parent', [VALID.replace('b7ad6b7169203331', '0'.repeat(16))]],
  ['a field too much', [`${VALID}-1`]],
  ['a field too few', [VALID.slice(0, -3)]],
])('counts as absent: %s', (_, values) => {
  expect([traceParent(headWith(...values)), traceId(headWith(...values))]).toEqual([undefined, undefined])
})
