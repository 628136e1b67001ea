import { clock } from '#base/clock.ts'

/** Silence after which the messages API sends a ping, so that nothing between provider and client takes the connection for dead. */
const SILENCE_MS = 15_000

/** Calls a function whenever a stream has been silent for a while. */
export class StreamPings {
  readonly #ping: () => void
  #wroteMs = clock.monotonic()
  #timer: { cancel(): void } | undefined

  constructor(ping: () => void) {
    this.#ping = ping
    this.#wait(SILENCE_MS)
  }

  /** Something was sent. */
  wrote(): void {
    this.#wroteMs = clock.monotonic()
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #wait(ms: number): void {
    this.#timer = clock.after(ms, () => {
      const leftMs = this.#wroteMs + SILENCE_MS - clock.monotonic()
      if (leftMs > 0) return this.#wait(leftMs)
      this.#wait(SILENCE_MS)
      this.#ping()
    })
  }
}
