import { clock } from '#base/clock.ts'
import type { ImportKey } from '#base/verifying-key.ts'
import { type KeySet, NO_KEY_SET, readKeySet } from './read-key-set.ts'

/** Where a key set is fetched, and how long it is used before it is fetched again. */
export interface KeySetAddress {
  /** Key of the `BackendItem`. */
  readonly backend: string
  /** Absolute. */
  readonly path: string
  readonly cacheMs: number
}

/** The state of a key set, which the main thread sends to the workers after each attempt to fetch it. */
export interface KeySetState {
  /** `keySetId` of its address. */
  readonly id: string
  /** JSON text of the last valid set; undefined: none has been fetched yet. */
  readonly text: string | undefined
  /** Time of that fetch, milliseconds since the epoch. */
  readonly fetchedMs: number
  /** Why the last attempt failed, for operators; undefined: it succeeded. */
  readonly failure: string | undefined
  /** False during the first attempts: waiting requests continue to wait. */
  readonly final: boolean
  /** Time in which another fetch would not be started, in milliseconds. */
  readonly restMs: number
}

/** Policies with the same backend and path share a key set; the shortest of their durations applies. */
export function keySetId({ backend, path }: KeySetAddress): string {
  return `${backend} ${path}`
}

/** How long a request waits for keys (decision A-63). */
const WAIT_MS = 5000
/** Maximum number of requests of a worker that wait for one key set; others are refused at once. */
const MAX_WAITING = 1024

/** Requests that wait for the same fetch. */
interface PendingFetch {
  readonly settled: Promise<void>
  readonly settle: () => void
  waiting: number
}

/**
 * One thread's copy of a key set that the main thread fetches (decision A-62). Its keys change without an edit of the policies that use it.
 */
export class RemoteKeySet {
  readonly address: KeySetAddress
  readonly #importKey: ImportKey
  readonly #ask: ((id: string) => void) | undefined
  #set: KeySet = NO_KEY_SET
  #state: KeySetState | undefined
  #pending: PendingFetch | undefined
  /** Monotonic milliseconds. */
  #restUntilMs = 0

  /** @param ask requests a fetch from the main thread; undefined: nothing is fetched (`lint`, `explain`) */
  constructor(address: KeySetAddress, importKey: ImportKey, ask: ((id: string) => void) | undefined) {
    this.address = address
    this.#importKey = importKey
    this.#ask = ask
  }

  /** The same object until the keys change. */
  get keys(): KeySet['keys'] {
    return this.#set.keys
  }

  get faults(): KeySet['faults'] {
    return this.#set.faults
  }

  /** The result of the last attempt; undefined: no attempt has ended yet. */
  get state(): Omit<KeySetState, 'final' | 'restMs'> | undefined {
    return this.#state
  }

  get fetched(): boolean {
    return this.#state?.text !== undefined
  }

  /** Why there are no keys, for operators. */
  get unavailableReason(): string {
    const { backend, path } = this.address
    const fetch = `GET ${path} of ${backend}`
    if (this.#ask === undefined) return `without --call, the key set of the issuer is not fetched (${fetch})`
    return `the key set of the issuer has not been fetched (${fetch}): ${this.#state?.failure ?? 'the server has not answered yet'}`
  }

  update(state: KeySetState): void {
    if (state.text !== undefined && state.text !== this.#state?.text)
      this.#set = readKeySet(state.text, this.#importKey)
    this.#state = state
    this.#restUntilMs = clock.monotonic() + state.restMs
    if (state.final) this.#pending?.settle()
  }

  /**
   * Requests a fetch of the key set, for a token whose key is missing.
   * @returns settles when the attempt has ended or the wait times out; undefined: a fetch cannot help now
   */
  renew(): Promise<void> | undefined {
    if (this.#ask === undefined || clock.monotonic() < this.#restUntilMs) return undefined
    const pending = this.#pending ?? this.#requestFetch(this.#ask)
    if (pending.waiting >= MAX_WAITING) return undefined
    pending.waiting++
    return pending.settled
  }

  /** Sends one request for all waiting requests. */
  #requestFetch(ask: (id: string) => void): PendingFetch {
    const { promise, resolve } = Promise.withResolvers<void>()
    const settle = () => {
      timeout.cancel()
      this.#pending = undefined
      resolve()
    }
    const timeout = clock.after(WAIT_MS, settle)
    const pending = { settled: promise, settle, waiting: 0 }
    this.#pending = pending
    ask(keySetId(this.address))
    return pending
  }
}

/** The remote key sets of a thread, by `keySetId`. */
export class RemoteKeySets {
  readonly #sets = new Map<string, RemoteKeySet>()
  /** State of key sets that no policy of this thread uses yet. */
  readonly #unused = new Map<string, KeySetState>()
  readonly #importKey: ImportKey
  readonly #ask: ((id: string) => void) | undefined

  /** @param ask as for `RemoteKeySet` */
  constructor(importKey: ImportKey, ask?: (id: string) => void) {
    this.#importKey = importKey
    this.#ask = ask
  }

  at(address: KeySetAddress): RemoteKeySet {
    const id = keySetId(address)
    const known = this.#sets.get(id)
    if (known !== undefined) return known
    const set = new RemoteKeySet(address, this.#importKey, this.#ask)
    this.#sets.set(id, set)
    const state = this.#unused.get(id)
    this.#unused.delete(id)
    if (state !== undefined) set.update(state)
    return set
  }

  update(state: KeySetState): void {
    const set = this.#sets.get(state.id)
    if (set === undefined) this.#unused.set(state.id, state)
    else set.update(state)
  }

  /** Removes a key set that no policy uses any more. */
  remove(id: string): void {
    this.#sets.delete(id)
    this.#unused.delete(id)
  }
}
