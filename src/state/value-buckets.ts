import { sipHashed } from '#base/sip-hash.ts'
import type { Limit, TokenBucket, TokenBucketSettings } from './token-bucket.ts'
import type { ValueTable } from './value-table.ts'

/**
 * The token buckets of one limit that counts by value: one for each value (decision A-133). Only full buckets are discarded. If no place is
 * left, new values share one bucket, and so do requests without a value.
 *
 * One object serves all requests of a thread, so that a request creates none: `select` the value, then call the other methods before the
 * thread handles another request.
 */
export class ValueBuckets implements Limit {
  readonly settings: TokenBucketSettings
  readonly #table: ValueTable
  readonly #shared: TokenBucket
  /** The hash of the selected value; 0: none. */
  #low = 0
  #high = 0
  /** The last change was made to the shared bucket. */
  #isShared = false
  #level = 0

  /** @param shared the bucket of requests without a bucket of their own; its units are those of all buckets */
  constructor(table: ValueTable, shared: TokenBucket) {
    this.#table = table
    this.#shared = shared
    this.settings = shared.settings
  }

  /** @param value undefined: the request has none */
  select(value: string | undefined): void {
    if (value === undefined) return this.#select(0, 0)
    this.#table.hash(value)
    this.#select(sipHashed.low, sipHashed.high)
  }

  held(): Pick<Limit, 'drain'> {
    const [low, high] = [this.#low, this.#high]
    return {
      drain: (count) => {
        this.#select(low, high)
        this.drain(count)
      },
    }
  }

  take(count: number): boolean {
    return this.#change(count, count)
  }

  give(count: number): void {
    if (this.#isShared) this.#shared.give(count)
    else this.#change(-count, 0)
  }

  drain(count: number): void {
    this.#change(count, 0)
  }

  remaining(): number {
    this.#change(0, 0)
    return this.#level
  }

  get level(): number {
    return this.#level
  }

  /** Whether the last change was made to the bucket that requests without one of their own share. */
  get isShared(): boolean {
    return this.#isShared
  }

  resetMs(): number {
    return this.#shared.resetMs()
  }

  /** All buckets that are not full, as low and high half of the hash and the level, one after the other. */
  levels(): number[] {
    const unit = this.#shared.unit()
    const levels: number[] = []
    this.#table.each((low, high, place) => {
      const level = this.#table.level(place, unit, this.settings)
      if (level < this.settings.capacity) levels.push(low, high, level)
    })
    return levels
  }

  get secret(): number[] {
    return this.#table.secret
  }

  /** Restores what `levels` and `secret` returned. For new buckets that no other thread uses yet. */
  restore(secret: readonly number[], levels: readonly number[]): void {
    this.#table.secret = secret
    for (let i = 0; i < levels.length; i += 3) {
      this.#select(levels[i]!, levels[i + 1]!)
      this.drain(this.settings.capacity - levels[i + 2]!)
    }
  }

  #select(low: number, high: number): void {
    this.#low = low
    this.#high = high
    this.#isShared = false
  }

  /** Takes `count` tokens, at most what is there, if there are at least `needed`; a negative count adds tokens. */
  #change(count: number, needed: number): boolean {
    const low = this.#low
    const high = this.#high
    if (high === 0) return this.#changeShared(count, needed)
    const table = this.#table
    const unit = this.#shared.unit()
    const set = table.setOf(low)
    const mark = table.lock(set)
    const place = table.find(set, low, high) || table.add(set, low, high, unit, this.settings)
    if (place === 0) {
      table.unlock(set, mark)
      return count < 0 || this.#changeShared(count, needed)
    }
    const level = table.level(place, unit, this.settings)
    const isEnough = level >= needed
    this.#level = isEnough ? Math.min(this.settings.capacity, Math.max(0, level - count)) : level
    table.write(place, unit, this.#level)
    table.unlock(set, mark)
    this.#isShared = false
    return isEnough
  }

  #changeShared(count: number, needed: number): boolean {
    const shared = this.#shared
    this.#isShared = true
    const isEnough = needed === 0 || shared.take(count)
    if (needed === 0) shared.drain(count)
    this.#level = shared.level
    return isEnough
  }
}
