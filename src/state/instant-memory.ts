import { clock } from '#base/clock.ts'
import { sipHash, sipHashed } from '#base/sip-hash.ts'

/** Places for claims, and the same number for holds; a power of 2. */
const PLACES = 4096

// Words of the memory: a secret of the hash, then the places.
const SECRET_WORDS = 4
const CLAIMS = SECRET_WORDS
const HOLDS = CLAIMS + PLACES

/** In milliseconds. The time has 32 bits, so a hold that seems to last longer is from before it wrapped around. */
const MAX_HOLD_MS = 60_000

/** Creates the memory: 32 KiB. @param shared false for a single thread without `SharedArrayBuffer` */
export function createInstantMemory(shared = true): ArrayBufferLike {
  const bytes = (HOLDS + PLACES) * Int32Array.BYTES_PER_ELEMENT
  const memory = shared ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes)
  new Int32Array(memory).set(globalThis.crypto.getRandomValues(new Int32Array(SECRET_WORDS)))
  return memory
}

/**
 * Facts about keys that all threads of an instance see at once. A key has one place, where a later key can take its place: so it decides only
 * between threads that act at the same time, until they have told each other.
 */
export class InstantMemory {
  readonly #words: Int32Array<ArrayBufferLike>

  constructor(memory: ArrayBufferLike) {
    this.#words = new Int32Array(memory)
  }

  /** @returns false: another thread, or this one, has just claimed the key */
  claim(key: string): boolean {
    sipHash(key, this.#words)
    const mark = sipHashed.high | 1
    return Atomics.exchange(this.#words, CLAIMS + (sipHashed.low & (PLACES - 1)), mark) !== mark
  }

  /** @param ms 0: ends the hold */
  hold(key: string, ms: number): void {
    Atomics.store(this.#words, this.#holdOf(key), ms === 0 ? 0 : endOf(ms))
  }

  /** Begins a hold. @returns false: there is one */
  take(key: string, ms: number): boolean {
    const at = this.#holdOf(key)
    for (;;) {
      const until = Atomics.load(this.#words, at)
      if (leftOf(until) > 0) return false
      if (Atomics.compareExchange(this.#words, at, until, endOf(ms)) === until) return true
    }
  }

  /** The rest of the hold, in milliseconds; 0: there is none. */
  heldMs(key: string): number {
    return leftOf(Atomics.load(this.#words, this.#holdOf(key)))
  }

  #holdOf(key: string): number {
    sipHash(key, this.#words)
    return HOLDS + (sipHashed.low & (PLACES - 1))
  }
}

/** As the memory has it: 0 means that there is none. */
function endOf(ms: number): number {
  return (nowMs() + ms) | 0 || 1
}

function leftOf(until: number): number {
  if (until === 0) return 0
  const left = (until - nowMs()) | 0
  return left > 0 && left <= MAX_HOLD_MS ? left : 0
}

function nowMs(): number {
  return Math.floor(clock.monotonic()) | 0
}
