import { clock } from '#base/clock.ts'

/** Replaces `clock`: the test advances the time and fires timers. */
export class VirtualTime implements Disposable {
  readonly #real = { ...clock }
  readonly #timers = new Set<{ readonly at: number; readonly run: () => void }>()
  #now: number

  /** @param now start of both clocks, in milliseconds since the epoch */
  constructor(now = 1_800_000_000_000) {
    this.#now = now
    clock.now = () => this.#now
    clock.monotonic = () => this.#now
    clock.after = (ms, run) => {
      const timer = { at: this.#now + ms, run }
      this.#timers.add(timer)
      return { cancel: () => void this.#timers.delete(timer) }
    }
  }

  /** Milliseconds until the next timer fires; undefined if there is none. */
  get nextMs(): number | undefined {
    const times = [...this.#timers].map(({ at }) => at - this.#now)
    return times.length === 0 ? undefined : Math.min(...times)
  }

  /** Advances the time; promises that a timer resolves run before the next timer fires. */
  async pass(ms: number): Promise<void> {
    await settled()
    const end = this.#now + ms
    for (;;) {
      const due = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
      if (due === undefined) break
      this.#timers.delete(due)
      this.#now = due.at
      due.run()
      await settled()
    }
    this.#now = end
    await settled()
  }

  [Symbol.dispose](): void {
    Object.assign(clock, this.#real)
  }
}

/** Resolves when all promises that do not depend on timers have settled. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
