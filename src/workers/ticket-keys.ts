import { randomBytes } from 'node:crypto'
import { clock } from '#base/clock.ts'

/** One key each for naming, encrypting and authenticating TLS session tickets (RFC 5077, 4). */
const TICKET_KEY_BYTES = 48

/** A leaked set of keys exposes the sessions of its lifetime (RFC 9325, 3.4 and 7.4). */
const LIFE_MS = 43_200_000

/**
 * Keys for session tickets. All workers of an instance share them, so each can resume sessions of the others. They never leave the instance
 * and are not stored.
 */
export class TicketKeys {
  current: Uint8Array = randomBytes(TICKET_KEY_BYTES)
  readonly #changed: (keys: Uint8Array) => void
  #timer: { cancel(): void }

  /** @param changed called with new keys, every twelve hours until `close` */
  constructor(changed: (keys: Uint8Array) => void) {
    this.#changed = changed
    this.#timer = this.#changeLater()
  }

  close(): void {
    this.#timer.cancel()
  }

  #changeLater(): { cancel(): void } {
    return clock.after(LIFE_MS, () => {
      this.current = randomBytes(TICKET_KEY_BYTES)
      this.#timer = this.#changeLater()
      this.#changed(this.current)
    })
  }
}
