import { clock } from '#base/clock.ts'
import type { SingleFlight } from '#exchange/single-flight.ts'
import type { KeptState } from '#policies/shared/kept/kept-value.ts'

/** A valid value and how long it is used before it is fetched again, or why there is none, for operators. */
export type Fetched<Value> = { readonly value: Value; readonly forMs: number } | { readonly failure: string }

/** Pauses after failed attempts: the first, doubled with each, up to the longest (decision A-62). */
const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 15_000
/** Minimum time between two fetches that requests cause although there is a value (decision A-62). */
const EXTRA_EVERY_MS = 10_000
/** The attempts in this time count as the first fetch, and requests wait for them (decision A-63). */
const FIRST_FETCH_MS = 5000

export interface KeeperEvents<Source, Value> {
  /** Tries once. Never rejects. */
  fetch(source: Source, signal: AbortSignal): Promise<Fetched<Value>>
  /** Called after an attempt, with its outcome, and for a question that causes no attempt. */
  publish(state: KeptState<Value>, outcome: 'fetched' | 'failed' | undefined): void
}

/** Keeps one value current: fetches it at the start, when its time is up, and when requests ask for it. The last valid value stays in use. */
export class Keeper<Source, Value> {
  readonly #id: string
  #source: Source
  readonly #events: KeeperEvents<Source, Value>
  readonly #closing = new AbortController()
  readonly #startMs = clock.monotonic()
  #value: Value | undefined
  #fetchedMs = 0
  #failure: string | undefined
  #failures = 0
  readonly #attempts: SingleFlight<Fetched<Value>>
  /** Fetch again after the current attempt. */
  #again = false
  #timer: { cancel(): void } | undefined
  /** Monotonic times. */
  #nextMs = 0
  #nextExtraMs = 0

  /** @param attempts the attempts for all values, by id */
  constructor(id: string, source: Source, attempts: SingleFlight<Fetched<Value>>, events: KeeperEvents<Source, Value>) {
    this.#id = id
    this.#source = source
    this.#attempts = attempts
    this.#events = events
  }

  /** Fetches now, unless an attempt is in progress. */
  async fetch(): Promise<void> {
    const { signal } = this.#closing
    if (this.#isFetching || signal.aborted) return
    this.#timer?.cancel()
    const start = (abandoned: AbortSignal) => this.#events.fetch(this.#source, abandoned)
    const fetched = await this.#attempts.run(this.#id, start, signal).catch(() => undefined)
    // Only closing ends the wait without a result.
    if (fetched === undefined || signal.aborted) return
    const good = 'value' in fetched
    this.#failure = good ? undefined : fetched.failure
    if (good) {
      this.#value = fetched.value
      this.#fetchedMs = clock.now()
      this.#failures = 0
      this.#wait(fetched.forMs)
    } else {
      this.#wait(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#failures))
      this.#failures++
    }
    this.#events.publish(this.#state, good ? 'fetched' : 'failed')
    if (!this.#again) return
    this.#again = false
    void this.fetch()
  }

  /** The source changed. The result of an attempt under way may be that of the old one. */
  renew(source: Source): void {
    this.#source = source
    if (this.#isFetching) this.#again = true
    else void this.fetch()
  }

  /**
   * Requests wait for a newer value than the one that was fetched at this time (0: none): the state is published now, or after the attempt. A value
   * that was fetched while they asked is newer.
   */
  ask(fetchedMs: number): void {
    if (this.#isFetching || this.#isFirst) return
    const isNewer = this.#fetchedMs !== fetchedMs
    if (this.#value === undefined || isNewer || clock.monotonic() < this.#nextExtraMs) {
      return this.#events.publish(this.#state, undefined)
    }
    this.#nextExtraMs = clock.monotonic() + EXTRA_EVERY_MS
    void this.fetch()
  }

  close(): void {
    this.#closing.abort()
    this.#timer?.cancel()
  }

  get #isFetching(): boolean {
    return this.#attempts.isRunning(this.#id)
  }

  /** Still in the first fetch. */
  get #isFirst(): boolean {
    return this.#value === undefined && clock.monotonic() < this.#startMs + FIRST_FETCH_MS
  }

  get #state(): KeptState<Value> {
    const until = this.#value === undefined ? this.#nextMs : this.#nextExtraMs
    return {
      id: this.#id,
      value: this.#value,
      fetchedMs: this.#fetchedMs,
      failure: this.#failure,
      final: !this.#isFirst,
      restMs: this.#isFirst ? 0 : Math.max(0, until - clock.monotonic()),
    }
  }

  #wait(ms: number): void {
    this.#nextMs = clock.monotonic() + ms
    this.#timer = clock.after(ms, () => void this.fetch())
  }
}
