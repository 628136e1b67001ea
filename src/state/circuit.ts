import { clock } from '#base/clock.ts'
import { type SlotMemory, WORDS_PER_SLOT } from './slots.ts'

/** Number of failures in a row that open a circuit. */
export const OPENING_FAILURES = 5
const PROBE_MS = 1000

// The first word of a slot counts consecutive failures. A slot of zeros is a closed circuit.
const PROBE_AT = 2 // when an open circuit lets the next probe through, milliseconds of the monotonic clock; two words

/** A question that may be asked, until its outcome is known: when the next probe is due after this one; 0: it is no probe. */
export type Admission = number

/** What a change of a circuit tells: why it opened, or undefined if it closed. */
export type CircuitChange = (cause: string | undefined) => void

/**
 * Spares a service that has failed several times in a row: only one question in each interval, the probe, is asked until the service answers. All
 * workers of an instance share it. Every change is one atomic operation, so a worker that dies at any point does not block the others.
 */
export class Circuit {
  readonly #memory: SlotMemory
  readonly #base: number
  readonly #onChange: CircuitChange

  /** @param onChange called in the thread that opens or closes it */
  constructor(memory: SlotMemory, slot: number, onChange: CircuitChange = () => {}) {
    this.#memory = memory
    this.#base = slot * WORDS_PER_SLOT
    this.#onChange = onChange
  }

  /** @returns undefined: the service must not be asked now */
  admit(): Admission | undefined {
    if (!isOpen(this.#failures)) return 0
    const nowMs = Math.floor(clock.monotonic())
    const dueMs = this.#probeAtMs
    if (nowMs < dueMs) return undefined
    const nextMs = nowMs + PROBE_MS
    return this.#moveProbe(dueMs, nextMs) ? nextMs : undefined
  }

  /** The question ended without an outcome. If it was the probe, the next question is one. */
  abandon(admission: Admission): void {
    this.#moveProbe(admission, 0)
  }

  /** The service gave a valid answer. */
  succeed(): void {
    // Reads first: a write invalidates the cache line of the other workers.
    if (this.#failures !== 0) this.#close()
  }

  /** The service answered, but its answer counts neither as a success nor as a failure. */
  respond(): void {
    if (isOpen(this.#failures)) this.#close()
  }

  fail(cause: string): void {
    const { words, ends } = this.#memory
    // Before it opens: another worker that finds it open must not be the first probe.
    if (!isOpen(this.#failures)) {
      Atomics.store(ends, this.#probe, BigInt(Math.floor(clock.monotonic()) + PROBE_MS))
    }
    if (Atomics.add(words, this.#base, 1) + 1 === OPENING_FAILURES) this.#onChange(cause)
  }

  #close(): void {
    if (isOpen(Atomics.exchange(this.#memory.words, this.#base, 0))) this.#onChange(undefined)
  }

  /** @returns whether the time was `fromMs` and is now `toMs` */
  #moveProbe(fromMs: number, toMs: number): boolean {
    return Atomics.compareExchange(this.#memory.ends, this.#probe, BigInt(fromMs), BigInt(toMs)) === BigInt(fromMs)
  }

  get #failures(): number {
    return Atomics.load(this.#memory.words, this.#base)
  }

  get #probeAtMs(): number {
    return Number(Atomics.load(this.#memory.ends, this.#probe))
  }

  /** Index of the time in `ends`. */
  get #probe(): number {
    return (this.#base + PROBE_AT) / 2
  }
}

/** Whether the circuit of a slot is open, in any thread. */
export function isCircuitOpen({ words }: SlotMemory, slot: number): boolean {
  return isOpen(Atomics.load(words, slot * WORDS_PER_SLOT))
}

function isOpen(failures: number): boolean {
  return failures >= OPENING_FAILURES
}
