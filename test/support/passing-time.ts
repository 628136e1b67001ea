import { clock } from '#base/clock.ts'
import { workerWheel } from '#net/timer-wheel.ts'
import { eventually } from './eventually.ts'

interface PassingTimer {
  /** Monotonic milliseconds. */
  readonly atMs: number
  readonly delayMs: number
  readonly run: () => void
  started: { cancel(): void }
}

/**
 * Replaces `clock`: time passes by itself, and a test may skip the time that a gateway in its thread would wait. Time limits of requests
 * that are over then end the requests at once.
 */
export class PassingTime implements Disposable {
  readonly #real = { ...clock }
  readonly #timers = new Set<PassingTimer>()
  #aheadMs = 0

  constructor() {
    clock.now = () => this.#real.now() + this.#aheadMs
    clock.monotonic = () => this.#real.monotonic() + this.#aheadMs
    clock.after = (delayMs, run) => {
      const atMs = clock.monotonic() + delayMs
      const timer: PassingTimer = { atMs, delayMs, run, started: this.#real.after(delayMs, () => this.#fire(timer)) }
      this.#timers.add(timer)
      return { cancel: () => this.#stop(timer) }
    }
  }

  /** Advances the time. Timers that are due then fire in their order, after this call. */
  skip(ms: number): void {
    this.#aheadMs += ms
    const now = clock.monotonic()
    for (const timer of [...this.#timers].sort((a, b) => a.atMs - b.atMs)) {
      timer.started.cancel()
      timer.started = this.#real.after(Math.max(0, timer.atMs - now), () => this.#fire(timer))
    }
    // Otherwise limits that begin before its next step would count from the time before, and end too early.
    workerWheel.advance()
  }

  /**
   * Advances the time to the end of the timers that were started with this delay.
   * @returns whether there are any
   */
  skipTimers(delayMs: number): boolean {
    const ends = [...this.#timers].filter((timer) => timer.delayMs === delayMs).map(({ atMs }) => atMs)
    if (ends.length > 0) this.skip(Math.max(0, Math.max(...ends) - clock.monotonic()))
    return ends.length > 0
  }

  /** Waits as `eventually` does, while the time passes several times as fast. */
  sooner: typeof eventually = (name, look) =>
    eventually(name, () => {
      this.skip(100)
      return look()
    })

  /** Waits for what a time limit ends, while the time passes several times as fast. */
  async hurry<T>(awaited: Promise<T>): Promise<T> {
    let isSettled = false
    const settled = () => {
      isSettled = true
    }
    awaited.then(settled, settled)
    await this.sooner('the time limit ends it', () => isSettled)
    return awaited
  }

  #fire(timer: PassingTimer): void {
    if (this.#timers.delete(timer)) timer.run()
  }

  #stop(timer: PassingTimer): void {
    timer.started.cancel()
    this.#timers.delete(timer)
  }

  [Symbol.dispose](): void {
    for (const timer of this.#timers) timer.started.cancel()
    Object.assign(clock, this.#real)
  }
}
