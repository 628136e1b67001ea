import { afterEach, expect, test, vi } from 'vitest'
import { clock } from '#base/clock.ts'
import { ApiUnreadable } from './api-unreadable.ts'
import { TokenReviews } from './token-reviews.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

const AUDIENCE = 'gatewright-controller'
const USER = { username: 'system:serviceaccount:default:main', uid: 'u1' }
const GOOD = { authenticated: true, audiences: [AUDIENCE], user: USER }
const ACCOUNT = { namespace: 'default', name: 'main', uid: 'u1' }
const tokenUntil = (exp: unknown) => `h.${Buffer.from(JSON.stringify({ exp })).toString('base64url')}.s`

function reviews(status: object) {
  const state = { status, error: undefined as Error | undefined, asked: 0 }
  const api = {
    create: async (path: string, object: object) => {
      state.asked++
      expect(path).toBe('/apis/authentication.k8s.io/v1/tokenreviews')
      expect(object).toMatchObject({ kind: 'TokenReview', spec: { audiences: [AUDIENCE] } })
      if (state.error !== undefined) throw state.error
      return { status: 201, body: { status: state.status } }
    },
  }
  return { it: new TokenReviews(api, AUDIENCE), state }
}

test.each<[name: string, status: object, expected: object]>([
  ['a good token', GOOD, { account: ACCOUNT, pod: undefined, expiresMs: undefined }],
  [
    'a token of a pod',
    { ...GOOD, user: { ...USER, extra: { 'authentication.kubernetes.io/pod-name': ['main-1'] } } },
    { account: ACCOUNT, pod: 'main-1' },
  ],
  ['a bad one', { authenticated: false, error: 'expired' }, { why: 'expired' }],
  ['no answer about it', {}, { why: 'the token is not valid in this cluster' }],
  ['another audience', { ...GOOD, audiences: ['x'] }, { why: `the token is not made for the audience ${AUDIENCE}` }],
  [
    'a server that knows no audiences',
    { ...GOOD, audiences: undefined },
    { why: `the token is not made for the audience ${AUDIENCE}` },
  ],
  [
    'a person',
    { ...GOOD, user: { username: 'jane', uid: 'u' } },
    { why: 'the token is not that of a service account' },
  ],
  [
    'an account without uid',
    { ...GOOD, user: { username: USER.username } },
    { why: 'the token is not that of a service account' },
  ],
])('%s', async (_, status, expected) => {
  expect(await reviews(status).it.review('t')).toMatchObject(expected)
})

test('a token is reviewed again after a minute, and holds for an hour while the API does not answer', async () => {
  let nowMs = 1_000_000
  vi.spyOn(clock, 'now').mockImplementation(() => nowMs)
  const { it, state } = reviews(GOOD)
  const token = tokenUntil(1_000_000)
  const seen = async () => ('account' in (await it.review(token)) ? 'accepted' : 'refused')
  expect([await seen(), await seen(), state.asked]).toEqual(['accepted', 'accepted', 1])
  expect(await it.review(token)).toMatchObject({ expiresMs: 1_000_000_000 })
  nowMs += 60_000
  expect([await seen(), state.asked]).toEqual(['accepted', 2])
  state.error = new ApiUnreadable('https://api cannot be read: connection refused')
  nowMs += 3_599_999
  expect(await seen()).toBe('accepted')
  nowMs += 1
  expect(await it.review(token)).toEqual({
    why: 'the token cannot be reviewed: https://api cannot be read: connection refused',
  })
  state.error = undefined
  expect(await seen()).toBe('accepted')
  state.status = { authenticated: false }
  nowMs += 60_000
  expect(await seen()).toBe('refused')
  state.error = new ApiUnreadable('down')
  expect(await seen()).toBe('refused')
})

test.each([tokenUntil(1000), tokenUntil('x'), 'no token', 'a.%.b'])(
  '%s: after its end, no outage keeps it',
  async (token) => {
    let nowMs = 999_000
    vi.spyOn(clock, 'now').mockImplementation(() => nowMs)
    const { it, state } = reviews(GOOD)
    await it.review(token)
    state.error = new ApiUnreadable('down')
    nowMs = 1_000_000
    expect(await it.review(token)).toEqual({ why: 'the token cannot be reviewed: down' })
  },
)

test('other errors are bugs, and are not hidden', async () => {
  const { it, state } = reviews(GOOD)
  state.error = new TypeError('x')
  await expect(it.review('t')).rejects.toThrow('x')
})
