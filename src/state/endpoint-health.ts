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

// Words of a slot. A slot of zeros is an endpoint that was never asked: healthy and in service.
const DEFICIT = 0 // what health lacks of 1, in millionths
const FAILURES = 1 // consecutive unhealthy answers
const LATENCY = 2 // moving average of healthy answers, microseconds; 0: none known
const PHASE = 3 // rises with every eviction and every return: odd while evicted
const EVICTIONS = 4 // evictions that lengthen the next one
const LAST_MS = 5 // length of the last eviction
const UNTIL = 6 // end of the last eviction, milliseconds since the epoch; two words

const ONE = 1_000_000
const MOST = 2 ** 31 - 1
const WEIGHT = 0.3
/** Past evictions are forgotten after this many times the last one in service (decision A-100). */
const FORGETTING = 5

/**
 * Health of one endpoint, shared by all routes and workers of an instance (specification 1, section 3; decision A-101). Every change
 * is one atomic step, so that a worker that dies in the middle leaves nothing behind that blocks the others.
 */
export class EndpointHealth {
  readonly #memory: SlotMemory
  readonly #slot: number
  readonly #eviction: EvictionSettings | undefined
  readonly #alone: boolean

  /** `alone`: no other endpoint is there to choose, so nothing is kept that only a choice needs. */
  constructor(memory: SlotMemory, slot: number, eviction: EvictionSettings | undefined, alone = false) {
    this.#memory = memory
    this.#slot = slot
    this.#eviction = eviction
    this.#alone = alone
  }

  /** 0 to 1: moving average of healthy answers. It rests while the endpoint is evicted. */
  get health(): number {
    return (ONE - this.#load(DEFICIT)) / ONE
  }

  /** Looking at an endpoint whose time is over brings it back, with `restoreHealth` if that is set. */
  get evicted(): boolean {
    const phase = this.#load(PHASE)
    if (!isEvicted(phase)) return false
    if (clock.now() < this.#until) return true
    const restored = this.#eviction?.restoreHealth
    if (this.#exchange(PHASE, phase, phase + 1) && restored !== undefined) {
      this.#store(DEFICIT, Math.round((1 - restored) * ONE))
    }
    return false
  }

  /** Higher is better: health, less what slow answers and requests in flight cost. */
  get score(): number {
    const latencySeconds = this.#load(LATENCY) / 1_000_000
    return this.health / (1 + latencySeconds * (1 + 0.1 * this.#memory.inFlight[this.#slot]!))
  }

  begin(): void {
    if (!this.#alone) this.#memory.inFlight[this.#slot]!++
  }

  end(): void {
    if (!this.#alone) this.#memory.inFlight[this.#slot]!--
  }

  /** The head of a healthy answer. @param latencyMs undefined: the answer tells nothing about latency */
  recordHealthy(latencyMs: number | undefined): void {
    if (!this.evicted) this.#move(DEFICIT, 0)
    if (latencyMs !== undefined && !this.#alone) this.#learnLatency(Math.min(latencyMs * 1000, MOST))
  }

  /** A healthy response is complete: the count of consecutive failures restarts, also for routes that evict when this one does not. A response that breaks off after its head does not reset it. */
  recordCompleted(): void {
    // Looks first: a write takes the memory away from the other workers.
    if (this.#load(FAILURES) !== 0) this.#store(FAILURES, 0)
  }

  /** @returns the eviction time in milliseconds when this answer evicted the endpoint */
  recordUnhealthy(): number | undefined {
    const failures = this.#countFailure()
    const evicted = this.evicted
    const phase = this.#load(PHASE)
    if (evicted || isEvicted(phase)) return undefined
    this.#move(DEFICIT, ONE)
    const eviction = this.#eviction
    if (eviction === undefined || !triggers(eviction, this.health, failures)) return undefined
    return this.#evict(eviction, phase)
  }

  /** Several workers may come here at a time. They write about the same; the one that changes the phase has evicted. */
  #evict({ durationMs }: EvictionSettings, phase: number): number | undefined {
    const now = clock.now()
    const forgotten = now >= this.#until + FORGETTING * this.#load(LAST_MS)
    const evictions = forgotten ? 1 : Math.min(this.#load(EVICTIONS) + 1, MOST)
    const timeMs = durationMs * evictions
    const { ends } = this.#memory
    Atomics.store(ends, this.#index(UNTIL) / 2, BigInt(Math.min(now + timeMs, Number.MAX_SAFE_INTEGER)))
    if (!this.#exchange(PHASE, phase, phase + 1)) return undefined
    this.#store(LAST_MS, Math.min(timeMs, MOST))
    this.#store(EVICTIONS, evictions)
    return timeMs
  }

  get #until(): number {
    return Number(Atomics.load(this.#memory.ends, this.#index(UNTIL) / 2))
  }

  /** Stops at the largest number a word holds: behind it come negative ones, which evict nothing. */
  #countFailure(): number {
    for (;;) {
      const failures = this.#load(FAILURES)
      if (failures === MOST || this.#exchange(FAILURES, failures, failures + 1)) return Math.min(failures + 1, MOST)
    }
  }

  /** The first sample counts whole: before it nothing is known. */
  #learnLatency(sample: number): void {
    if (this.#load(LATENCY) !== 0 || !this.#exchange(LATENCY, 0, Math.round(sample))) this.#move(LATENCY, sample)
  }

  /** Moves an average towards a sample (decision A-100). */
  #move(word: number, sample: number): void {
    for (;;) {
      const old = this.#load(word)
      const next = Math.round(WEIGHT * sample + (1 - WEIGHT) * old)
      if (next === old || this.#exchange(word, old, next)) return
    }
  }

  #index(word: number): number {
    return this.#slot * WORDS_PER_SLOT + word
  }

  #load(word: number): number {
    return Atomics.load(this.#memory.words, this.#index(word))
  }

  #store(word: number, value: number): void {
    Atomics.store(this.#memory.words, this.#index(word), value)
  }

  /** @returns whether the word still was `old` and is `next` now */
  #exchange(word: number, old: number, next: number): boolean {
    return Atomics.compareExchange(this.#memory.words, this.#index(word), old, next) === old
  }
}

function isEvicted(phase: number): boolean {
  return (phase & 1) === 1
}

/** Either condition suffices; with neither set one unhealthy answer evicts (specification 2, 2.3). */
function triggers(eviction: EvictionSettings, health: number, failures: number): boolean {
  const { consecutiveFailures, healthThreshold } = eviction
  if (consecutiveFailures === undefined && healthThreshold === undefined) return true
  if (consecutiveFailures !== undefined && consecutiveFailures > 0 && failures >= consecutiveFailures) return true
  return healthThreshold !== undefined && health < healthThreshold
}
