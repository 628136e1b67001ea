import { bytesOf } from '#base/byte-text.ts'
import { REDACTED } from '#base/credential-names.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { Head } from '#net/http/head.ts'
import { decodeLatin1 } from '../json/native.ts'

/** Fields of a request that carry nothing but a credential, whoever has set them. */
const FIELDS = ['authorization', 'x-api-key', 'api-key', 'x-goog-api-key', 'x-amz-security-token']

/** A shorter text is no secret, and may be a part of any word. */
const MIN_LENGTH = 8

/** They authenticate one request, and are not secret afterwards. */
const SIGNATURE = /^AWS4-/

/** A credential that a provider got with a request, which the response must not show to the client. */
export interface SentSecrets {
  /** @returns the text without them */
  hideIn(text: string): string
  /** The same for bytes of any content, JSON included. */
  hideInBytes(bytes: Uint8Array): Uint8Array
  /** Hides them in all fields. */
  hideInHead(head: Head): void
}

/**
 * The credentials in the request of an attempt. Only for responses that are errors: it takes longer than a request may.
 * @returns undefined if there is none
 */
export function sentSecrets({ request, sentCredential }: Exchange): SentSecrets | undefined {
  const values = new Set<string>()
  if (sentCredential !== undefined) values.add(withoutScheme(sentCredential))
  for (const name of FIELDS) {
    for (const value of request.getAll(name)) if (!SIGNATURE.test(value)) values.add(withoutScheme(value))
  }
  // The longest first: one may be a part of another.
  const secrets = [...values].filter(({ length }) => length >= MIN_LENGTH).sort((a, b) => b.length - a.length)
  return secrets.length === 0 ? undefined : hiding(secrets)
}

function withoutScheme(value: string): string {
  return value.replace(/^(?:bearer|basic) +/i, '').trim()
}

function hiding(secrets: readonly string[]): SentSecrets {
  const pattern = new RegExp(secrets.map(patternOf).join('|'), 'g')
  const runs = secrets.map(longestRun)
  const hideIn = (text: string) => (runs.some((run) => text.includes(run)) ? text.replace(pattern, REDACTED) : text)
  return {
    hideIn,
    hideInBytes(bytes) {
      // Byte text, as the credentials are.
      const text = decodeLatin1(bytes, 0, bytes.length)
      const hidden = hideIn(text)
      return hidden === text ? bytes : bytesOf(hidden)
    },
    hideInHead(head) {
      // A reason phrase of the provider could have one: that of the status replaces it.
      const { status } = head
      head.status = status
      const changed = new Set<string>()
      head.each((name, value) => {
        if (hideIn(value) !== value) changed.add(name)
      })
      for (const name of changed) {
        const values = head.getAll(name)
        head.remove(name)
        for (const value of values) head.append(name, hideIn(value))
      }
    },
  }
}

/** Providers quote a credential in JSON, where each sign may be escaped, or in a URL. */
function patternOf(secret: string): string {
  return secret.replace(/[^0-9A-Za-z]/g, (sign) => {
    const hex = sign.charCodeAt(0).toString(16).padStart(2, '0')
    const escaped = sign === '-' || sign === '_' ? sign : `\\${sign}`
    const anyCase = hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)
    return `(?:\\\\?${escaped}|\\\\u00${anyCase}|%${anyCase})`
  })
}

/** All ways to quote a secret have its letters and digits in common. */
function longestRun(secret: string): string {
  return secret.split(/[^0-9A-Za-z]+/).reduce((longest, run) => (run.length > longest.length ? run : longest), '')
}
