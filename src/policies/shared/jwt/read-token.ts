import { decodeCanonical } from '#base/base64url.ts'
import { bytesOf } from '#base/byte-text.ts'
import { parseExactJson } from '#base/exact-json.ts'
import type { JsonObject } from '#base/json.ts'
import { EXACT_NAMES, findAmbiguousMember } from '#base/json-ambiguity.ts'
import type { TokenFailure } from './token-failure.ts'

/** A parsed token whose signature has not been verified (RFC 7519, 7.2; RFC 7515, 5.2). */
export interface UnverifiedToken {
  readonly algorithm: string
  readonly kid: string
  readonly claims: JsonObject
  /** The signed bytes. */
  readonly signed: Uint8Array
  readonly signature: Uint8Array
}

/** Longer than the tokens of identity providers, and short enough to parse for unauthenticated clients. */
const MAX_LENGTH = 16_384

const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]*$/
const decoder = new TextDecoder('utf-8', { fatal: true })

/** Parses a token in compact form. Requires `kid`, and refuses extensions (`crit`), none of which is supported. */
export function readToken(text: string): UnverifiedToken | TokenFailure {
  if (text.length > MAX_LENGTH) return 'too-long'
  if (!COMPACT.test(text)) return 'malformed'
  const [header, payload, signature] = text.split('.').map(decodeCanonical)
  const names = objectIn(header)
  const claims = objectIn(payload)
  if (names === 'duplicate-member' || claims === 'duplicate-member') return 'duplicate-member'
  const { alg, kid, crit } = names ?? {}
  if (typeof alg !== 'string' || claims === undefined || signature === undefined) return 'malformed'
  if (crit !== undefined) return 'critical-extension'
  if (typeof kid !== 'string') return 'no-kid'
  return { algorithm: alg, kid, claims, signature, signed: bytesOf(text.slice(0, text.lastIndexOf('.'))) }
}

/**
 * Parses an object. Names are case-sensitive; duplicates are refused, because parsers differ in which one they use (RFC 7519, 4; RFC 8725,
 * 2.4).
 */
function objectIn(bytes: Uint8Array | undefined): JsonObject | 'duplicate-member' | undefined {
  try {
    const text = decoder.decode(bytes)
    const value = parseExactJson(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    return findAmbiguousMember(text, EXACT_NAMES) === undefined ? (value as JsonObject) : 'duplicate-member'
  } catch {
    // Invalid UTF-8 or JSON, or too deeply nested.
    return undefined
  }
}
