/**
 * Memory for bodies that the requests of one worker may hold together: a bound for each of them (`maxBufferSize`) bounds nothing
 * when there are many. What one message holds of it is a `BodyClaim`.
 */
export class BodyMemory {
  readonly maxBytes: number
  #heldBytes = 0

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  get heldBytes(): number {
    return this.#heldBytes
  }

  hasRoom(bytes: number): boolean {
    return this.#heldBytes + bytes <= this.maxBytes
  }

  /** `bytes`: more when positive, less when negative. */
  change(bytes: number): void {
    this.#heldBytes += bytes
  }
}

/** What one message, or all of one request, holds of a worker's memory. However it ends, `release` gives everything back, once. */
export class BodyClaim {
  readonly #memory: BodyMemory
  #heldBytes = 0
  #over = false

  constructor(memory: BodyMemory) {
    this.#memory = memory
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
    this.#change(-this.#heldBytes)
    this.#over = true
  }

  #change(bytes: number): void {
    this.#heldBytes += bytes
    this.#memory.change(bytes)
  }
}
