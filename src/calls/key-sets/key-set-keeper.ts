import { clock } from '#base/clock.ts'
import type { SingleFlight } from '#exchange/single-flight.ts'
import { type KeySetAddress, type KeySetState, keySetId } from '#policies/shared/authentication/remote-key-set.ts'
import type { FetchedKeySet } from './fetch-key-set.ts'

/** Pauses after failed attempts: the first, doubled with each, up to the longest (decision A-62). */
const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 15_000
/** Minimum time between two fetches that tokens with an unknown key cause (decision A-62). */
const EXTRA_EVERY_MS = 10_000
/** The attempts in this time count as the first fetch, and requests wait for them (decision A-63). */
const FIRST_FETCH_MS = 5000

export interface KeeperEvents {
  /** Tries once. Never rejects. */
  fetch(address: KeySetAddress, signal: AbortSignal): Promise<FetchedKeySet>
  /** Called after an attempt, with its outcome, and for a question that causes no attempt. */
  publish(state: KeySetState, outcome: 'fetched' | 'failed' | undefined): void
}

/** Keeps one key set current: fetches it at the start, after `cacheMs`, and for unknown keys. The last valid set stays in use. */
export class KeySetKeeper {
  #address: KeySetAddress
  readonly #events: KeeperEvents
  readonly #closing = new AbortController()
  readonly #startMs = clock.monotonic()
  #text: string | undefined
  #fetchedMs = 0
  #failure: string | undefined
  #failures = 0
  readonly #attempts: SingleFlight<FetchedKeySet>
  /** Fetch again after the current attempt. */
  #again = false
  #timer: { cancel(): void } | undefined
  /** Monotonic times. */
  #nextMs = 0
  #nextExtraMs = 0

  /** @param attempts the attempts for all key sets, by id */
  constructor(address: KeySetAddress, attempts: SingleFlight<FetchedKeySet>, events: KeeperEvents) {
    this.#address = address
    this.#attempts = attempts
    this.#events = events
  }

  /** Fetches now, unless an attempt is in progress. */
  async fetch(): Promise<void> {
    const { signal } = this.#closing
    if (this.#isFetching || signal.aborted) return
    this.#timer?.cancel()
    const start = (abandoned: AbortSignal) => this.#events.fetch(this.#address, abandoned)
    const fetched = await this.#attempts.run(keySetId(this.#address), start, signal).catch(() => undefined)
    // Only closing ends the wait without a result.
    if (fetched === undefined || signal.aborted) return
    const good = 'text' in fetched
    this.#failure = good ? undefined : fetched.failure
    if (good) {
      this.#text = fetched.text
      this.#fetchedMs = clock.now()
      this.#failures = 0
      this.#wait(this.#address.cacheMs)
    } else {
      this.#wait(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#failures))
      this.#failures++
    }
    this.#events.publish(this.#state, good ? 'fetched' : 'failed')
    if (!this.#again) return
    this.#again = false
    void this.fetch()
  }

  /** The server or the duration changed. The result of an attempt under way may be that of the old server. */
  renew(address: KeySetAddress): void {
    this.#address = address
    if (this.#isFetching) this.#again = true
    else void this.fetch()
  }

  /** Requests wait for unknown keys: the state is published now, or after the attempt. */
  ask(): void {
    if (this.#isFetching || this.#isFirst) return
    if (this.#text === undefined || clock.monotonic() < this.#nextExtraMs) {
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
    return this.#attempts.isRunning(keySetId(this.#address))
  }

  /** Still in the first fetch. */
  get #isFirst(): boolean {
    return this.#text === undefined && clock.monotonic() < this.#startMs + FIRST_FETCH_MS
  }

  get #state(): KeySetState {
    const until = this.#text === undefined ? this.#nextMs : this.#nextExtraMs
    return {
      id: keySetId(this.#address),
      text: this.#text,
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
