import fc from 'fast-check'
import { expect, test } from 'vitest'
import { trimSpace } from '#base/byte-text.ts'
import { isFieldValue, isTarget } from '#net/http/field-syntax.ts'
import { Head } from '#net/http/head.ts'
import { cookieValues, removeCookie, setCookie } from './authentication/cookies.ts'
import { queryValues, withoutQueryParameter, withQueryParameter } from './url/query.ts'
import { parseOrigin } from './url/web-origin.ts'

/** Properties of parsers for client input: no input makes a head invalid or bypasses a removal. */

const visible = Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i)).filter((letter) => letter !== '#')
const target = fc
  .array(fc.oneof(fc.constantFrom(...visible), fc.constantFrom('&', '=', '?', '%', '+', 'key', '%6bey')), {
    maxLength: 30,
  })
  .map((letters) => `/${letters.join('')}`)
const byteText = fc
  .array(fc.integer({ min: 0, max: 255 }), { maxLength: 12 })
  .map((codes) => String.fromCharCode(...codes))
const fieldValue = fc
  .array(fc.constantFrom(' ', '\t', ';', '=', ',', '"', 'k', 'key', 'a', '\u00a0'), { maxLength: 20 })
  .map((parts) => trimSpace(parts.join('')))

test('after removal a query parameter is absent, and the target is valid', () => {
  fc.assert(
    fc.property(target, (text) => {
      const without = withoutQueryParameter(text, 'key')
      expect(queryValues(without, 'key')).toEqual([])
      expect(isTarget(without)).toBe(true)
      expect(queryValues(without, 'k')).toEqual(queryValues(text, 'k'))
    }),
  )
})

test('a query parameter that was set is read back as the only one', () => {
  fc.assert(
    fc.property(target, byteText, (text, value) => {
      const written = withQueryParameter(text, 'key', value)
      expect(queryValues(written, 'key')).toEqual([value])
      expect(isTarget(written)).toBe(true)
    }),
  )
})

test('a removed cookie is absent, one that was set is read back, and the field is valid', () => {
  fc.assert(
    fc.property(fc.array(fieldValue, { maxLength: 3 }), (fields) => {
      const head = new Head()
      for (const field of fields) head.append('cookie', field)
      removeCookie(head, 'key')
      expect(cookieValues(head.getAll('cookie'), 'key')).toEqual([])
      setCookie(head, 'key', 'v')
      expect(cookieValues(head.getAll('cookie'), 'key')).toEqual(['v'])
      expect(isFieldValue(head.get('cookie')!)).toBe(true)
    }),
  )
})

test('a cookie keeps all its bytes, and a cookie with a longer name is not removed', () => {
  const head = new Head()
  head.append('cookie', 'key\u00a0=1; a=k\u00c3\u00a0; key =2')
  expect(cookieValues(head.getAll('cookie'), 'a')).toEqual(['k\u00c3\u00a0'])
  expect(cookieValues(head.getAll('cookie'), 'key')).toEqual(['2'])
  removeCookie(head, 'key')
  expect(head.get('cookie')).toBe('key\u00a0=1; a=k\u00c3\u00a0')
})

test('a parsed origin is unchanged by serialising and parsing it', () => {
  const text = fc.tuple(fc.constantFrom('http', 'https', 'ftp', ''), fc.string({ maxLength: 12 }), fc.nat(70_000))
  fc.assert(
    fc.property(text, ([scheme, host, port]) => {
      const origin = parseOrigin(`${scheme}://${host}:${port}`)
      if (origin === undefined) return
      expect(parseOrigin(`${origin.scheme}://${origin.host}:${origin.port}`)).toEqual(origin)
    }),
  )
})
