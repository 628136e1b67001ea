import { clock } from '#base/clock.ts'
import type { ConnectFailure } from '../failure.ts'
import { type TimerWheel, WheelTimer } from '../timer-wheel.ts'

/** A request that waits for a connection. */
export interface Waiting {
  /** It has waited for long enough, and is in no line any more. */
  failUnsent(failure: ConnectFailure): void
}

export interface WaitingLineSettings {
  readonly wheel: TimerWheel
  /** No one waits longer. */
  readonly timeoutMs: number
  /** The failure of requests that have waited this long. */
  readonly tooLate: () => ConnectFailure
}

/** Requests that wait for a connection, in the order in which they came. One timer serves all of them. */
export class WaitingLine<Waiter extends Waiting> {
  readonly #settings: WaitingLineSettings
  /** With the time at which each came. */
  readonly #waiters = new Map<Waiter, number>()
  readonly #timer = new WheelTimer(() => this.#expire())

  constructor(settings: WaitingLineSettings) {
    this.#settings = settings
  }

  get size(): number {
    return this.#waiters.size
  }

  add(waiter: Waiter): void {
    this.#waiters.set(waiter, clock.monotonic())
    if (this.#waiters.size === 1) this.#settings.wheel.arm(this.#timer, this.#settings.timeoutMs)
  }

  /** It does not wait any more. */
  delete(waiter: Waiter): void {
    if (this.#waiters.delete(waiter) && this.#waiters.size === 0) this.#settings.wheel.remove(this.#timer)
  }

  /** Removes and returns the first request. */
  take(): Waiter | undefined {
    for (const waiter of this.#waiters.keys()) {
      this.delete(waiter)
      return waiter
    }
    return undefined
  }

  /** There will be no connection: the line is empty from now on. */
  failAll(failure: ConnectFailure): void {
    for (let waiter = this.take(); waiter !== undefined; waiter = this.take()) waiter.failUnsent(failure)
  }

  #expire(): void {
    const { wheel, timeoutMs, tooLate } = this.#settings
    const before = clock.monotonic() - timeoutMs
    for (const [waiter, sinceMs] of this.#waiters) {
      if (sinceMs > before) break
      this.#waiters.delete(waiter)
      waiter.failUnsent(tooLate())
    }
    for (const sinceMs of this.#waiters.values()) {
      wheel.arm(this.#timer, sinceMs - before)
      break
    }
  }
}

/** All connections have been busy for as long as a request waits for one. */
export function waitedTooLong(timeoutMs: number): ConnectFailure {
  return { code: 'wait-timeout', detail: `no connection was free within ${timeoutMs} ms` }
}

/** The time of a request was up before that. */
export const LATE_WAITING: ConnectFailure = { code: 'wait-timeout', detail: 'no connection was free in time' }

export function tooManyWaiting(maxWaiting: number): ConnectFailure {
  return { code: 'too-many-waiting', detail: `all connections are busy and ${maxWaiting} requests are queued` }
}
