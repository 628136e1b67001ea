import { expect, expectTypeOf, test } from 'vitest'
import type { POLICIES } from './policy-fields.ts'
import {
  type Acting,
  type Answering,
  BACKEND,
  type Complete,
  POST_ROUTING,
  PRE_ROUTING,
  RESPONSE,
} from './policy-order.ts'

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
])('no field is repeated in %s', (_, fields: readonly string[]) => {
  expect(new Set(fields).size).toBe(fields.length)
})

test('policies before routing have the same order after it', () => {
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
  before('rateLimit', 'sessionPersistence', 'requestMirror', 'directResponse', 'requestRedirect'),
  before('transformation', 'headerModifiers'),
  before('hostRewrite', 'urlRewrite'),
  before('requestRedirect', 'directResponse'),
])('%s acts before %j', (first, then) => {
  for (const later of then) expect(POST_ROUTING.indexOf(first)).toBeLessThan(POST_ROUTING.indexOf(later))
})

test('on responses, plain edits precede computed ones', () => {
  expect(RESPONSE.indexOf('headerModifiers')).toBeLessThan(RESPONSE.indexOf('transformation'))
})

test('an order that leaves a field out does not compile', () => {
  type Traffic = typeof POLICIES.traffic
  type Backend = typeof POLICIES.backend
  expectTypeOf<Complete<Exclude<Acting<Traffic>, (typeof POST_ROUTING)[number]>>>().toBeNever()
  // @ts-expect-error csrf has no place after routing
  expectTypeOf<Complete<Exclude<Acting<Traffic>, Exclude<(typeof POST_ROUTING)[number], 'csrf'>>>>().toBeNever()
  // @ts-expect-error auth has no place among the policies of backends
  expectTypeOf<Complete<Exclude<Acting<Backend>, Exclude<(typeof BACKEND)[number], 'auth'>>>>().toBeNever()
  // @ts-expect-error cors has no place on the way back
  expectTypeOf<Complete<Exclude<Answering<Traffic>, Exclude<(typeof RESPONSE)[number], 'cors'>>>>().toBeNever()
})

test('the compiler knows all policies that act on responses', () => {
  expectTypeOf<Answering<typeof POLICIES.traffic>>().toEqualTypeOf<
    'headerModifiers' | 'transformation' | 'cors' | 'rateLimit' | 'extAuth' | 'sessionPersistence'
  >()
  expectTypeOf<Answering<typeof POLICIES.backend>>().toEqualTypeOf<'headerModifiers' | 'transformation' | 'extAuth'>()
})
