import { randomBytes } from 'node:crypto'
import type { Manifest } from '#deploy/manifest.ts'
import type { ApiAnswer } from '../api-client.ts'
import { isConflict } from '../api-unreadable.ts'
import { type Members, membersOf, textOf } from '../kubeconfig.ts'
import { manifestPath } from './deployed-kinds.ts'

interface SecretApi {
  get(path: string): Promise<ApiAnswer>
  create(path: string, object: object): Promise<ApiAnswer>
}

type Values = Readonly<Record<string, string>>

/**
 * The values of a Secret, which is created if it does not exist. Of several programs that create it at the same time, one succeeds, and all use
 * its values.
 * @throws ApiUnreadable
 */
export async function ensureSecret(api: SecretApi, secret: Manifest, make: () => Promise<Values>): Promise<Values> {
  const { list, object } = manifestPath(secret)
  const found = await api.get(object)
  if (found.status === 200) return valuesOf(found.body)
  const values = await make()
  const data = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, encode(value)]))
  try {
    await api.create(`${list}?fieldManager=gatewright`, { ...secret, data })
    return values
  } catch (error) {
    if (!isConflict(error)) throw error
    return valuesOf((await api.get(object)).body)
  }
}

const KEY = /^[0-9a-fA-F]{64}$/

/**
 * The session key of a Gateway.
 * @throws ApiUnreadable
 * @returns undefined: the Secret exists, and has no usable key
 */
export async function ensureSessionKey(api: SecretApi, secret: Manifest): Promise<string | undefined> {
  const { key } = await ensureSecret(api, secret, async () => ({ key: randomBytes(32).toString('hex') }))
  return key !== undefined && KEY.test(key) ? key : undefined
}

function valuesOf(secret: Members): Values {
  const entries = Object.entries(membersOf(secret.data))
  return Object.fromEntries(
    entries.map(([name, value]) => [name, Buffer.from(textOf(value) ?? '', 'base64').toString()]),
  )
}

function encode(value: string): string {
  return Buffer.from(value).toString('base64')
}
