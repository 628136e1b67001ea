import { clock } from '#base/clock.ts'
import { type Linked, LinkedList } from '#base/linked-list.ts'

/**
 * How long a body may take to arrive before it can be dropped in favour of others when memory runs out. Otherwise a few clients that
 * send one byte at a time could exclude all others.
 */
const PATIENCE_MS = 10_000

/** A body that is being collected and may be dropped when memory runs out. */
export interface IncomingBody {
  /** Drops the collected bytes. */
  giveWay(): void
}

/** A body that may be dropped. */
class DroppableBody implements Linked<DroppableBody> {
  readonly body: IncomingBody
  /** Monotonic milliseconds. */
  readonly beganMs: number
  previous: DroppableBody | null = null
  next: DroppableBody | null = null

  constructor(body: IncomingBody, beganMs: number) {
    this.body = body
    this.beganMs = beganMs
  }
}

/**
 * Memory limit for the buffered bodies of all requests of one worker; the limit per body (`maxBufferSize`) is not enough when there are
 * many. Each message takes its share through a `BodyClaim`.
 */
export class BodyMemory {
  readonly maxBytes: number
  readonly #now: () => number
  #heldBytes = 0
  /** Bodies that may be dropped. */
  readonly #incoming = new LinkedList<DroppableBody>()

  /** @param now monotonic milliseconds */
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

  /** Drops slow bodies, oldest first, until there is room for `taker` or `taker` is next. @returns whether there is room */
  makeRoom(bytes: number, taker: IncomingBody): boolean {
    const latest = this.#now() - PATIENCE_MS
    for (let { first } = this.#incoming; first !== null; { first } = this.#incoming) {
      if (this.hasRoom(bytes) || first.beganMs > latest) break
      this.#incoming.delete(first)
      first.body.giveWay()
      if (first.body === taker) return false
    }
    return this.hasRoom(bytes)
  }

  /** @returns what `ends` takes */
  begins(body: IncomingBody): DroppableBody {
    const incoming = new DroppableBody(body, this.#now())
    this.#incoming.add(incoming)
    return incoming
  }

  /** The body is complete, or was dropped. */
  ends(incoming: DroppableBody): void {
    this.#incoming.delete(incoming)
  }

  /** @param bytes positive: taken, negative: released */
  change(bytes: number): void {
    this.#heldBytes += bytes
  }
}

/** The share of a worker's body memory that one message, or one whole request, uses. `release` returns all of it, however the request ends. */
export class BodyClaim {
  readonly #memory: BodyMemory
  #heldBytes = 0
  #incoming: DroppableBody | undefined
  #over = false

  constructor(memory: BodyMemory) {
    this.#memory = memory
  }

  /** Registers the body of a client, which may be dropped until it is `complete`. */
  expect(body: IncomingBody): void {
    if (this.#over) return
    this.complete()
    this.#incoming = this.#memory.begins(body)
  }

  complete(): void {
    if (this.#incoming === undefined) return
    this.#memory.ends(this.#incoming)
    this.#incoming = undefined
  }

  /** Drops slow bodies in favour of `taker`. */
  makeRoom(bytes: number, taker: IncomingBody): boolean {
    return !this.#over && this.#memory.makeRoom(bytes, taker)
  }

  /** @returns false if there is no room or the request is over; then nothing is taken */
  take(bytes: number): boolean {
    if (this.#over || !this.#memory.hasRoom(bytes)) return false
    this.#change(bytes)
    return true
  }

  /** Takes memory for bytes that were already read and cannot be read again. The limit may be exceeded by the size of one read. */
  takeAnyway(bytes: number): void {
    if (!this.#over) this.#change(bytes)
  }

  give(bytes: number): void {
    if (!this.#over) this.#change(-bytes)
  }

  /** Returns all memory; nothing can be taken afterwards. */
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
