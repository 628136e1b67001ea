import { clock } from '#base/clock.ts'
import { sipHash, sipHashed } from '#base/sip-hash.ts'

/** The number of sets of a table, a power of 2. */
const SETS = 4096
/** Places in a set. */
const WAYS = 16

// Words of a table.
const SECRET = 0 // of the hash
const SECRET_WORDS = 4
const USED = 4 // 1 after the first bucket
const LOCKS = 16 // one for each set: 0, or the time when it was taken
// Then for each set all low halves of its hashes, all high halves, all units and all levels: what a search compares is adjacent.
const WORDS_PER_SET = 4 * WAYS

/** Offsets from the low half of a hash. */
const HIGH = WAYS // 0: free; hashes have the lowest bit set
const UNIT = 2 * WAYS // the unit that the level belongs to, counted from the start of the limit
const LEVEL = 3 * WAYS

/** How many values have a bucket of their own at the same time, in each table. */
export const MAX_VALUES = SETS * WAYS

/** Creates the memory of a table: about one megabyte. @param shared false for a single thread without `SharedArrayBuffer` */
export function createValueMemory(shared = true, sets = SETS): ArrayBufferLike {
  const bytes = (LOCKS + sets * (1 + WORDS_PER_SET)) * 4
  const memory = shared ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes)
  new Int32Array(memory).set(globalThis.crypto.getRandomValues(new Int32Array(SECRET_WORDS)), SECRET)
  return memory
}

const SPINS = 1000
const PAUSE_MS = 1
/** A set is changed within microseconds, so a lock that is held for longer than this was taken by a worker that died. */
const ABANDONED_MS = 200
/** Times of locks have 30 bits, and one more so that they are never 0. They wrap around after 12 days. */
const TIME_MASK = 2 ** 30 - 1
const TAKEN = 2 ** 30

/** The settings that determine how levels rise. */
export interface Refill {
  readonly rate: number
  readonly capacity: number
}

/**
 * Shared memory for the buckets of one limit that counts by value (docs/decisions/0172). A value has `WAYS` possible places, its set, and a
 * set is changed under a lock of its own. Values are not kept, only hashes of 63 bits with a secret: callers can find neither values that
 * share a bucket nor many values that share a set.
 */
export class ValueTable {
  readonly #words: Int32Array<ArrayBufferLike>
  readonly #sets: number
  readonly #first: number

  constructor(memory: ArrayBufferLike) {
    this.#words = new Int32Array(memory)
    this.#sets = (this.#words.length - LOCKS) / (1 + WORDS_PER_SET)
    this.#first = LOCKS + this.#sets
  }

  /** The secret of the hash, as four words of 32 bits. */
  get secret(): number[] {
    return [...this.#words.subarray(SECRET, SECRET + SECRET_WORDS)]
  }

  /** For a table without buckets that no other thread uses yet. */
  set secret(words: readonly number[]) {
    this.#words.set(words, SECRET)
  }

  /** Leaves the hash of a value in `sipHashed`. The high half is never 0. */
  hash(value: string): void {
    sipHash(value, this.#words, SECRET)
    sipHashed.high |= 1
  }

  setOf(low: number): number {
    return low & (this.#sets - 1)
  }

  /** Locks a set; waits at most `ABANDONED_MS`. @returns the mark for `unlock` */
  lock(set: number): number {
    const words = this.#words
    const at = LOCKS + set
    for (let spins = 0; ; spins++) {
      const mark = (Math.floor(clock.monotonic()) & TIME_MASK) | TAKEN
      const held = Atomics.compareExchange(words, at, 0, mark)
      if (held === 0) return mark
      if (spins < SPINS) continue
      if (((mark - held) & TIME_MASK) < ABANDONED_MS) Atomics.wait(words, at, held, PAUSE_MS)
      else if (Atomics.compareExchange(words, at, held, mark) === held) return mark
    }
  }

  /** Has no effect if the lock was considered abandoned and another thread took it. */
  unlock(set: number, mark: number): void {
    Atomics.compareExchange(this.#words, LOCKS + set, mark, 0)
  }

  // The methods below require the lock of the set. A place is the index of the low half of a hash.

  /** The place of a hash in its set; 0 if it has none. */
  find(set: number, low: number, high: number): number {
    const words = this.#words
    const first = this.#first + set * WORDS_PER_SET
    for (let place = first; place < first + WAYS; place++) {
      if (words[place] === low && words[place + HIGH] === high) return place
    }
    return 0
  }

  /** Gives a hash a place with a full bucket: a free place, or that of another full bucket. @returns 0 if there is none */
  add(set: number, low: number, high: number, unit: number, refill: Refill): number {
    const words = this.#words
    const first = this.#first + set * WORDS_PER_SET
    for (let place = first; place < first + WAYS; place++) {
      if (words[place + HIGH] !== 0 && this.level(place, unit, refill) < refill.capacity) continue
      // A thread that dies in between leaves a free place.
      words[place + HIGH] = 0
      words[place + UNIT] = unit
      words[place + LEVEL] = refill.capacity
      words[place] = low
      words[place + HIGH] = high
      words[USED] = 1
      return place
    }
    return 0
  }

  /** The level of a bucket in a unit. */
  level(place: number, unit: number, { rate, capacity }: Refill): number {
    const passed = Math.max(0, unit - this.#words[place + UNIT]!)
    return Math.min(capacity, this.#words[place + LEVEL]! + passed * rate)
  }

  /** A thread that dies between the two writes leaves a bucket with too little, not with too much. */
  write(place: number, unit: number, level: number): void {
    if (unit > this.#words[place + UNIT]!) this.#words[place + UNIT] = unit
    this.#words[place + LEVEL] = level
  }

  /** Calls `visit` for every bucket. Locks one set after the other. */
  each(visit: (low: number, high: number, place: number) => void): void {
    const words = this.#words
    if (words[USED] === 0) return
    for (let set = 0; set < this.#sets; set++) {
      const mark = this.lock(set)
      const first = this.#first + set * WORDS_PER_SET
      for (let place = first; place < first + WAYS; place++) {
        const high = words[place + HIGH]!
        if (high !== 0) visit(words[place]!, high, place)
      }
      this.unlock(set, mark)
    }
  }
}
