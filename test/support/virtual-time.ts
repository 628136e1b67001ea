import { clock } from '#base/clock.ts'

/** Takes the place of `clock`: time goes on when the test says so, and timers fire then. */
export class VirtualTime implements Disposable {
  readonly #real = { ...clock }
  readonly #timers = new Set<{ readonly at: number; readonly run: () => void }>()
  #now: number

  /** @param now milliseconds since the epoch, and of the monotonic clock */
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

  /** When the next timer fires, in milliseconds from now; undefined: there is none. */
  get nextMs(): number | undefined {
    const times = [...this.#timers].map(({ at }) => at - this.#now)
    return times.length === 0 ? undefined : Math.min(...times)
  }

  /** Lets time pass; what a timer begins has its turn before the next one fires. */
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

/** Promises that can settle without time have. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
