import { clock } from '#base/clock.ts'

/** Something with output to write. */
export interface Output {
  flush(): void
}

/** Outputs that are written in one turn of the event loop: a few milliseconds. */
const AT_ONCE = 100
/** Length of the pause after a turn, in turns. */
const PAUSE = 1

/**
 * Writes the output of many watches. A write to a connection takes far longer than the encoding of an event, so a thousand watches would
 * take the whole thread. After each turn, output pauses for as long as the turn took: it takes at most half of the thread, and
 * events that arrive meanwhile leave in one write for each watch. Without such load, output leaves at once.
 */
export class PacedOutput {
  /** In the order in which they are written. */
  readonly #waiting = new Set<Output>()
  #pausedUntilMs = 0
  /** The next turn is scheduled, or this one has not ended. */
  #isScheduled = false
  #isClosed = false

  /** Notes output. It is written by the next `flush`, or in a later turn. */
  add(output: Output): void {
    this.#waiting.add(output)
  }

  remove(output: Output): void {
    this.#waiting.delete(output)
  }

  /** Writes what is waiting, now or after the pause. */
  flush(): void {
    if (this.#isScheduled || this.#isClosed || this.#waiting.size === 0) return
    this.#isScheduled = true
    const pauseMs = this.#pausedUntilMs - clock.monotonic()
    if (pauseMs <= 0) this.#write()
    else clock.after(pauseMs, () => this.#write())
  }

  close(): void {
    this.#isClosed = true
  }

  #write(): void {
    const startMs = clock.monotonic()
    let count = 0
    for (const output of this.#waiting) {
      if (count === AT_ONCE) break
      count += 1
      this.#waiting.delete(output)
      output.flush()
    }
    // Connections send what they got in ticks that are queued by now, which is most of the work.
    process.nextTick(() => {
      const endMs = clock.monotonic()
      this.#pausedUntilMs = endMs + PAUSE * (endMs - startMs)
      this.#isScheduled = false
      this.flush()
    })
  }
}
