import { decodeBase64Url } from '#base/base64url.ts'
import { bytesOf } from '#base/byte-text.ts'
import { parseExactJson } from '#base/exact-json.ts'
import { EXACT_NAMES, findAmbiguousMember } from '#base/json-ambiguity.ts'
import type { JsonObject } from '#exchange/exchange.ts'
import type { TokenFailure } from './token-failure.ts'

/** A signed token taken apart; nothing in it can be trusted yet (RFC 7519, 7.2; RFC 7515, 5.2). */
export interface UnverifiedToken {
  readonly algorithm: string
  readonly kid: string
  readonly claims: JsonObject
  /** What the signature was made over. */
  readonly signed: Uint8Array
  readonly signature: Uint8Array
}

/** Longer than what identity providers issue, and short enough to be read for everybody who knocks. */
const MAX_LENGTH = 16_384

const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]*$/
const decoder = new TextDecoder('utf-8', { fatal: true })

/** Reads the compact form of a token, whose keys must be named and which must not ask for what we do not know (`crit`). */
export function readToken(text: string): UnverifiedToken | TokenFailure {
  if (text.length > MAX_LENGTH) return 'too-long'
  if (!COMPACT.test(text)) return 'malformed'
  const [header, payload, signature] = text.split('.').map(decodeBase64Url)
  const names = objectIn(header)
  const claims = objectIn(payload)
  if (names === 'duplicate-member' || claims === 'duplicate-member') return 'duplicate-member'
  const { alg, kid, crit } = names ?? {}
  if (typeof alg !== 'string' || claims === undefined || signature === undefined) return 'malformed'
  if (crit !== undefined) return 'critical-extension'
  if (typeof kid !== 'string') return 'no-kid'
  return { algorithm: alg, kid, claims, signature, signed: bytesOf(text.slice(0, text.lastIndexOf('.'))) }
}

/** Names keep their case; one that is there twice means two things to two readers (RFC 7519, 4; RFC 8725, 2.4). */
function objectIn(bytes: Uint8Array | undefined): JsonObject | 'duplicate-member' | undefined {
  try {
    const text = decoder.decode(bytes)
    const value = parseExactJson(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    return findAmbiguousMember(text, EXACT_NAMES) === undefined ? (value as JsonObject) : 'duplicate-member'
  } catch {
    // No UTF-8, no JSON, or nested too deep to be read.
    return undefined
  }
}
