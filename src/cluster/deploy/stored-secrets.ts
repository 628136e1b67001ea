import { randomBytes } from 'node:crypto'
import type { Manifest } from '#deploy/manifest.ts'
import { type ApiAnswer, type ApiClient, MANAGER } from '../api-client.ts'
import { isConflict } from '../api-unreadable.ts'
import { type Members, membersOf, textOf } from '../kubeconfig.ts'
import { manifestPath } from './deployed-kinds.ts'
import { foreignMessage, ownerOf } from './owners.ts'

interface SecretApi {
  get(path: string): Promise<ApiAnswer>
  create(path: string, object: object): Promise<ApiAnswer>
}

export type Values = Readonly<Record<string, string>>

/** A Secret as it is stored. */
export interface StoredSecret {
  readonly values: Values
  readonly stored: Members
}

/**
 * A Secret, which is created if it does not exist. Of several programs that create it at the same time, one succeeds, and all use its values.
 * @throws ApiUnreadable
 */
export async function ensureSecret(
  api: SecretApi,
  secret: Manifest,
  make: () => Promise<Values>,
): Promise<StoredSecret> {
  return readStored(await ensureStored(api, secret, make))
}

/** A Secret that others write; undefined: it does not exist. @throws ApiUnreadable */
export async function readSecret(api: Pick<SecretApi, 'get'>, secret: Manifest): Promise<StoredSecret | undefined> {
  const { status, body } = await api.get(manifestPath(secret).object)
  return status === 200 ? readStored(body) : undefined
}

/** Replaces the values of a Secret. @throws ApiUnreadable with 409 if it has changed since it was read */
export async function replaceSecret(
  api: Pick<ApiClient, 'replace'>,
  secret: Manifest,
  { stored }: StoredSecret,
  values: Values,
): Promise<StoredSecret> {
  const path = `${manifestPath(secret).object}?fieldManager=${MANAGER}`
  return readStored((await api.replace(path, { ...stored, data: encoded(values) })).body)
}

function readStored(stored: Members): StoredSecret {
  return { values: valuesOf(stored), stored }
}

/** @returns the Secret as it is stored */
async function ensureStored(api: SecretApi, secret: Manifest, make: () => Promise<Values>): Promise<Members> {
  const { list, object } = manifestPath(secret)
  const found = await api.get(object)
  if (found.status === 200) return found.body
  const data = encoded(await make())
  try {
    return (await api.create(`${list}?fieldManager=${MANAGER}`, { ...secret, data })).body
  } catch (error) {
    if (!isConflict(error)) throw error
    return (await api.get(object)).body
  }
}

const KEY = /^[0-9a-fA-F]{64}$/
const NO_KEY =
  'it has no key of 64 hexadecimal digits in its entry "key"; correct it, or delete it so that it is created anew'

/** A session key, or why the Secret that exists has none for the Gateway. */
export type SessionKey = { readonly key: string; readonly why?: never } | { readonly key?: never; readonly why: string }

/**
 * The session key of a Gateway. A Secret that the Gateway does not own is not used: whoever made it would know the key.
 * @throws ApiUnreadable
 */
export async function ensureSessionKey(api: SecretApi, secret: Manifest): Promise<SessionKey> {
  const stored = await ensureStored(api, secret, async () => ({ key: randomBytes(32).toString('hex') }))
  if (ownerOf(stored) !== ownerOf(secret)) return { why: foreignMessage(stored) }
  const { key = '' } = valuesOf(stored)
  return KEY.test(key) ? { key } : { why: NO_KEY }
}

function valuesOf(secret: Members): Values {
  const entries = Object.entries(membersOf(secret.data))
  return Object.fromEntries(
    entries.map(([name, value]) => [name, Buffer.from(textOf(value) ?? '', 'base64').toString()]),
  )
}

function encoded(values: Values): Values {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, Buffer.from(value).toString('base64')]),
  )
}
