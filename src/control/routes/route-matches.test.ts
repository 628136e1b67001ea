import { expect, test } from 'vitest'
import { grpcMatches, httpMatches } from './route-matches.ts'

test.each<[type: 'Exact' | 'PathPrefix' | 'RegularExpression', written: string, value: string]>([
  ['PathPrefix', '/%61/', '/a'],
  ['PathPrefix', '/%40a/b%2eC%20d/', '/@a/b.C%20d'],
  ['PathPrefix', '/', '/'],
  ['Exact', '/%61/', '/a/'],
  ['Exact', '/x%c3%a9', '/x%C3%A9'],
  // A pattern is not normalized.
  ['RegularExpression', '/%61//.*', '/%61//.*'],
])('%s %s is compared as %s', (type, written, value) => {
  expect(httpMatches([{ path: { type, value: written } }])).toMatchObject([{ path: { type, value } }])
})

test('gRPC methods are paths', () => {
  const method = { type: 'Exact' as const, service: 'a.B', method: 'C' }
  expect(grpcMatches([{ method }])).toMatchObject([{ path: { type: 'Exact', value: '/a.B/C' } }])
})
