import { clock } from '#base/clock.ts'
import { type SlotMemory, slotsOf, WORDS_PER_SLOT } from './slots.ts'

/** Settings of eviction (specification 2, 2.3 `BackendEviction`; decisions ). Without them no endpoint is evicted. */
export interface EvictionSettings {
  readonly durationMs: number
  /** Health after an eviction, 0 to 1; undefined: the health at eviction. */
  readonly restoreHealth: number | undefined
  /** Number of consecutive failures that evict; 0: no eviction by count; undefined: not set. */
  readonly consecutiveFailures: number | undefined
  /** Health below which an endpoint is evicted, 0 to 1. */
  readonly healthThreshold: number | undefined
}

/** What made an endpoint look unhealthy: the status of its response, or what was missing. */
export type UnhealthySign = number | 'no response' | 'incomplete response'

/** An endpoint was taken out of service. */
export interface Eviction {
  readonly timeMs: number
  /** The condition of the settings that was met. */
  readonly cause: string
  /** The last of the signs that led to it. */
  readonly sign: UnhealthySign
}

/** The state of an endpoint for operators. */
export interface EndpointState {
  /** 0 to 1. */
  readonly health: number
  readonly consecutiveFailures: number
  /** End of its eviction, in milliseconds since the epoch; undefined: it is in service. */
  readonly evictedUntilMs: number | undefined
}

// Words of a slot. A slot of zeros is an unused endpoint: healthy and in service.
const DEFICIT = 0 // 1 minus health, in millionths
const FAILURES = 1 // consecutive unhealthy responses
const LATENCY = 2 // moving average of the time to the end of healthy responses, microseconds; 0: unknown
const PHASE = 3 // incremented by every eviction and every return; odd while evicted
const EVICTIONS = 4 // number of evictions that prolong the next one
const LAST_MS = 5 // length of the last eviction
const UNTIL = 6 // end of the last eviction, milliseconds since the epoch; two words
const RETURN = 8 // 1 more than the deficit after the last eviction; 0: it stays as it was

const ONE = 1_000_000
const MAX_WORD = 2 ** 31 - 1
/** Weight of a new sample in a moving average (decision A-100). */
const WEIGHT = 0.3
/** Past evictions no longer count after this multiple of the last eviction time in service (decision A-100). */
const RESET_FACTOR = 5
/** For requests in flight at an endpoint that has not responded yet: one that never does must not attract them all. */
const UNKNOWN_LATENCY_SECONDS = 0.01
/** Share of an endpoint at its return to service: enough to learn whether it has recovered. */
const FIRST_SHARE = 0.1
const MAX_SLOW_START_MS = 60_000

/**
 * Health of one endpoint, shared by all routes and workers of an instance (specification 1, section 3; decision A-101). Every change is
 * one atomic operation, so a worker that dies at any point does not block the others.
 */
export class EndpointHealth {
  readonly #memory: SlotMemory
  readonly #slot: number
  /** Undefined: the endpoint is never evicted. */
  readonly eviction: EvictionSettings | undefined
  readonly #slots: number
  /** Index in `inFlight` of the count of this thread. */
  readonly #counted: number
  /** The backend has no other endpoint: latency and requests in flight are not maintained, because only the choice of an endpoint reads them. */
  readonly alone: boolean
  readonly #onChange: (eviction: Eviction | undefined) => void

  /**
   * @param onChange called for each eviction, and with undefined for each return to service, in the thread that causes or notices it
   */
  constructor(
    memory: SlotMemory,
    slot: number,
    eviction: EvictionSettings | undefined,
    alone = false,
    onChange: (eviction: Eviction | undefined) => void = () => {},
  ) {
    this.#memory = memory
    this.#slot = slot
    this.eviction = eviction
    this.#slots = slotsOf(memory)
    this.#counted = memory.own + slot
    this.alone = alone
    this.#onChange = onChange
  }

