import { clock } from '#base/clock.ts'

/**
 * How long a body may take to arrive before it can be dropped for others when no memory is left. Otherwise a few clients
 * that send a byte at a time would exclude all others.
 */
const PATIENCE_MS = 10_000

/** A body that is being gathered and may have to give way. */
export interface ComingBody {
  /** Lets go of what has come. */
  giveWay(): void
}

/**
 * Memory for bodies that the requests of one worker may hold together: a bound for each of them (`maxBufferSize`) bounds nothing
 * when there are many. What one message holds of it is a `BodyClaim`.
 */
export class BodyMemory {
  readonly maxBytes: number
  readonly #now: () => number
  #heldBytes = 0
  /** Bodies that may have to give way and when they began to come, oldest first. */
  readonly #coming = new Map<ComingBody, number>()

  /** `now`: monotonic milliseconds. */
  constructor(maxBytes: number, now: () => number = () => clock.monotonic()) {
    this.maxBytes = maxBytes
    this.#now = now
  }

  get heldBytes(): number {
    return this.#heldBytes
  }

  hasRoom(bytes: number): boolean {
    return this.#heldBytes + bytes <= this.maxBytes
  }

  /** Has bodies that take long give way to `taker`, until there is room or it is its own turn. @returns whether there is room for it */
  makeRoom(bytes: number, taker: ComingBody): boolean {
    const latest = this.#now() - PATIENCE_MS
    for (const [body, began] of this.#coming) {
      if (this.hasRoom(bytes) || began > latest) break
      this.#coming.delete(body)
      body.giveWay()
      if (body === taker) return false
    }
    return this.hasRoom(bytes)
  }

  begins(body: ComingBody): void {
    this.#coming.set(body, this.#now())
  }

  ends(body: ComingBody): void {
    this.#coming.delete(body)
  }

  /** `bytes`: more when positive, less when negative. */
  change(bytes: number): void {
    this.#heldBytes += bytes
  }
}

/** The share of a worker's body memory that one message, or one whole request, holds. `release` returns all of it, once, however the request ends. */
export class BodyClaim {
  readonly #memory: BodyMemory
  #heldBytes = 0
  #coming: ComingBody | undefined
  #over = false

  constructor(memory: BodyMemory) {
    this.#memory = memory
  }

  /** A body of a client begins to come, which may have to give way until it is `complete`. */
  expect(body: ComingBody): void {
    if (this.#over) return
    this.complete()
    this.#coming = body
    this.#memory.begins(body)
  }

  complete(): void {
    if (this.#coming === undefined) return
    this.#memory.ends(this.#coming)
    this.#coming = undefined
  }

  /** Has others give way for what has to be gathered. */
  makeRoom(bytes: number, taker: ComingBody): boolean {
    return !this.#over && this.#memory.makeRoom(bytes, taker)
  }

  /** @returns false when there is no room, or the request is over: nothing was taken */
  take(bytes: number): boolean {
    if (this.#over || !this.#memory.hasRoom(bytes)) return false
    this.#change(bytes)
    return true
  }

  /** For what has come already and nobody else has: as much as one read brings may be beyond the bound. */
  takeAnyway(bytes: number): void {
    if (!this.#over) this.#change(bytes)
  }

  give(bytes: number): void {
    if (!this.#over) this.#change(-bytes)
  }

  /** Nothing can be taken any more. */
  release(): void {
    this.complete()
    this.#change(-this.#heldBytes)
    this.#over = true
  }

  #change(bytes: number): void {
    this.#heldBytes += bytes
    this.#memory.change(bytes)
  }
}
