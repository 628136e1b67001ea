import { expect, test } from 'vitest'
import { POLICIES } from '#policies/index.ts'
import { BACKEND, BACKEND_SETTINGS, FRONTEND_SETTINGS, POST_ROUTING, PRE_ROUTING, RESPONSE } from './order.ts'

const kindsOf = (definitions: Readonly<Record<string, { readonly kind: string }>>, kind: string) =>
  Object.keys(definitions).filter((name) => definitions[name]!.kind === kind)

test('every traffic field has its place after routing, and nothing else has one', () => {
  expect(POST_ROUTING.toSorted()).toEqual(Object.keys(POLICIES.traffic).sort())
  expect(kindsOf(POLICIES.traffic, 'setting')).toEqual([])
})

test('every backend field is a step or a setting', () => {
  expect(BACKEND.toSorted()).toEqual(kindsOf(POLICIES.backend, 'steps').sort())
  expect(BACKEND_SETTINGS.toSorted()).toEqual(kindsOf(POLICIES.backend, 'setting').sort())
})

test('every frontend field is a setting', () => {
  expect(FRONTEND_SETTINGS.toSorted()).toEqual(Object.keys(POLICIES.frontend).sort())
  expect(kindsOf(POLICIES.frontend, 'steps')).toEqual([])
})

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
  ['BACKEND_SETTINGS', BACKEND_SETTINGS],
  ['FRONTEND_SETTINGS', FRONTEND_SETTINGS],
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
