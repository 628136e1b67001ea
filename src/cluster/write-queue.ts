import { BackOff } from '#base/back-off.ts'
import { clock } from '#base/clock.ts'
import { type ApiUnreadable, isConflict, isOutage } from './api-unreadable.ts'

const PARALLEL = 4
/** Then another writer is faster each time, and the next attempt is later. */
const MOST_CONFLICTS = 5
const FIRST_DELAY_MS = 500
const LONGEST_DELAY_MS = 60_000

export interface WriteQueueOptions<T> {
  /**
   * Writes the value of a key into what the API has. It is called again, after a conflict (409) at once, after another error later.
   * @param conflicts so many attempts in a row: above 0, what was known of the object is out of date
   */
  readonly write: (key: string, value: T, conflicts: number) => Promise<void>
  /** Called with a message for the log. */
  readonly failed: (message: string) => void
  /** Of a delay, from 0 to 1; for tests. */
  readonly random?: () => number
}

interface Failure {
  readonly backOff: BackOff
  message: string | undefined
}

/**
 * Writes to a Kubernetes API, a few at a time. Of several values for one key, only the newest is written. A write that fails is repeated with
 * growing delays; while the API cannot be reached, all writes wait.
 */
export class WriteQueue<T> implements Disposable {
  readonly #options: WriteQueueOptions<T>
  readonly #waiting = new Map<string, T>()
  readonly #running = new Set<string>()
  /** Keys that wait for another attempt. */
  readonly #delayed = new Map<string, { cancel(): void }>()
  readonly #failures = new Map<string, Failure>()
  #outage: { readonly backOff: BackOff; wait: { cancel(): void } | undefined } | undefined
  #closed = false

  constructor(options: WriteQueueOptions<T>) {
    this.#options = options
  }

  put(key: string, value: T): void {
    if (this.#closed) return
    // In the order in which the keys came.
    this.#waiting.set(key, value)
    this.#start()
  }

  /** Writes that wait or are under way. */
  get length(): number {
    return this.#waiting.size + this.#running.size
  }

  /** Writes that are under way end; the others are dropped. */
  [Symbol.dispose](): void {
    this.#closed = true
    this.#waiting.clear()
    this.#outage?.wait?.cancel()
    for (const delay of this.#delayed.values()) delay.cancel()
    this.#delayed.clear()
  }

  #start(): void {
    if (this.#outage?.wait !== undefined) return
    // After an outage, one write shows whether it is over.
    const parallel = this.#outage === undefined ? PARALLEL : 1
    for (const [key, value] of this.#waiting) {
      if (this.#running.size >= parallel) return
      if (this.#running.has(key) || this.#delayed.has(key)) continue
      this.#waiting.delete(key)
      this.#running.add(key)
      void this.#run(key, value)
    }
  }

  async #run(key: string, value: T): Promise<void> {
    try {
      await this.#writeAgain(key, value)
      this.#failures.delete(key)
      this.#endOutage()
    } catch (error) {
      if (!this.#closed) this.#fail(key, value, error)
    }
    this.#running.delete(key)
    this.#start()
  }

  /** Each attempt reads what others have written. */
  async #writeAgain(key: string, value: T): Promise<void> {
    for (let conflicts = 0; ; conflicts++) {
      try {
        return await this.#options.write(key, value, conflicts)
      } catch (error) {
        if (!isConflict(error) || conflicts === MOST_CONFLICTS) throw error
      }
    }
  }

  #fail(key: string, value: T, error: unknown): void {
    // A newer one may have come meanwhile.
    if (!this.#waiting.has(key)) this.#waiting.set(key, value)
    const message = error instanceof Error ? error.message : String(error)
    if (concernsAll(error)) return this.#pause(message, error.retryAfterMs)
    this.#endOutage()
    const failure = this.#failures.get(key) ?? { backOff: this.#backOff(), message: undefined }
    this.#failures.set(key, failure)
    const delay = failure.backOff.next()
    if (failure.message !== message) this.#options.failed(`${message}; next attempt in ${seconds(delay)}`)
    failure.message = message
    this.#delayed.set(
      key,
      clock.after(delay, () => {
        this.#delayed.delete(key)
        this.#start()
      }),
    )
  }

  #pause(message: string, retryAfterMs: number): void {
    // Another write has noticed it.
    if (this.#outage?.wait !== undefined) return
    const outage = this.#outage ?? { backOff: this.#backOff(), wait: undefined }
    this.#outage = outage
    const delay = outage.backOff.next(retryAfterMs)
    this.#options.failed(`${message}; all writes wait, next attempt in ${seconds(delay)}`)
    outage.wait = clock.after(delay, () => {
      outage.wait = undefined
      this.#start()
    })
  }

  #endOutage(): void {
    this.#outage?.wait?.cancel()
    this.#outage = undefined
  }

  #backOff(): BackOff {
    return new BackOff(FIRST_DELAY_MS, LONGEST_DELAY_MS, this.#options.random)
  }
}

/** With status 500, the API may fail at this object only, as when the admission webhook of a namespace does not answer. */
function concernsAll(error: unknown): error is ApiUnreadable {
  return isOutage(error) && error.status !== 500
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
