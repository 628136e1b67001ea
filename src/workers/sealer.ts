import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { Sealer } from '#base/sealer.ts'

/** First byte of every sealed text; changes with the format. */
const VERSION = 1
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Keys of an instance (specification 1, 2.5; decision B65). */
export interface SessionKeys {
  /** Seals and opens. */
  readonly current: Uint8Array
  /** Only opens texts that were sealed before the key was changed. */
  readonly previous: Uint8Array | undefined
}

/**
 * Reads `SESSION_KEY` and `GATEWRIGHT_SESSION_KEY_PREVIOUS`. Without the first, it creates a random key for the instance: its workers share
 * the key; other replicas and later runs do not have it.
 *
 * @throws Error with the name of the variable if a value is not 64 hexadecimal digits; a start-up error
 */
export function readSessionKeys(environment: Readonly<Record<string, string | undefined>>): SessionKeys {
  return {
    current: readKey(environment, 'SESSION_KEY') ?? randomBytes(KEY_BYTES),
    previous: readKey(environment, 'GATEWRIGHT_SESSION_KEY_PREVIOUS'),
  }
}

function readKey(environment: Readonly<Record<string, string | undefined>>, name: string): Uint8Array | undefined {
  const text = environment[name]
  if (text === undefined || text === '') return undefined
  if (!/^[0-9a-fA-F]{64}$/.test(text)) throw new Error(`${name} must be 64 hexadecimal digits`)
  return Buffer.from(text, 'hex')
}

/** Seals with AES-256-GCM and a random nonce: version, nonce, ciphertext, tag, as base64url. */
export function createSealer({ current, previous }: SessionKeys): Sealer {
  return {
    seal: (bytes) => seal(current, bytes),
    open: (text) => {
      const sealed = Buffer.from(text, 'base64url')
      // Decoding skips invalid characters. Only the exact text is accepted; otherwise one session would have many ids.
      if (sealed.toString('base64url') !== text) return undefined
      return open(current, sealed) ?? (previous === undefined ? undefined : open(previous, sealed))
    },
  }
}

function seal(key: Uint8Array, bytes: Uint8Array): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  const parts = [Buffer.of(VERSION), nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]
  return Buffer.concat(parts).toString('base64url')
}

function open(key: Uint8Array, sealed: Buffer): Uint8Array | undefined {
  if (sealed.length < 1 + NONCE_BYTES + TAG_BYTES || sealed[0] !== VERSION) return undefined
  const body = sealed.subarray(1 + NONCE_BYTES, -TAG_BYTES)
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(1, 1 + NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  })
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
  const opened = decipher.update(body)
  try {
    decipher.final()
  } catch {
    // Wrong key or modified text; clients may send both.
    return undefined
  }
  return opened
}
