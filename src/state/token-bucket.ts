import { clock } from '#base/clock.ts'
import { type SlotMemory, WORDS_PER_SLOT } from './slots.ts'

/** Settings of a token bucket (specification 2, 2.2.8; decision A-79). */
export interface TokenBucketSettings {
  /** Tokens added after each full unit. */
  readonly rate: number
  /** Maximum number of tokens; the bucket starts full. */
  readonly capacity: number
  readonly unitMs: number
}

// Words of a slot.
const STARTED = 0 // 0 before first use, then 1 while being set up, then 2
const UNIT = 1 // the last unit, counted from the start, that a worker has claimed for refilling
const REFILLED = 2 // the last unit whose tokens were added
const TOKENS = 3
const START_LOW = 4 // start of the first unit, milliseconds of the monotonic clock, low and high part
const START_HIGH = 5

const SPINS = 1000
const HIGH = 2 ** 31
/** The largest value of a word; larger numbers of tokens are limited to it. */
const MAX_WORD = HIGH - 1

/** What a request takes tokens from. */
export interface Limit {
  readonly settings: TokenBucketSettings
  /** Takes `count` tokens, or none. @returns whether they were taken */
  take(count: number): boolean
  /** Returns tokens that a refused request took here. */
  give(count: number): void
  /** Takes up to `count` tokens, for a cost that is known only afterwards. The level never falls below 0. */
  drain(count: number): void
  remaining(): number
  /** Tokens left after the last call. */
  readonly level: number
  /** Time from the last call until the next tokens, more than 0. */
  resetMs(): number
  /** The same bucket, for a cost that is known when other requests have been handled. */
  held(): Pick<Limit, 'drain'>
}

/**
 * A token bucket that all workers share. It is lock-free, so a worker that dies at any point does not block the others: taking is one
 * compare-and-swap, and the first worker that notices a new unit adds its tokens.
 */
export class TokenBucket implements Limit {
  readonly settings: TokenBucketSettings
  readonly #words: Int32Array<ArrayBufferLike>
  readonly #base: number
  #startMs: number
  /** When the level was last looked at. */
  #seenMs = 0

  constructor(memory: SlotMemory, slot: number, settings: TokenBucketSettings) {
    this.#words = memory.words
    this.#base = slot * WORDS_PER_SLOT
    const { rate, capacity, unitMs } = settings
    this.settings = { rate: Math.min(rate, MAX_WORD), capacity: Math.min(capacity, MAX_WORD), unitMs }
    this.#startMs = this.#start()
  }

  take(count: number): boolean {
    const words = this.#words
    const index = this.#base + TOKENS
    for (let spins = 0; ; ) {
      this.#refill()
      const tokens = Atomics.load(words, index)
      if (tokens >= count) {
        if (Atomics.compareExchange(words, index, tokens, tokens - count) === tokens) return true
        continue
      }
      // Another worker may have claimed this unit and not yet added its tokens.
      if (!this.#refillPending() || ++spins > SPINS) return false
    }
  }

  drain(count: number): void {
    const words = this.#words
    const index = this.#base + TOKENS
    this.#refill()
    for (;;) {
      const tokens = Atomics.load(words, index)
      if (Atomics.compareExchange(words, index, tokens, Math.max(0, tokens - count)) === tokens) return
    }
  }

  give(count: number): void {
    this.#add(count)
  }

  remaining(): number {
    this.#refill()
    return this.level
  }

  get level(): number {
    return Atomics.load(this.#words, this.#base + TOKENS)
  }

  resetMs(): number {
    return this.settings.unitMs - this.#phaseAt(this.#seenMs)
  }

  held(): this {
    return this
  }

  /** The current unit, counted from the start. */
  unit(): number {
    this.#seenMs = clock.monotonic()
    return Math.floor((this.#seenMs - this.#startMs) / this.settings.unitMs)
  }

  /** Time since the beginning of the current unit. */
  phaseMs(): number {
    return this.#phaseAt(clock.monotonic())
  }

  #phaseAt(ms: number): number {
    return Math.floor(ms - this.#startMs) % this.settings.unitMs
  }

  /** Restores the level and the unit of an earlier bucket. For a new bucket that no other thread uses yet. */
  restore(level: number, phaseMs: number): void {
    Atomics.store(this.#words, this.#base + TOKENS, level)
    this.#startMs = this.#writeStart(Math.floor(clock.monotonic()) - phaseMs)
  }

  /** Fills a new bucket. @returns the start of its first unit */
  #start(): number {
    const words = this.#words
    const base = this.#base
    if (Atomics.compareExchange(words, base + STARTED, 0, 1) !== 0) {
      return Atomics.load(words, base + START_HIGH) * HIGH + Atomics.load(words, base + START_LOW)
    }
    const startMs = this.#writeStart(Math.floor(clock.monotonic()))
    Atomics.store(words, base + TOKENS, this.settings.capacity)
    Atomics.store(words, base + STARTED, 2)
    return startMs
  }

  #writeStart(startMs: number): number {
    const high = Math.floor(startMs / HIGH)
    Atomics.store(this.#words, this.#base + START_LOW, startMs - high * HIGH)
    Atomics.store(this.#words, this.#base + START_HIGH, high)
    return startMs
  }

  #refill(): void {
    const words = this.#words
    const base = this.#base
    const unit = this.unit()
    const claimed = Atomics.load(words, base + UNIT)
    if (unit <= claimed || Atomics.compareExchange(words, base + UNIT, claimed, unit) !== claimed) return
    this.#add(Math.min(this.settings.capacity, (unit - claimed) * this.settings.rate))
    Atomics.store(words, base + REFILLED, unit)
  }

  #refillPending(): boolean {
    return Atomics.load(this.#words, this.#base + REFILLED) < Atomics.load(this.#words, this.#base + UNIT)
  }

  #add(count: number): void {
    const words = this.#words
    const index = this.#base + TOKENS
    for (;;) {
      const tokens = Atomics.load(words, index)
      const next = Math.min(this.settings.capacity, tokens + count)
      if (Atomics.compareExchange(words, index, tokens, next) === tokens) return
    }
  }
}
