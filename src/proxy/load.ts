/** This many retries are always allowed. */
const RETRIES_FREE = 3
/** Above that, at most this share of the requests in flight may be retries (decision A-93). */
const RETRY_SHARE = 0.2

/** Counts the requests in flight in this worker, and the retries among them, to prevent retry storms. */
export class Load {
  readonly #inFlight: { add(amount: number): void }
  #requests = 0
  #retries = 0

  /** @param inFlight the metric of requests in flight */
  constructor(inFlight: { add(amount: number): void }) {
    this.#inFlight = inFlight
  }

  begin(): void {
    this.#requests++
    this.#inFlight.add(1)
  }

  /** @param retried the request counted as a retry */
  end(retried: boolean): void {
    this.#requests--
    this.#inFlight.add(-1)
    if (retried) this.#retries--
  }

  /** Counts a retry. @returns false if no more retries are allowed */
  takeRetry(): boolean {
    if (this.#retries >= Math.max(RETRIES_FREE, this.#requests * RETRY_SHARE)) return false
    this.#retries++
    return true
  }
}
