import { expect, test } from 'vitest'
import type { ApiAnswer } from '../api-client.ts'
import { ApiUnreadable } from '../api-unreadable.ts'
import type { Review, TokenReviews } from '../token-reviews.ts'
import { ProxyAccounts } from './proxy-accounts.ts'

const ACCOUNT = { namespace: 'default', name: 'main', uid: 'a1' }
const TOKEN = { account: ACCOUNT, pod: 'main-1', expiresMs: 5000 }
const GATEWAY = { kind: 'Gateway', name: 'main', uid: 'g1', controller: true }
const METADATA = { uid: 'a1', ownerReferences: [GATEWAY] }

interface Setup {
  readonly review?: Review
  readonly status?: number
  readonly metadata?: object
  readonly authorization?: string | undefined
}

async function admitted({ review = TOKEN, status = 200, metadata = METADATA, ...others }: Setup) {
  const seen: string[] = []
  const api = {
    get: async (path: string) => {
      seen.push(path)
      return { status, body: { metadata } }
    },
  }
  const reviews = { review: async () => review } as unknown as TokenReviews
  const accounts = new ProxyAccounts(api, reviews, (key) => (key === 'Gateway/default/main' ? 'g1' : undefined))
  const { authorization } = { authorization: 'Bearer abc', ...others }
  return { answer: await accounts.admit(authorization), seen }
}

test('the account that a Gateway owns gets the plan of this Gateway', async () => {
  const { answer, seen } = await admitted({})
  expect(answer).toEqual({ gateway: 'Gateway/default/main', identity: 'default/main-1', expiresMs: 5000 })
  expect(seen).toEqual(['/api/v1/namespaces/default/serviceaccounts/main'])
})

const NOT_OURS = 'the service account does not belong to a Gateway of this controller'
test.each<[name: string, setup: Setup, why: string]>([
  ['no token', { authorization: undefined }, 'a token of a service account is required'],
  ['another scheme', { authorization: 'Basic YTpi' }, 'a token of a service account is required'],
  ['a token that is no token', { authorization: 'Bearer a b' }, 'a token of a service account is required'],
  ['a refused token', { review: { why: 'expired' } }, 'expired'],
  ['an account that is gone', { status: 404 }, 'the service account does not exist any more'],
  [
    'an account that was made anew',
    { metadata: { ...METADATA, uid: 'a2' } },
    'the service account does not exist any more',
  ],
  ['an account of nobody', { metadata: { uid: 'a1' } }, NOT_OURS],
  [
    'the Gateway is no controller of it',
    { metadata: { uid: 'a1', ownerReferences: [{ ...GATEWAY, controller: false }] } },
    NOT_OURS,
  ],
  ['a Gateway that was made anew', { metadata: { uid: 'a1', ownerReferences: [{ ...GATEWAY, uid: 'g2' }] } }, NOT_OURS],
  [
    'another account that names the Gateway as its owner',
    { review: { ...TOKEN, account: { ...ACCOUNT, name: 'other' } } },
    NOT_OURS,
  ],
  ['another Gateway', { metadata: { uid: 'a1', ownerReferences: [{ ...GATEWAY, name: 'other' }] } }, NOT_OURS],
])('%s is refused', async (_, setup, why) => {
  expect((await admitted(setup)).answer).toEqual({ why })
})

test('without a pod and an end in the token, the proxy has the name of its account', async () => {
  const review = { account: ACCOUNT, pod: undefined, expiresMs: undefined }
  expect((await admitted({ review })).answer).toEqual({ gateway: 'Gateway/default/main', identity: 'default/main' })
})

test('while the API does not answer, an account keeps the owner that it had', async () => {
  const down = new ApiUnreadable('https://api cannot be read: connection refused')
  let answer: (() => ApiAnswer) | undefined
  const api = {
    get: async () => {
      if (answer === undefined) throw down
      return answer()
    },
  }
  let uid: string | undefined = 'g1'
  const accounts = new ProxyAccounts(api, { review: async () => TOKEN } as unknown as TokenReviews, () => uid)
  const admit = () => accounts.admit('Bearer abc')
  await expect(admit(), 'never seen').rejects.toBe(down)
  answer = () => ({ status: 200, body: { metadata: METADATA } })
  expect(await admit()).toMatchObject({ gateway: 'Gateway/default/main' })
  answer = undefined
  expect(await admit()).toMatchObject({ gateway: 'Gateway/default/main' })
  uid = undefined
  expect(await admit(), 'its Gateway is gone').toEqual({ why: NOT_OURS })
  uid = 'g1'
  answer = () => ({ status: 404, body: {} })
  expect(await admit()).toEqual({ why: 'the service account does not exist any more' })
  answer = undefined
  await expect(admit(), 'forgotten').rejects.toBe(down)
})
