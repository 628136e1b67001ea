import { clock } from '#base/clock.ts'
import type { ConnectFailure } from '../failure.ts'
import { type TimerWheel, WheelTimer } from '../timer-wheel.ts'

/** A request that waits for a connection. */
export interface Waiting {
  /** The wait has timed out or failed, and the request was removed from the queue. */
  failUnsent(failure: ConnectFailure): void
}

export interface WaitingLineSettings {
  readonly wheel: TimerWheel
  /** Maximum wait. */
  readonly timeoutMs: number
  /** The failure of requests that have waited this long. */
  readonly tooLate: () => ConnectFailure
}

/** The arrival of a request. */
interface Arrival {
  /** Monotonic milliseconds. */
  readonly ms: number
  /** Counts the arrivals. */
  readonly number: number
}

/** Requests that wait for a connection, in order of arrival. One timer serves all of them. */
export class WaitingLine<Waiter extends Waiting> {
  readonly #settings: WaitingLineSettings
  readonly #waiters = new Map<Waiter, Arrival>()
  readonly #timer = new WheelTimer(() => this.#expire())

  #arrived = 0

  constructor(settings: WaitingLineSettings) {
    this.#settings = settings
  }

  get size(): number {
    return this.#waiters.size
  }

  /** The last arrival so far, for `failUpTo`. */
  get lastArrival(): number {
    return this.#arrived
  }

  add(waiter: Waiter): void {
    this.#waiters.set(waiter, { ms: clock.monotonic(), number: ++this.#arrived })
    if (this.#waiters.size === 1) this.#settings.wheel.arm(this.#timer, this.#settings.timeoutMs)
  }

  /** Removes a request that no longer waits. */
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

  /**
   * Fails the requests that had arrived when an attempt to connect began, which has failed. Later ones, such as retries of these, need an
   * attempt of their own.
   */
  failUpTo(lastArrival: number, failure: ConnectFailure): void {
    for (const [waiter, { number }] of this.#waiters) {
      if (number > lastArrival) return
      this.delete(waiter)
      waiter.failUnsent(failure)
    }
  }

  #expire(): void {
    const { wheel, timeoutMs, tooLate } = this.#settings
    const before = clock.monotonic() - timeoutMs
    for (const [waiter, { ms }] of this.#waiters) {
      if (ms > before) break
      this.#waiters.delete(waiter)
      waiter.failUnsent(tooLate())
    }
    for (const { ms } of this.#waiters.values()) {
      wheel.arm(this.#timer, ms - before)
      break
    }
  }
}

/** The failure when all connections were busy for the maximum wait. */
export function waitedTooLong(timeoutMs: number): ConnectFailure {
  return { code: 'wait-timeout', detail: `no connection was free within ${timeoutMs} ms` }
}

/** The failure when the time limit of the request ended first. */
export const LATE_WAITING: ConnectFailure = { code: 'wait-timeout', detail: 'no connection was free in time' }

export function tooManyWaiting(maxWaiting: number): ConnectFailure {
  return {
    code: 'too-many-waiting',
    detail: `all connections are busy, and the limit of queued requests (${maxWaiting}) is reached`,
  }
}
