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
  expect(await ensureSecret(api, SECRET, async () => ({ a: '1' }))).toEqual({ a: '1' })
  expect(created).toEqual([{ ...SECRET, data: { a: base64('1') } }])
  expect(await ensureSecret(api, SECRET, () => Promise.reject(new Error('made twice')))).toEqual({ a: '1' })
})

test('of two programs, the first one decides', async () => {
  const { api } = fakeApi(undefined, { data: { a: base64('theirs') } })
  expect(await ensureSecret(api, SECRET, async () => ({ a: 'ours' }))).toEqual({ a: 'theirs' })
})

test('a session key is 64 hexadecimal digits, or the Secret is not used', async () => {
  const { api, created } = fakeApi()
  const key = await ensureSessionKey(api, SECRET)
  expect(key).toMatch(/^[0-9a-f]{64}$/)
  expect(created).toHaveLength(1)
  expect(await ensureSessionKey(api, SECRET)).toBe(key)
  for (const data of [{ key: base64('short') }, { other: base64('x') }, undefined]) {
    expect(await ensureSessionKey(fakeApi({ data }).api, SECRET)).toBeUndefined()
  }
})
