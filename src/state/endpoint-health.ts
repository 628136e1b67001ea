import { clock } from '#base/clock.ts'
import { type SlotMemory, WORDS_PER_SLOT } from './slots.ts'

/** Specification 2, 2.3 `BackendEviction`; decisions. Without one nothing is ever evicted. */
export interface EvictionSettings {
  readonly durationMs: number
  /** 0 to 1; undefined: health as it was at eviction. */
  readonly restoreHealth: number | undefined
  /** 0: never by count; undefined: not set. */
  readonly consecutiveFailures: number | undefined
  /** 0 to 1. */
  readonly healthThreshold: number | undefined
}

// Words of a slot.
const STARTED = 0
const HEALTH = 1 // millionths
const FAILURES = 2 // consecutive unhealthy responses
const EVICTIONS = 3 // evictions since the last healthy response
const UNTIL_HIGH = 4 // evicted until, milliseconds since the epoch
const UNTIL_LOW = 5 // written last and read first; 0: serving
const LATENCY = 6 // EWMA of healthy responses, microseconds
const PENDING = 7

const ONE = 1_000_000
const HIGH = 2 ** 31
const WEIGHT = 0.3

/** Health of one endpoint, shared by all routes and workers of an instance (specification 1, section 3; decision A-101). */
export class EndpointHealth {
  readonly #words: Int32Array<ArrayBufferLike>
  readonly #base: number
  readonly #eviction: EvictionSettings | undefined
  readonly #alone: boolean

  /** `alone`: no other endpoint is there to choose, so nothing is kept that only a choice needs. */
  constructor(memory: SlotMemory, slot: number, eviction: EvictionSettings | undefined, alone = false) {
    this.#words = memory.words
    this.#base = slot * WORDS_PER_SLOT
    this.#eviction = eviction
    this.#alone = alone
    if (Atomics.compareExchange(this.#words, this.#base + STARTED, 0, 1) === 0) this.#store(HEALTH, ONE)
  }

  /** 0 to 1: moving average of healthy answers. */
  get health(): number {
    return this.#load(HEALTH) / ONE
  }

  /** Looking at an endpoint whose time is over brings it back, with `restoreHealth` if that is set. */
  get evicted(): boolean {
    const low = this.#load(UNTIL_LOW)
    if (low === 0) return false
    if (clock.now() < this.#load(UNTIL_HIGH) * HIGH + low) return true
    if (Atomics.compareExchange(this.#words, this.#base + UNTIL_LOW, low, 0) !== low) return this.evicted
    const restored = this.#eviction?.restoreHealth
    if (restored !== undefined) this.#store(HEALTH, Math.round(restored * ONE))
    return false
  }

  /** Higher is better: health, less what slow and waiting answers cost. */
  get score(): number {
    const latencySeconds = this.#load(LATENCY) / 1_000_000
    return this.health / (1 + latencySeconds * (1 + 0.1 * this.#load(PENDING)))
  }

  begin(): void {
    if (!this.#alone) Atomics.add(this.#words, this.#base + PENDING, 1)
  }

  end(): void {
    if (!this.#alone) Atomics.sub(this.#words, this.#base + PENDING, 1)
  }

  recordHealthy(latencyMs: number): void {
    if (this.#alone && this.#eviction === undefined) return
    this.#move(HEALTH, ONE)
    if (!this.#alone) this.#move(LATENCY, Math.min(latencyMs * 1000, HIGH - 1))
    this.#clear(FAILURES)
    if (!this.evicted) this.#clear(EVICTIONS)
  }

  /** @returns the eviction time in milliseconds when this answer evicted the endpoint */
  recordUnhealthy(): number | undefined {
    const evicted = this.evicted
    const health = this.#move(HEALTH, 0) / ONE
    const failures = Atomics.add(this.#words, this.#base + FAILURES, 1) + 1
    const eviction = this.#eviction
    if (eviction === undefined || evicted || !triggers(eviction, health, failures)) return undefined
    const evictions = Atomics.add(this.#words, this.#base + EVICTIONS, 1) + 1
    const timeMs = eviction.durationMs * evictions
    const until = clock.now() + timeMs
    this.#store(UNTIL_HIGH, Math.floor(until / HIGH))
    this.#store(UNTIL_LOW, until % HIGH || 1)
    return timeMs
  }

  /** Moves an average towards a sample; an exact 0 is replaced by it. */
  #move(word: number, sample: number): number {
    const index = this.#base + word
    for (;;) {
      const old = Atomics.load(this.#words, index)
      const next = old === 0 ? Math.round(sample) : Math.round(WEIGHT * sample + (1 - WEIGHT) * old)
      if (next === old) return next
      if (Atomics.compareExchange(this.#words, index, old, next) === old) return next
    }
  }

  /** Looks first: a write takes the memory away from the other workers. */
  #clear(word: number): void {
    if (this.#load(word) !== 0) this.#store(word, 0)
  }

  #load(word: number): number {
    return Atomics.load(this.#words, this.#base + word)
  }

  #store(word: number, value: number): void {
    Atomics.store(this.#words, this.#base + word, value)
  }
}

/** Either condition suffices; with neither set one unhealthy answer evicts (specification 2, 2.3). */
function triggers(eviction: EvictionSettings, health: number, failures: number): boolean {
  const { consecutiveFailures, healthThreshold } = eviction
  if (consecutiveFailures === undefined && healthThreshold === undefined) return true
  if (consecutiveFailures !== undefined && consecutiveFailures > 0 && failures >= consecutiveFailures) return true
  return healthThreshold !== undefined && health < healthThreshold
}
