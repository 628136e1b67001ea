import { createHash, randomBytes } from 'node:crypto'
import { clock } from '#base/clock.ts'

/** Values behind random tokens: codes, sessions, refresh tokens. They are in memory only, and only digests of the tokens are. */
export class ShortLived<T> {
  /** By digest, oldest first; at most `maxEntries`. */
  readonly #entries = new Map<string, { readonly value: T; readonly endsMs: number }>()
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
    this.#entries.set(digest(token), { value, endsMs: clock.now() + this.#lifetimeMs })
    return token
  }

  /** @returns undefined if the token is unknown or its time is over */
  get(token: string | undefined): T | undefined {
    if (token === undefined) return undefined
    const entry = this.#entries.get(digest(token))
    return entry !== undefined && clock.now() < entry.endsMs ? entry.value : undefined
  }

  /** The value, for the last time. */
  take(token: string | undefined): T | undefined {
    const value = this.get(token)
    if (token !== undefined) this.#entries.delete(digest(token))
    return value
  }

  /** Forgets all values that match. */
  remove(matches: (value: T) => boolean): void {
    for (const [key, { value }] of this.#entries) if (matches(value)) this.#entries.delete(key)
  }
}

function digest(token: string): string {
  return createHash('sha256').update(token).digest('base64url')
}
