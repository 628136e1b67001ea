import { expect, test } from 'vitest'
import { BACKEND, POST_ROUTING, PRE_ROUTING, RESPONSE } from './policy-order.ts'

test('before routing act the eight fields of decision A-25', () => {
  expect(PRE_ROUTING).toEqual([
    'cors',
    'jwtAuthentication',
    'basicAuthentication',
    'apiKeyAuthentication',
    'extAuth',
    'authorization',
    'extProc',
    'transformation',
  ])
})

test.each([
  ['PRE_ROUTING', PRE_ROUTING],
  ['POST_ROUTING', POST_ROUTING],
  ['BACKEND', BACKEND],
  ['RESPONSE', RESPONSE],
])('no field stands twice in %s', (_, fields: readonly string[]) => {
  expect(new Set(fields).size).toBe(fields.length)
})

test('what acts before routing acts in the same order after it', () => {
  const shared = POST_ROUTING.filter((field) => (PRE_ROUTING as readonly string[]).includes(field))
  expect(shared).toEqual([...PRE_ROUTING])
})

const before = (first: (typeof POST_ROUTING)[number], ...then: (typeof POST_ROUTING)[number][]) =>
  [first, then] as const

test.each([
  before(
    'cors',
    'jwtAuthentication',
    'basicAuthentication',
    'apiKeyAuthentication',
    'extAuth',
    'authorization',
    'rateLimit',
  ),
  before('authorization', 'rateLimit', 'transformation', 'csrf'),
  before('apiKeyAuthentication', 'authorization', 'csrf'),
  before('rateLimit', 'requestMirror', 'directResponse', 'requestRedirect'),
  before('transformation', 'headerModifiers'),
  before('hostRewrite', 'urlRewrite'),
  before('requestRedirect', 'directResponse'),
])('%s acts before %j', (first, then) => {
  for (const later of then) expect(POST_ROUTING.indexOf(first)).toBeLessThan(POST_ROUTING.indexOf(later))
})

test('on the way back plain edits come before computed ones', () => {
  expect(RESPONSE.indexOf('headerModifiers')).toBeLessThan(RESPONSE.indexOf('transformation'))
})
