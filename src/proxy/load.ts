/** So many retries are always allowed. */
const RETRIES_FREE = 3
/** Beyond that, at most this share of the requests in flight may be retries (decision A-93). */
const RETRY_SHARE = 0.2

/** Requests in flight in this worker, and how many of them are on a second or later attempt: storms must not be possible. */
export class Load {
  #requests = 0
  #retries = 0

  begin(): void {
    this.#requests++
  }

  /** @param retried the request held a place among the retries */
  end(retried: boolean): void {
    this.#requests--
    if (retried) this.#retries--
  }

  /** Takes a place among the retries if one is left. */
  takeRetry(): boolean {
    if (this.#retries >= Math.max(RETRIES_FREE, this.#requests * RETRY_SHARE)) return false
    this.#retries++
    return true
  }
}
