import { clock } from '#base/clock.ts'

const MAX_FAILURES = 10
const WINDOW_MS = 60_000
const MAX_NAMES = 10_000

/** Slows down whoever guesses passwords: after ten failures in a minute, a user cannot sign in for the rest of it. */
export class FailureLimit {
  /** By realm and name; at most `MAX_NAMES`, oldest first. */
  readonly #failures = new Map<string, { readonly sinceMs: number; readonly count: number }>()

  isBlocked(realm: string, username: string): boolean {
    return (this.#recent(keyOf(realm, username))?.count ?? 0) >= MAX_FAILURES
  }

  note(realm: string, username: string): void {
    const key = keyOf(realm, username)
    const recent = this.#recent(key)
    if (recent === undefined) {
      this.#failures.delete(key)
      if (this.#failures.size >= MAX_NAMES) this.#failures.delete(this.#failures.keys().next().value!)
    }
    this.#failures.set(key, { sinceMs: recent?.sinceMs ?? clock.now(), count: (recent?.count ?? 0) + 1 })
  }

  #recent(key: string) {
    const known = this.#failures.get(key)
    return known !== undefined && clock.now() - known.sinceMs < WINDOW_MS ? known : undefined
  }
}

function keyOf(realm: string, username: string): string {
  return `${realm}/${username.toLowerCase()}`
}
