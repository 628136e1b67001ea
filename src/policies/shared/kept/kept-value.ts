import { clock } from '#base/clock.ts'

/** The state of a value that the main thread keeps current for all workers; it sends the state after each attempt to fetch the value. */
export interface KeptState<Value> {
  readonly id: string
  /** The last valid value; undefined: none has been fetched yet. */
  readonly value: Value | undefined
  /** Time of that fetch, milliseconds since the epoch. */
  readonly fetchedMs: number
  /** Why the last attempt failed, for operators; undefined: it succeeded. */
  readonly failure: string | undefined
  /** False during the first attempts: waiting requests continue to wait. */
  readonly final: boolean
  /** Time in which another fetch would not be started, in milliseconds. */
  readonly restMs: number
}

/** Requests a newer value than the one that was fetched at this time (`KeptState.fetchedMs`; 0: there is none). */
export type RequestKept = (id: string, fetchedMs: number) => void

/** How long a request waits for a value (decision A-63). */
const WAIT_MS = 5000
/** Maximum number of requests of a worker that wait for one value; others are refused at once. */
const MAX_WAITING = 1024

/** Requests that wait for the same fetch. */
interface PendingFetch {
  readonly settled: Promise<void>
  readonly settle: () => void
  waiting: number
}

/** One thread's copy of a value that the main thread keeps current. It changes without an edit of the policies that use it. */
export class KeptValue<Value> {
  readonly id: string
  readonly #ask: RequestKept | undefined
  #state: KeptState<Value> | undefined
  #pending: PendingFetch | undefined
  /** Monotonic milliseconds. */
  #restUntilMs = 0

  /** @param ask requests a fetch from the main thread; undefined: nothing is fetched (`lint`, `explain`) */
  constructor(id: string, ask: RequestKept | undefined) {
    this.id = id
    this.#ask = ask
  }

  /** The result of the last attempt; undefined: no attempt has ended yet. */
  get state(): Omit<KeptState<Value>, 'final' | 'restMs'> | undefined {
    return this.#state
  }

  /** Whether somebody fetches it. */
  get isKept(): boolean {
    return this.#ask !== undefined
  }

  update(state: KeptState<Value>): void {
    this.#state = state
    this.#restUntilMs = clock.monotonic() + state.restMs
    if (state.final) this.#pending?.settle()
  }

  /**
   * Requests a fetch, because the value is missing or does not suffice.
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
  #requestFetch(ask: RequestKept): PendingFetch {
    const { promise, resolve } = Promise.withResolvers<void>()
    const settle = () => {
      timeout.cancel()
      this.#pending = undefined
      resolve()
    }
    const timeout = clock.after(WAIT_MS, settle)
    const pending = { settled: promise, settle, waiting: 0 }
    this.#pending = pending
    ask(this.id, this.#state?.fetchedMs ?? 0)
    return pending
  }
}

/** The copies of a thread, by id. */
export class KeptValues<Source, Value, Copy extends KeptValue<Value>> {
  readonly #copies = new Map<string, Copy>()
  /** State of values that no policy of this thread uses yet. */
  readonly #unused = new Map<string, KeptState<Value>>()
  readonly #idOf: (source: Source) => string
  readonly #create: (source: Source) => Copy

  constructor(idOf: (source: Source) => string, create: (source: Source) => Copy) {
    this.#idOf = idOf
    this.#create = create
  }

  /** Policies with the same id share a copy. */
  at(source: Source): Copy {
    const id = this.#idOf(source)
    const known = this.#copies.get(id)
    if (known !== undefined) return known
    const copy = this.#create(source)
    this.#copies.set(id, copy)
    const state = this.#unused.get(id)
    this.#unused.delete(id)
    if (state !== undefined) copy.update(state)
    return copy
  }

  update(state: KeptState<Value>): void {
    const copy = this.#copies.get(state.id)
    if (copy === undefined) this.#unused.set(state.id, state)
    else copy.update(state)
  }

  /** Removes a value that no policy uses any more. */
  remove(id: string): void {
    this.#copies.delete(id)
    this.#unused.delete(id)
  }
}
