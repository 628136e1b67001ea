/** This many retries are always allowed. */
const RETRIES_FREE = 3
/** Above that, at most this share of the requests in flight may be retries (decision A-93). */
const RETRY_SHARE = 0.2

/** Words of one worker: a cache line, so that workers that count do not slow each other down. */
const WORDS_PER_WORKER = 16
const REQUESTS = 0
const RETRIES = 1

/** Memory for the counts of the workers of an instance. */
export function createLoadMemory(workers: number): SharedArrayBuffer {
  return new SharedArrayBuffer(workers * WORDS_PER_WORKER * Int32Array.BYTES_PER_ELEMENT)
}

/**
 * Counts the requests in flight, and the retries among them, to prevent retry storms. Every worker writes only counts of its own; the limit
 * is that of all workers together. A worker that replaces another one starts with its place at zero, so nothing that died is counted.
 */
export class Load {
  readonly #inFlight: { add(amount: number): void }
  readonly #words: Int32Array<SharedArrayBuffer>
  /** Index of the words of this worker. */
  readonly #own: number
  #requests = 0
  #retries = 0

  /**
   * @param inFlight the metric of requests in flight
   * @param place the number of the worker, from 0
   */
  constructor(inFlight: { add(amount: number): void }, memory: SharedArrayBuffer, place: number) {
    this.#inFlight = inFlight
    this.#words = new Int32Array(memory)
    this.#own = place * WORDS_PER_WORKER
    this.#words.fill(0, this.#own, this.#own + WORDS_PER_WORKER)
  }

  begin(): void {
    this.#words[this.#own + REQUESTS] = ++this.#requests
    this.#inFlight.add(1)
  }

  /** @param retried the request counted as a retry */
  end(retried: boolean): void {
    this.#words[this.#own + REQUESTS] = --this.#requests
    this.#inFlight.add(-1)
    if (retried) this.#setRetries(this.#retries - 1)
  }

  /** Counts a retry. @returns false if no more retries are allowed */
  takeRetry(): boolean {
    // Counted before the check: of two workers that take a retry at the same time at least one sees the other, so the limit holds.
    this.#setRetries(this.#retries + 1)
    if (this.#sum(RETRIES) <= Math.max(RETRIES_FREE, this.#sum(REQUESTS) * RETRY_SHARE)) return true
    this.#setRetries(this.#retries - 1)
    return false
  }

  #setRetries(retries: number): void {
    this.#retries = retries
    Atomics.store(this.#words, this.#own + RETRIES, retries)
  }

  #sum(word: number): number {
    let sum = 0
    for (let at = word; at < this.#words.length; at += WORDS_PER_WORKER) sum += Atomics.load(this.#words, at)
    return sum
  }
}
