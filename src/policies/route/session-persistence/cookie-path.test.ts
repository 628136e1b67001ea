import { expect, test } from 'vitest'
import { cookiePath } from './cookie-path.ts'

test.each([
  ['PathPrefix', '/', '/'],
  ['PathPrefix', '/shop', '/shop'],
  ['Exact', '/shop/cart', '/shop/cart'],
  ['PathPrefix', '/v1.0', '/v1.0'],
  ['Exact', '/a;b', '/'],
  ['RegularExpression', '/p1/p2/.*/p3', '/p1/p2'],
  ['RegularExpression', '^/p1/p2/[a-z]+', '/p1/p2'],
  ['RegularExpression', '/p1/p2x?', '/p1'],
  ['RegularExpression', '/p1/x?/p2', '/p1'],
  ['RegularExpression', '/p1', '/p1'],
  ['RegularExpression', '/(a|b)', '/'],
  ['RegularExpression', '.*', '/'],
] as const)('of %s %s: %s', (type, value, path) => expect(cookiePath({ type, value })).toBe(path))

test('without a match', () => expect(cookiePath(undefined)).toBe('/'))
