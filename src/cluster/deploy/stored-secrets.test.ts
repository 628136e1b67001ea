import { expect, test } from 'vitest'
import { ApiUnreadable } from '../api-unreadable.ts'
import type { Members } from '../kubeconfig.ts'
import { ensureSecret, ensureSessionKey } from './stored-secrets.ts'

const SECRET = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace: 'default' } } as const
const base64 = (text: string) => Buffer.from(text).toString('base64')

/** @param meanwhile another program creates it between the look and the creation */
function fakeApi(stored?: Members, meanwhile?: Members) {
  const created: Members[] = []
  const api = {
    get: async () => (stored === undefined ? { status: 404, body: {} } : { status: 200, body: stored }),
    create: async (_: string, object: object) => {
      if (meanwhile !== undefined) {
        stored = meanwhile
        throw new ApiUnreadable('exists', { status: 409 })
      }
      stored = object as Members
      created.push(stored)
      return { status: 201, body: stored }
    },
  }
  return { api, created }
}

test('a Secret is created once, with values that are made for it', async () => {
  const { api, created } = fakeApi()
  expect(await ensureSecret(api, SECRET, async () => ({ a: '1' }))).toMatchObject({ values: { a: '1' } })
  expect(created).toEqual([{ ...SECRET, data: { a: base64('1') } }])
  expect(await ensureSecret(api, SECRET, () => Promise.reject(new Error('made twice')))).toMatchObject({
    values: { a: '1' },
  })
})

test('of two programs, the first one decides', async () => {
  const { api } = fakeApi(undefined, { data: { a: base64('theirs') } })
  expect(await ensureSecret(api, SECRET, async () => ({ a: 'ours' }))).toMatchObject({ values: { a: 'theirs' } })
})

const owned = (uid: string) => ({
  ...SECRET,
  metadata: { ...SECRET.metadata, ownerReferences: [{ kind: 'Gateway', name: 'main', uid, controller: true }] },
})

test('a session key is 64 hexadecimal digits, or the Secret is not used', async () => {
  const { api, created } = fakeApi()
  const made = await ensureSessionKey(api, owned('g1'))
  expect(made).toEqual({ key: expect.stringMatching(/^[0-9a-f]{64}$/) })
  expect(created).toHaveLength(1)
  expect(await ensureSessionKey(api, owned('g1'))).toEqual(made)
  for (const data of [{ key: base64('short') }, { other: base64('x') }, undefined]) {
    const { why } = await ensureSessionKey(fakeApi({ ...owned('g1'), data }).api, owned('g1'))
    expect(why).toContain('it has no key of 64 hexadecimal digits')
  }
})

test('a Secret of somebody else gives no session key', async () => {
  const data = { key: base64('0'.repeat(64)) }
  for (const [stored, owner] of [
    [SECRET, 'no controller owns it'],
    [owned('g2'), 'Gateway main owns it'],
  ] as const) {
    const { why } = await ensureSessionKey(fakeApi({ ...stored, data }).api, owned('g1'))
    expect(why).toContain(owner)
  }
})
