import type { Identity } from '#exchange/exchange.ts'
import type { KeySet } from '../../shared/authentication/read-key-set.ts'

/** A token that validated. */
export interface ValidToken {
  readonly identity: NonNullable<Identity['jwt']>
  /** Seconds since the epoch; the leeway is not in it. */
  readonly expires: number
  /** Where its key is, and the keys that were there when it was found valid. */
  readonly keySet: Pick<KeySet, 'keys'>
  readonly keys: KeySet['keys']
}

/** Two of them fill a few megabytes with tokens of the usual size; of larger ones there are fewer. */
const PER_GENERATION = 2048
const CHARS_PER_GENERATION = 4 * 1024 * 1024

/**
 * Tokens that were found valid, by their text: a signature costs a hundred times what looking one up does. Bounded; what was not
 * used for long goes first, in whole generations.
 */
export class VerifiedTokens {
  readonly #perGeneration: number
  #young = new Map<string, ValidToken>()
  #old = new Map<string, ValidToken>()
  #youngChars = 0

  constructor(perGeneration = PER_GENERATION) {
    this.#perGeneration = perGeneration
  }

  get(text: string): ValidToken | undefined {
    const token = this.#young.get(text)
    if (token !== undefined) return token
    const old = this.#old.get(text)
    if (old !== undefined) this.add(text, old)
    return old
  }

  add(text: string, token: ValidToken): void {
    if (this.#young.size >= this.#perGeneration || this.#youngChars + text.length > CHARS_PER_GENERATION) {
      this.#old = this.#young
      this.#young = new Map()
      this.#youngChars = 0
    }
    this.#young.set(text, token)
    this.#youngChars += text.length
  }
}
