import { createValueMemory } from './value-table.ts'

/**
 * Shared memory of one gateway instance, for state that is "per proxy instance, not per worker" (rate-limit buckets, endpoint health).
 * The main thread assigns a slot to every key; workers update slots with `Atomics`. No Node API: `explain` and tests use unshared memory.
 */
export interface SlotMemory {
  /** `WORDS_PER_SLOT` 32-bit words per slot. */
  readonly words: Int32Array<ArrayBufferLike>
  /** The same memory as 64-bit words, for times. */
  readonly ends: BigInt64Array<ArrayBufferLike>
  /** Requests in flight: for every thread, one word per slot. A thread writes only to words of its own (docs/decisions/0223). */
  readonly inFlight: Int32Array<ArrayBufferLike>
  /** Index in `inFlight` of the first word of this thread. */
  readonly own: number
}

/** Even, because some words are used in pairs. */
export const WORDS_PER_SLOT = 10
const BYTES_PER_WORD = Int32Array.BYTES_PER_ELEMENT

/** What a `SlotMemory` consists of. */
export interface SlotBuffers {
  readonly words: ArrayBufferLike
  readonly inFlight: ArrayBufferLike
}

/**
 * @param shared false for a single thread without `SharedArrayBuffer`
 * @param threads how many threads count requests in flight; the one that creates the memory has the last place
 */
export function createSlotMemory(slots: number, shared = true, threads = 1): SlotMemory {
  const allocate = (words: number) => {
    const bytes = words * BYTES_PER_WORD
    return shared ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes)
  }
  return viewSlots({ words: allocate(slots * WORDS_PER_SLOT), inFlight: allocate(slots * threads) }, threads - 1)
}

/** The memory, for `openSlotMemory` in another thread. */
export function buffersOf({ words, inFlight }: SlotMemory): SlotBuffers {
  return { words: words.buffer, inFlight: inFlight.buffer }
}

/**
 * Opens the memory that another thread created.
 * @param place number of this thread, from 0. A thread that replaces another one has its place, and clears what that one had in flight.
 */
export function openSlotMemory(buffers: SlotBuffers, place: number): SlotMemory {
  const memory = viewSlots(buffers, place)
  const { inFlight, own } = memory
  // Zeros are not overwritten: pages that nobody writes to take no memory.
  for (let at = own; at < own + slotsOf(memory); at++) if (inFlight[at] !== 0) inFlight[at] = 0
  return memory
}

/** Number of slots. */
export function slotsOf({ words }: SlotMemory): number {
  return words.length / WORDS_PER_SLOT
}

function viewSlots(buffers: SlotBuffers, place: number): SlotMemory {
  const words = new Int32Array(buffers.words)
  return {
    words,
    ends: new BigInt64Array(buffers.words),
    inFlight: new Int32Array(buffers.inFlight),
    own: place * (words.length / WORDS_PER_SLOT),
  }
}

/** Finds the shared memory of a key. */
export interface SlotLookup {
  /** Undefined if the key has no slot. */
  slotOf(key: string): number | undefined
  /** The memory of a `ValueTable`, for a key with a slot that counts by value. */
  valuesOf(key: string): ArrayBufferLike | undefined
}

/** `values` if the key counts by value. */
export type SlotAssignment = readonly [key: string, slot: number, values?: ArrayBufferLike | undefined]

/** A change of the assignment of slots. */
export interface SlotChange {
  readonly assigned: readonly SlotAssignment[]
  /** Keys. */
  readonly freed: readonly string[]
}

/** The assignments as a worker knows them. */
export class AssignedSlots implements SlotLookup {
  readonly #assigned = new Map<string, SlotAssignment>()

  update({ assigned, freed }: SlotChange): void {
    for (const key of freed) this.#assigned.delete(key)
    for (const assignment of assigned) this.#assigned.set(assignment[0], assignment)
  }

  slotOf(key: string): number | undefined {
    return this.#assigned.get(key)?.[1]
  }

  valuesOf(key: string): ArrayBufferLike | undefined {
    return this.#assigned.get(key)?.[2]
  }
}

/**
 * Assigns slots to keys on the main thread, and memory for values to those that ask for it. A key keeps both while it is in use, so its state
 * outlives plan changes.
 */
export class SlotDirectory implements SlotLookup {
  readonly #slots = new Map<string, number>()
  readonly #values = new Map<string, ArrayBufferLike>()
  /** Free slots, the one that has been free for the longest time first. */
  readonly #free: number[] = []
  readonly #capacity: number
  readonly #memory: SlotMemory
  #next = 0

  constructor(memory: SlotMemory) {
    this.#memory = memory
    this.#capacity = slotsOf(memory)
  }

  /** Frees the slot of a key that is no longer used. */
  free(key: string): void {
    const slot = this.#slots.get(key)
    if (slot === undefined) return
    this.#slots.delete(key)
    this.#values.delete(key)
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

  /** The memory is created when it is asked for first. */
  valuesOf(key: string): ArrayBufferLike | undefined {
    let values = this.#values.get(key)
    if (values === undefined && this.#slots.has(key)) {
      values = createValueMemory(!(this.#memory.words.buffer instanceof ArrayBuffer))
      this.#values.set(key, values)
    }
    return values
  }

  /** The assignment of a key with a slot, for workers. */
  assignment(key: string): SlotAssignment {
    return [key, this.#slots.get(key)!, this.#values.get(key)]
  }

  /** All assignments, for workers. */
  assignments(): SlotAssignment[] {
    return [...this.#slots.keys()].map((key) => this.assignment(key))
  }
}
