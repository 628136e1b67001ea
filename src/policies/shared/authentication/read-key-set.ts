import { decodeBase64Url } from '#base/base64url.ts'
import { parseJson } from '#base/parse-json.ts'
import type { ImportKey, PublicJwk, SignatureAlgorithm, VerifyingKey } from '#base/verifying-key.ts'

/** A key for verifying tokens. */
export interface TokenKey {
  /** Algorithms that the key may verify: those of its type, or only its own `alg` if it has one. */
  readonly algorithms: readonly SignatureAlgorithm[]
  readonly key: VerifyingKey
}

/** A parsed JSON Web Key Set. */
export interface KeySet {
  /** By `kid`; several keys may share one. */
  readonly keys: ReadonlyMap<string, readonly TokenKey[]>
  /** Problems of the set or of single keys, as text. Keys for other purposes are not a problem. */
  readonly faults: readonly string[]
}

/** A key set that has not been read. */
export const NO_KEY_SET: KeySet = { keys: new Map(), faults: [] }

/** A member of `keys` before validation. */
type Members = Readonly<Record<string, unknown>>

type NamedKey = TokenKey & { readonly kid: string }

/** A key that cannot be used; with a fault if it was intended for signatures. */
interface Unusable {
  readonly fault: string | undefined
}

const FOR_OTHER_USE: Unusable = { fault: undefined }

/** Limits the work for large sets: every thread imports every key. */
const MAX_KEYS = 1000
/** Limits the work for one token, which tries all keys with its `kid`. */
const MAX_KEYS_OF_KID = 16

/** Parses a JSON Web Key Set (RFC 7517, 5). Unusable keys are left out; the others work. */
export function readKeySet(text: string, importKey: ImportKey): KeySet {
  const members = membersOf(text)
  if (typeof members === 'string') return { keys: new Map(), faults: [members] }
  const keys = new Map<string, TokenKey[]>()
  const faults: string[] = []
  members.forEach((jwk, index) => {
    const read = readKey(jwk, importKey)
    const fault = 'fault' in read ? read.fault : addKey(keys, read)
    if (fault !== undefined) faults.push(`keys[${index}] is not used: ${fault}`)
  })
  return { keys, faults }
}

/** Whether a key of a set has members that only its owner may know (RFC 7518, 6). */
export function hasPrivateKey(text: string): boolean {
  const members = membersOf(text)
  return typeof members !== 'string' && members.some((jwk) => isObject(jwk) && ('d' in jwk || 'k' in jwk))
}

/** @returns why the key is not used */
function addKey(keys: Map<string, TokenKey[]>, key: NamedKey): string | undefined {
  const same = keys.get(key.kid)
  if (same === undefined) keys.set(key.kid, [key])
  else if (same.length < MAX_KEYS_OF_KID) same.push(key)
  else return `${MAX_KEYS_OF_KID} other keys have the same "kid"`
  return undefined
}

/** @returns the problem, if the text is not a key set */
function membersOf(text: string): readonly unknown[] | string {
  let set: unknown
  try {
    set = parseJson(text)
  } catch {
    return 'is not JSON'
  }
  if (!isObject(set) || !Array.isArray(set.keys)) return 'is not a JSON Web Key Set: it has no array "keys"'
  return set.keys.length > MAX_KEYS ? `has more than ${MAX_KEYS} keys` : set.keys
}

function readKey(jwk: unknown, importKey: ImportKey): NamedKey | Unusable {
  if (!isObject(jwk)) return { fault: 'it is not an object' }
  const { kid, use, key_ops: operations } = jwk
  if (use !== undefined && use !== 'sig') return FOR_OTHER_USE
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes('verify'))) {
    return FOR_OTHER_USE
  }
  const form = formOf(jwk)
  if ('fault' in form) return form
  if (typeof kid !== 'string') return { fault: 'it has no "kid", so no token can refer to it' }
  const key = importKey(form.jwk)
  return key === undefined
    ? { fault: 'its members do not form a valid key' }
    : { kid, key, algorithms: form.algorithms }
}

/** The public members of a key of a supported type, with the algorithms of that type. */
function formOf(jwk: Members): { readonly jwk: PublicJwk; readonly algorithms: SignatureAlgorithm[] } | Unusable {
  const form = formByType(jwk)
  if ('fault' in form || jwk.alg === undefined) return form
  const algorithms = form.algorithms.filter((algorithm) => algorithm === jwk.alg)
  // An encryption algorithm, or one that the gateway does not accept (decision A-55).
  return algorithms.length === 0 ? FOR_OTHER_USE : { jwk: form.jwk, algorithms }
}

function formByType({ kty, crv, n, e, x, y }: Members): ReturnType<typeof formOf> {
  if (kty === 'RSA') {
    if (typeof n !== 'string' || typeof e !== 'string') return { fault: 'it has no "n" or no "e"' }
    if (bitsOf(n) < MIN_RSA_BITS) return { fault: `an RSA key must have at least ${MIN_RSA_BITS} bits` }
    if (bitsOf(n) > MAX_RSA_BITS) return { fault: `an RSA key must have at most ${MAX_RSA_BITS} bits` }
    if (bitsOf(e) > MAX_EXPONENT_BITS) return { fault: `its "e" must have at most ${MAX_EXPONENT_BITS} bits` }
    return { jwk: { kty, n, e }, algorithms: ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] }
  }
  if (kty === 'EC') {
    if (crv !== 'P-256' && crv !== 'P-384' && crv !== 'P-521') return { fault: 'its curve is not supported' }
    if (typeof x !== 'string' || typeof y !== 'string') return { fault: 'it has no "x" or no "y"' }
    return { jwk: { kty, crv, x, y }, algorithms: [CURVE_ALGORITHMS[crv]] }
  }
  if (kty === 'OKP') {
    if (crv !== 'Ed25519') return { fault: 'its curve is not supported' }
    if (typeof x !== 'string') return { fault: 'it has no "x"' }
    return { jwk: { kty, crv, x }, algorithms: ['EdDSA'] }
  }
  // Symmetric keys are not accepted: anyone who can verify with one can also forge tokens.
  return kty === 'oct' ? FOR_OTHER_USE : { fault: 'its key type is not supported' }
}

/** RFC 7518, 3.3 and 3.5. */
const MIN_RSA_BITS = 2048
/** Limits the time of a check, which blocks its thread: one with a key of 16,384 bits takes 16 ms. */
const MAX_RSA_BITS = 8192
const MAX_EXPONENT_BITS = 64
const CURVE_ALGORITHMS = { 'P-256': 'ES256', 'P-384': 'ES384', 'P-521': 'ES512' } as const

/** Length of a base64url number in bits, without leading zeros. */
function bitsOf(number: string): number {
  const bytes = decodeBase64Url(number) ?? []
  const first = bytes.findIndex((byte) => byte !== 0)
  return first < 0 ? 0 : 8 * (bytes.length - first) - Math.clz32(bytes[first]!) + 24
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
