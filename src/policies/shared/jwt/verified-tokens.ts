import type { Identity } from '#exchange/exchange.ts'
import type { KeySet } from '../authentication/read-key-set.ts'

/** A validated token. */
export interface ValidToken {
  readonly identity: NonNullable<Identity['jwt']>
  /** Seconds since the epoch, without the clock skew. */
  readonly expires: number
  /** Its key set, and the keys of the set when the token was validated. */
  readonly keySet: Pick<KeySet, 'keys'>
  readonly keys: KeySet['keys']
}

/** Two generations take a few megabytes for tokens of the usual size; fewer large tokens fit. */
const PER_GENERATION = 2048
const CHARS_PER_GENERATION = 4 * 1024 * 1024

/** Number of places for the tokens that were used last; a power of two. */
const RECENT = 256

/**
 * Cache of valid tokens by their text: verifying a signature costs a hundred times as much as a look-up. It is bounded; tokens that were
 * not used recently are evicted first, in whole generations.
 */
export class VerifiedTokens {
  readonly #perGeneration: number
  #young = new Map<string, ValidToken>()
  #old = new Map<string, ValidToken>()
  #youngChars = 0
  /** Used lately, at the place that the end of the signature determines: comparing a token costs a fraction of hashing it. */
  readonly #recent: (ValidToken | undefined)[] = new Array<undefined>(RECENT).fill(undefined)

  constructor(perGeneration = PER_GENERATION) {
    this.#perGeneration = perGeneration
  }

  get(text: string): ValidToken | undefined {
    const place = placeOf(text)
    const recent = this.#recent[place]
    if (recent?.identity.token === text) return recent
    const token = this.#find(text)
    if (token !== undefined) this.#recent[place] = token
    return token
  }

  #find(text: string): ValidToken | undefined {
    const token = this.#young.get(text)
    if (token !== undefined) return token
    const old = this.#old.get(text)
    if (old !== undefined) this.add(old)
    return old
  }

  add(token: ValidToken): void {
    const text = token.identity.token
    if (this.#young.size >= this.#perGeneration || this.#youngChars + text.length > CHARS_PER_GENERATION) {
      this.#old = this.#young
      this.#young = new Map()
      this.#youngChars = 0
    }
    this.#young.set(text, token)
    this.#youngChars += text.length
  }
}

/** The last characters of a signature are as good as random; each but the very last stands for six bits. */
function placeOf(text: string): number {
  const end = text.length
  return (text.charCodeAt(end - 2) + (text.charCodeAt(end - 3) << 6)) & (RECENT - 1)
}
