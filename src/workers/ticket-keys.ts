import { randomBytes } from 'node:crypto'
import { clock } from '#base/clock.ts'

/** One key each to name, encrypt and authenticate TLS session tickets (RFC 5077, 4). */
const TICKET_KEY_BYTES = 48

/** Who gets hold of a set of keys can read the sessions of its time (RFC 9325, 3.4 and 7.4). */
const LIFE_MS = 43_200_000

/**
 * Keys for session tickets. All workers of an instance have the same, so each resumes what another began; nobody else has them, and
 * nothing of them is kept.
 */
export class TicketKeys {
  current: Uint8Array = randomBytes(TICKET_KEY_BYTES)
  readonly #changed: (keys: Uint8Array) => void
  #timer: { cancel(): void }

  /** @param changed told of new keys, every twelve hours until `close` */
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
