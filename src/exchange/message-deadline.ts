import { clock } from '#base/clock.ts'

/**
 * A time limit for the answers to single messages of a call, which may go on for any time. Its owner starts it while it waits for the server and
 * stops it otherwise. The maker of the call binds it, because a request timeout in the destination's own policies replaces the default.
 */
export class MessageDeadline {
  #ms: number
  #expired: (() => void) | undefined
  #runs = false
  #timer: { cancel(): void } | undefined

  constructor(defaultMs: number) {
    this.#ms = defaultMs
  }

  /** @param ms replaces the default; 0: the default applies */
  bind(ms: number, expired: () => void): void {
    this.#expired = expired
    if (ms > 0) this.#ms = ms
    if (this.#runs) this.start()
  }

  /** Starts again. */
  start(): void {
    this.stop()
    this.#runs = true
    if (this.#expired !== undefined) this.#timer = clock.after(this.#ms, this.#expired)
  }

  stop(): void {
    this.#runs = false
    this.#timer?.cancel()
    this.#timer = undefined
  }

  get runs(): boolean {
    return this.#runs
  }
}
