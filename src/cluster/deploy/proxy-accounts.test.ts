import { expect, test } from 'vitest'
import type { Review, TokenReviews } from '../token-reviews.ts'
import { ProxyAccounts } from './proxy-accounts.ts'

const ACCOUNT = { namespace: 'default', name: 'main', uid: 'a1' }
const GATEWAY = { kind: 'Gateway', name: 'main', uid: 'g1', controller: true }
const METADATA = { uid: 'a1', ownerReferences: [GATEWAY] }

interface Setup {
  readonly review?: Review
  readonly status?: number
  readonly metadata?: object
  readonly authorization?: string | undefined
}

async function admitted({ review = { account: ACCOUNT }, status = 200, metadata = METADATA, ...others }: Setup) {
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
  expect(answer).toEqual({ gateway: 'Gateway/default/main', identity: 'default/main' })
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
    { review: { account: { ...ACCOUNT, name: 'other' } } },
    NOT_OURS,
  ],
  ['another Gateway', { metadata: { uid: 'a1', ownerReferences: [{ ...GATEWAY, name: 'other' }] } }, NOT_OURS],
])('%s is refused', async (_, setup, why) => {
  expect((await admitted(setup)).answer).toEqual({ why })
})
