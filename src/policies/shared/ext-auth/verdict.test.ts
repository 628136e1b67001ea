import { expect, test } from 'vitest'
import { exchangeWith } from '../testing.ts'
import { applyVerdict, NO_EDITS, type RequestEdits, type Verdict } from './verdict.ts'

const ALLOWED: Verdict = { status: 'OK', refusal: undefined, edits: NO_EDITS, metadata: undefined, bytes: 0 }

function applied(edits: Partial<RequestEdits>, target = '/p?a=1&b=2') {
  const exchange = exchangeWith({ target })
  expect(applyVerdict({ ...ALLOWED, edits: { ...NO_EDITS, ...edits } }, exchange)).toBe(undefined)
  return exchange
}

test.each<[what: string, edits: Partial<RequestEdits>, target: string]>([
  ['nothing', {}, '/p?a=1&b=2'],
  ['one set', { setParameters: [['c', '3']] }, '/p?a=1&b=2&c=3'],
  ['one removed', { removedParameters: ['a'] }, '/p?b=2'],
  ['set, then removed', { setParameters: [['c', '3']], removedParameters: ['c', 'b'] }, '/p?a=1'],
])('query parameters: %s', (_, edits, target) => {
  expect(applied(edits).request.target).toBe(target)
})

test('without metadata there is none to read, and metadata of several servers are merged', () => {
  const exchange = applied({})
  expect(exchange.extauthz).toBeUndefined()
  applyVerdict({ ...ALLOWED, metadata: { a: 1, b: 1 } }, exchange)
  applyVerdict({ ...ALLOWED, metadata: { b: 2 } }, exchange)
  expect({ ...exchange.extauthz }).toEqual({ a: 1, b: 2 })
})
