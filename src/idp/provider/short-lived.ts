import { createHash, randomBytes } from 'node:crypto'
import { clock } from '#base/clock.ts'

interface Entry<T> {
  readonly value: T
  readonly endsMs: number
  isUsed: boolean
}

/** Values behind random tokens: codes, sessions, refresh tokens. They are in memory only, and only digests of the tokens are. */
export class ShortLived<T> {
  /** By digest, oldest first; at most `maxEntries`. */
  readonly #entries = new Map<string, Entry<T>>()
  readonly #lifetimeMs: number
  readonly #maxEntries: number

  constructor(lifetimeMs: number, maxEntries: number) {
    this.#lifetimeMs = lifetimeMs
    this.#maxEntries = maxEntries
  }

  /** @returns the token. The oldest value is forgotten when there are too many */
  put(value: T): string {
    const token = randomBytes(32).toString('base64url')
    if (this.#entries.size >= this.#maxEntries) this.#entries.delete(this.#entries.keys().next().value!)
    this.#entries.set(digest(token), { value, endsMs: clock.now() + this.#lifetimeMs, isUsed: false })
    return token
  }

  /** @returns undefined if the token is unknown or used, or its time is over */
  get(token: string | undefined): T | undefined {
    const entry = this.#entry(token)
    return entry?.isUsed === false ? entry.value : undefined
  }

  /** The value, for the last time. */
  take(token: string | undefined): T | undefined {
    const value = this.get(token)
    const entry = this.#entry(token)
    if (entry !== undefined) entry.isUsed = true
    return value
  }

  /** The value of a token that `take` has returned before: somebody has a copy of the token. */
  taken(token: string | undefined): T | undefined {
    const entry = this.#entry(token)
    return entry?.isUsed === true ? entry.value : undefined
  }

  /** Forgets all values that match. */
  remove(matches: (value: T) => boolean): void {
    for (const [key, { value }] of this.#entries) if (matches(value)) this.#entries.delete(key)
  }

  #entry(token: string | undefined): Entry<T> | undefined {
    const entry = token === undefined ? undefined : this.#entries.get(digest(token))
    return entry !== undefined && clock.now() < entry.endsMs ? entry : undefined
  }
}

/** Of a random token, which cannot be guessed from it. */
export function digest(token: string): string {
  return createHash('sha256').update(token).digest('base64url')
}
