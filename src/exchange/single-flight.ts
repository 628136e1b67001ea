import { CallError } from './call.ts'

interface Flight<T> {
  readonly result: Promise<T>
  readonly abandoned: AbortController
  waiters: number
}

/**
 * Makes at most one call per key at a time: requests for a key whose call is in progress share the result of that call. A call without
 * waiters is canceled.
 */
export class SingleFlight<T> {
  /** By key. */
  readonly #flights = new Map<string, Flight<T>>()

  isRunning(key: string): boolean {
    return this.#flights.has(key)
  }

  /**
   * Waits for the call of a key.
   * @param start makes the call; used only if none is in progress. Its signal is aborted when the last waiter leaves
   * @param signal ends this wait: the result is then a `CallError` with the failure `cancelled`
   */
  run(key: string, start: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    if (signal.aborted) return Promise.reject(new CallError('cancelled'))
    const flight = this.#flights.get(key) ?? this.#begin(key, start)
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const leave = () => {
      reject(new CallError('cancelled'))
      this.#leave(key, flight)
    }
    flight.waiters++
    signal.addEventListener('abort', leave, { once: true })
    void flight.result.then(resolve, reject).then(() => signal.removeEventListener('abort', leave))
    return promise
  }

  #begin(key: string, start: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const abandoned = new AbortController()
    const result = start(abandoned.signal).finally(() => this.#forget(key, flight))
    const flight: Flight<T> = { result, abandoned, waiters: 0 }
    this.#flights.set(key, flight)
    return flight
  }

  #leave(key: string, flight: Flight<T>): void {
    flight.waiters--
    if (flight.waiters > 0) return
    this.#forget(key, flight)
    flight.abandoned.abort()
  }

  /** The next request starts a new call, even if an abandoned one has not ended yet. */
  #forget(key: string, flight: Flight<T>): void {
    if (this.#flights.get(key) === flight) this.#flights.delete(key)
  }
}
