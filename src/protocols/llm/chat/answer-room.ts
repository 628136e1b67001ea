import type { BodyClaim } from '#net/body/body-memory.ts'

/** What a piece takes besides its contents. */
const PIECE = 16

/**
 * The memory that the writer of a stream may use for contents that it cannot write yet. A writer that keeps the whole answer has none:
 * `AnswerEnd` counts what passes to it.
 */
export class AnswerRoom {
  readonly #claim: BodyClaim
  /** In UTF-16 units. */
  readonly #maxLength: number
  readonly #full: () => void
  #length = 0

  /** @param full called when there is no room: the answer must end */
  constructor(claim: BodyClaim, maxLength: number, full: () => void) {
    this.#claim = claim
    this.#maxLength = maxLength
    this.#full = full
  }

  /** Takes room for a piece. */
  take(length: number): void {
    const size = length + PIECE
    if (this.#length + size > this.#maxLength || !this.#claim.take(size)) return this.#full()
    this.#length += size
  }

  /** Returns the room of pieces with this length in all. */
  give(length: number, pieces: number): void {
    const size = Math.min(length + pieces * PIECE, this.#length)
    this.#claim.give(size)
    this.#length -= size
  }
}
