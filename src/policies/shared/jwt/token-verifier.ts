import { bytesOf } from '#base/byte-text.ts'
import { numberIn } from '#base/exact-json.ts'
import type { JsonObject } from '#base/json.ts'
import type { SignatureAlgorithm } from '#base/verifying-key.ts'
import type { KeySet } from '../authentication/read-key-set.ts'
import { RemoteKeySet } from '../authentication/remote-key-set.ts'
import { readToken, type UnverifiedToken } from './read-token.ts'
import type { TokenFailure } from './token-failure.ts'
import { type ValidToken, VerifiedTokens } from './verified-tokens.ts'

/** A trusted issuer (specification 1, 5.3 `JWTProvider`). */
export interface Provider {
  /** Undefined: the key set alone decides. */
  readonly issuer: string | undefined
  /** Undefined: any audience. */
  readonly audiences: readonly string[] | undefined
  /** Inline, or fetched: then its keys change. */
  readonly keySet: KeySet | RemoteKeySet
}

/** Accepted clock skew of issuers, in seconds (decision A-57). */
const LEEWAY = 60

/** Validates tokens: known issuer, signature with one of its keys, audience, and times. */
export class TokenVerifier {
  readonly #providers: readonly Provider[]
  readonly #verified = new VerifiedTokens()

  constructor(providers: readonly Provider[]) {
    this.#providers = providers
  }

  /**
   * @param text byte text, as it was sent
   * @param nowMs since the epoch
   */
  verify(text: string, nowMs: number): ValidToken | TokenFailure {
    const now = nowMs / 1000
    const known = this.#verified.get(text)
    // A newly fetched key set may no longer have the key.
    if (known !== undefined && known.keySet.keys === known.keys) return now < known.expires + LEEWAY ? known : 'expired'
    const token = readToken(text)
    if (typeof token === 'string') return token
    const provider = this.#findProvider(token)
    if (typeof provider === 'string') return provider
    const failure = findFailureInTime(token.claims, now)
    if (failure !== undefined) return failure
    const { keySet } = provider
    const identity = { claims: token.claims, token: copyOf(text) }
    const valid = { identity, expires: numberIn(token.claims.exp)!, keySet, keys: keySet.keys }
    this.#verified.add(valid)
    return valid
  }

  /** The key sets that may have the missing key of a token after another fetch. None for a token that no key would make valid. */
  renewable(text: string, nowMs: number): readonly RemoteKeySet[] {
    const token = readToken(text)
    if (typeof token === 'string' || findFailureInTime(token.claims, nowMs / 1000) !== undefined) return []
    return this.#providers.flatMap(({ issuer, audiences, keySet }) => {
      const fits = isOf(issuer, token.claims.iss) && findFailureInAudience(token.claims.aud, audiences) === undefined
      return fits && keySet instanceof RemoteKeySet ? [keySet] : []
    })
  }

  /** The issuer of the token selects the providers; then the key is looked up in their key sets (decision A-54). */
  #findProvider(token: UnverifiedToken): Provider | TokenFailure {
    const { iss } = token.claims
    let failure = this.#failureOfIssuer(iss)
    for (const provider of this.#providers) {
      if (!isOf(provider.issuer, iss)) continue
      const found = findFailureWith(provider, token)
      if (found === undefined) return provider
      // If several providers have this issuer, the failure of the one with the key is the most specific.
      if (found !== 'unknown-kid') failure = found
    }
    return failure
  }

  /** The failure of tokens of an issuer while no key is found. */
  #failureOfIssuer(iss: JsonObject[string] | undefined): TokenFailure {
    const ours = this.#providers.filter(({ issuer }) => isOf(issuer, iss))
    if (ours.some(({ keySet }) => isMissing(keySet))) return 'not-fetched'
    if (ours.length > 0) return ours.some(({ keySet }) => keySet.keys.size > 0) ? 'unknown-kid' : 'no-keys'
    if (typeof iss !== 'string') return 'no-issuer'
    return this.#providers.some(({ issuer = '' }) => withoutSlash(issuer) === withoutSlash(iss))
      ? 'nearly-issuer'
      : 'other-issuer'
  }
}

/** Whether a token with this claim may be of a provider with this issuer. */
function isOf(issuer: string | undefined, iss: JsonObject[string] | undefined): boolean {
  return issuer === undefined || issuer === iss
}

function isMissing(keySet: Provider['keySet']): boolean {
  return keySet instanceof RemoteKeySet && !keySet.fetched
}

function findFailureWith({ keySet, audiences }: Provider, token: UnverifiedToken): TokenFailure | undefined {
  const named = keySet.keys.get(token.kid)
  if (named === undefined) return 'unknown-kid'
  // The key determines the algorithm; the header must match it (RFC 8725, 3.1).
  const algorithm = token.algorithm as SignatureAlgorithm
  const fitting = named.filter(({ algorithms }) => algorithms.includes(algorithm))
  if (fitting.length === 0) return 'other-algorithm'
  if (!fitting.some(({ key }) => key.verify(algorithm, token.signed, token.signature))) return 'signature'
  return findFailureInAudience(token.claims.aud, audiences)
}

/** @param audiences undefined: any */
export function findFailureInAudience(
  aud: JsonObject[string] | undefined,
  audiences: readonly string[] | undefined,
): TokenFailure | undefined {
  if (audiences === undefined) return undefined
  if (aud === undefined) return 'no-audience'
  const named: readonly unknown[] = Array.isArray(aud) ? aud : [aud]
  return named.some((one) => typeof one === 'string' && audiences.includes(one)) ? undefined : 'other-audience'
}

/** RFC 7519, 2, 4.1.4 and 4.1.5; `exp` is required (decision A-57). Times may be fractions with more digits than a double can hold. */
function findFailureInTime({ exp, nbf }: JsonObject, now: number): TokenFailure | undefined {
  const expires = numberIn(exp)
  if (expires === undefined) return 'no-expiry'
  if (now >= expires + LEEWAY) return 'expired'
  if (nbf === undefined) return undefined
  const from = numberIn(nbf)
  if (from === undefined) return 'bad-not-before'
  return now < from - LEEWAY ? 'not-yet' : undefined
}

const decoder = new TextDecoder()

/** A copy: the token as it was read is a part of the received head, which it would keep. */
function copyOf(token: string): string {
  return decoder.decode(bytesOf(token))
}

function withoutSlash(issuer: string): string {
  return issuer.endsWith('/') ? issuer.slice(0, -1) : issuer
}
