/**
 * Shared memory of one gateway instance, for state that is "per proxy instance, not per worker" (rate-limit buckets, endpoint health).
 * The main thread assigns a slot to every key; workers update slots with `Atomics`. No Node API: `explain` and tests use unshared memory.
 */
export interface SlotMemory {
  /** `WORDS_PER_SLOT` 32-bit words per slot. */
  readonly words: Int32Array<ArrayBufferLike>
  /** The same memory as 64-bit words, for times. */
  readonly ends: BigInt64Array<ArrayBufferLike>
  /**
   * Requests in flight per slot. Every thread counts its own, outside the shared memory: otherwise the requests of a worker that died
   * would be counted for ever.
   */
  readonly inFlight: Int32Array<ArrayBufferLike>
}

export const WORDS_PER_SLOT = 8

/** @param shared false for a single thread without `SharedArrayBuffer` */
export function createSlotMemory(slots: number, shared = true): SlotMemory {
  const bytes = slots * WORDS_PER_SLOT * 4
  return openSlotMemory(shared ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes))
}

/** Opens the memory that another thread created. */
export function openSlotMemory(buffer: ArrayBufferLike): SlotMemory {
  const words = new Int32Array(buffer)
  return { words, ends: new BigInt64Array(buffer), inFlight: new Int32Array(words.length / WORDS_PER_SLOT) }
}

/** Finds the slot of a key; undefined if the key has none. */
export interface SlotLookup {
  slotOf(key: string): number | undefined
}

/** A change of the assignment of slots. */
export interface SlotChange {
  readonly assigned: readonly (readonly [key: string, slot: number])[]
  /** Keys. */
  readonly freed: readonly string[]
}

/** Assigns slots to keys on the main thread. A key keeps its slot while it is in use, so its state outlives plan changes. */
export class SlotDirectory implements SlotLookup {
  readonly #slots = new Map<string, number>()
  /** Free slots, the one that has been free for the longest time first. */
  readonly #free: number[] = []
  readonly #capacity: number
  readonly #memory: SlotMemory
  #next = 0

  constructor(memory: SlotMemory) {
    this.#memory = memory
    this.#capacity = memory.words.length / WORDS_PER_SLOT
  }

  /** Frees the slot of a key that is no longer used. */
  free(key: string): void {
    const slot = this.#slots.get(key)
    if (slot === undefined) return
    this.#slots.delete(key)
    this.#free.push(slot)
  }

  assign(key: string): number | undefined {
    const known = this.#slots.get(key)
    if (known !== undefined) return known
    // A freed slot is reused as late as possible: requests that began under an earlier plan may still write to it.
    const slot = this.#next < this.#capacity ? this.#next++ : this.#free.shift()
    if (slot === undefined) return undefined
    this.#memory.words.fill(0, slot * WORDS_PER_SLOT, (slot + 1) * WORDS_PER_SLOT)
    this.#slots.set(key, slot)
    return slot
  }

  slotOf(key: string): number | undefined {
    return this.#slots.get(key)
  }

  /** All assignments, for workers. */
  entries(): IterableIterator<[string, number]> {
    return this.#slots.entries()
  }
}