  /** Moving average of the share of healthy responses, 0 to 1. It does not change while the endpoint is evicted. */
  get health(): number {
    return (ONE - this.#load(DEFICIT)) / ONE
  }

  /**
   * Whether the endpoint is evicted. Reading this after the eviction time returns it to service, with the `restoreHealth` of the settings that
   * evicted it, whoever reads.
   */
  get evicted(): boolean {
    const phase = this.#load(PHASE)
    if (!isEvicted(phase)) return false
    if (clock.now() < this.#until) return true
    const restored = this.#load(RETURN)
    if (!this.#exchange(PHASE, phase, phase + 1)) return false
    if (restored !== 0) this.#store(DEFICIT, restored - 1)
    this.#onChange(undefined)
    return false
  }

  /** Higher is better: health, reduced by latency and requests in flight. */
  get score(): number {
    const latencySeconds = this.#load(LATENCY) / 1_000_000
    const waitingSeconds = 0.1 * this.#inFlight * (latencySeconds || UNKNOWN_LATENCY_SECONDS)
    return this.health / (1 + latencySeconds + waitingSeconds)
  }

  /**
   * Share of the usual requests that the endpoint takes: less than 1 for some time after an eviction, so that a server that has just started
   * is not overloaded at once. The time is that of the eviction, at most a minute.
   */
  get share(): number {
    if (this.#load(EVICTIONS) === 0) return 1
    const rampMs = Math.min(this.#load(LAST_MS), MAX_SLOW_START_MS)
    const elapsedMs = clock.now() - this.#until
    if (elapsedMs < 0) return 1
    return Math.min(1, Math.max(FIRST_SHARE, elapsedMs / rampMs))
  }

  /** A request to the endpoint begins; `end` follows when its response has ended. No other thread writes to this word. */
  begin(): void {
    if (!this.alone) this.#memory.inFlight[this.#counted]!++
  }

  end(): void {
    if (!this.alone) this.#memory.inFlight[this.#counted]!--
  }

  /**
   * A healthy response is complete. It resets the count of consecutive failures, also for routes with eviction if this one has none.
   * @param latencyMs time from sending the request to the end of the response; undefined: no latency sample
   */
  recordHealthy(latencyMs: number | undefined): void {
    if (!this.evicted) this.#move(DEFICIT, 0)
    if (latencyMs !== undefined && !this.alone) this.#learnLatency(Math.min(latencyMs * 1000, MAX_WORD))
    // Reads first: a write invalidates the cache line of the other workers.
    if (this.#load(FAILURES) !== 0) this.#store(FAILURES, 0)
  }

  /** An unhealthy response. @returns the eviction time in milliseconds if it evicted the endpoint */
  recordUnhealthy(sign: UnhealthySign): number | undefined {
    const failures = this.#countFailure()
    const evicted = this.evicted
    const phase = this.#load(PHASE)
    if (evicted || isEvicted(phase)) return undefined
    this.#move(DEFICIT, ONE)
    const eviction = this.eviction
    if (eviction === undefined) return undefined
    const { health } = this
    if (!triggers(eviction, health, failures)) return undefined
    const timeMs = this.#evict(eviction, phase)
    if (timeMs !== undefined) this.#onChange({ timeMs, cause: describeCause(eviction, health, failures), sign })
    return timeMs
  }

  /** Several workers may run this at the same time. They write nearly equal values; the one that changes the phase evicts. */
  #evict({ durationMs, restoreHealth }: EvictionSettings, phase: number): number | undefined {
    const now = clock.now()
    const forgotten = now >= this.#until + RESET_FACTOR * this.#load(LAST_MS)
    const evictions = forgotten ? 1 : Math.min(this.#load(EVICTIONS) + 1, MAX_WORD)
    const timeMs = durationMs * evictions
    const { ends } = this.#memory
    this.#store(RETURN, restoreHealth === undefined ? 0 : 1 + Math.round((1 - restoreHealth) * ONE))
    Atomics.store(ends, this.#index(UNTIL) / 2, BigInt(Math.min(now + timeMs, Number.MAX_SAFE_INTEGER)))
    if (!this.#exchange(PHASE, phase, phase + 1)) return undefined
    this.#store(LAST_MS, Math.min(timeMs, MAX_WORD))
    this.#store(EVICTIONS, evictions)
    return timeMs
  }

  /** Requests in flight of all threads. */
  get #inFlight(): number {
    const { inFlight } = this.#memory
    let sum = 0
    for (let at = this.#slot; at < inFlight.length; at += this.#slots) sum += inFlight[at]!
    return sum
  }

  get #until(): number {
    return Number(Atomics.load(this.#memory.ends, this.#index(UNTIL) / 2))
  }

  /** Saturates at the largest value of a word; an overflow would be negative and evict nothing. */
  #countFailure(): number {
    for (;;) {
      const failures = this.#load(FAILURES)
      if (failures === MAX_WORD || this.#exchange(FAILURES, failures, failures + 1))
        return Math.min(failures + 1, MAX_WORD)
    }
  }

  /** The first sample becomes the average. */
  #learnLatency(sample: number): void {
    if (this.#load(LATENCY) !== 0 || !this.#exchange(LATENCY, 0, Math.round(sample))) this.#move(LATENCY, sample)
  }

  /** Updates a moving average with a sample (decision A-100). */
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

  /** @returns whether the word was `old` and is now `next` */
  #exchange(word: number, old: number, next: number): boolean {
    return Atomics.compareExchange(this.#memory.words, this.#index(word), old, next) === old
  }
}

function isEvicted(phase: number): boolean {
  return (phase & 1) === 1
}

/** Either condition is sufficient; if neither is set, one unhealthy response evicts (specification 2, 2.3). */
function triggers(eviction: EvictionSettings, health: number, failures: number): boolean {
  const { consecutiveFailures, healthThreshold } = eviction
  if (consecutiveFailures === undefined && healthThreshold === undefined) return true
  if (tooManyFailures(eviction, failures)) return true
  return healthThreshold !== undefined && health < healthThreshold
}

function tooManyFailures({ consecutiveFailures }: EvictionSettings, failures: number): boolean {
  return consecutiveFailures !== undefined && consecutiveFailures > 0 && failures >= consecutiveFailures
}

function describeCause(eviction: EvictionSettings, health: number, failures: number): string {
  const { healthThreshold } = eviction
  if (healthThreshold !== undefined && !tooManyFailures(eviction, failures))
    return `health ${health.toFixed(3)} is below ${healthThreshold}`
  return failures === 1 ? 'an unhealthy response' : `${failures} consecutive unhealthy responses`
}

/** Reads the state of an endpoint without changing it, in any thread. */
export function readEndpointState({ words, ends }: SlotMemory, slot: number): EndpointState {
  const at = slot * WORDS_PER_SLOT
  const untilMs = Number(Atomics.load(ends, (at + UNTIL) / 2))
  const marked = isEvicted(Atomics.load(words, at + PHASE))
  const evicted = marked && clock.now() < untilMs
  const restored = Atomics.load(words, at + RETURN)
  const deficit = marked && !evicted && restored !== 0 ? restored - 1 : Atomics.load(words, at + DEFICIT)
  return {
    health: (ONE - deficit) / ONE,
    consecutiveFailures: Atomics.load(words, at + FAILURES),
    evictedUntilMs: evicted ? untilMs : undefined,
  }
}
