import { createHmac, randomBytes } from 'node:crypto'
import { clock } from '#base/clock.ts'

const KEPT_MS = 60_000
const MAX_KEPT = 4096

/**
 * Remembers passwords that were right, for a minute, so that a client pays for a slow hash once a minute and not with each request. It holds
 * keyed digests of hash and password: a new hash has other digests, so nothing outlives a change of the users (decision A-67).
 */
export class PasswordMemory {
  readonly #key = randomBytes(32)
  /** Monotonic milliseconds until which a digest counts; the oldest first. */
  readonly #until = new Map<string, number>()

  /** Identifies a check. The texts contain no NUL, so different ones have different digests. */
  digestOf(...texts: readonly string[]): string {
    return createHmac('sha256', this.#key).update(texts.join('\0')).digest('latin1')
  }

  has(digest: string): boolean {
    return (this.#until.get(digest) ?? 0) > clock.monotonic()
  }

  add(digest: string): void {
    // A digest that is set again would keep its place in the map.
    this.#until.delete(digest)
    if (this.#until.size >= MAX_KEPT) this.#until.delete(this.#until.keys().next().value!)
    this.#until.set(digest, clock.monotonic() + KEPT_MS)
  }
}
