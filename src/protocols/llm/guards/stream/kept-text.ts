import type { BodyClaim } from '#net/body/body-memory.ts'

/** At these limits, pieces are joined: many short strings need much more memory than one long string. */
const MAX_PIECES = 64
const PIECES_LENGTH = 1024

/** Memory overhead of a joined text. */
const ENTRY_BYTES = 64

/** What the kept texts of one stream may take in memory. */
export class KeptTextMemory {
  readonly #claim: BodyClaim
  #left: number

  /** @param maxLength of all texts, in UTF-16 units */
  constructor(claim: BodyClaim, maxLength: number) {
    this.#claim = claim
    this.#left = maxLength
  }

  /** @returns false if there is no room; then there is none for later texts either */
  take(length: number): boolean {
    const hasRoom = length <= this.#left && this.#claim.take(length)
    this.#left = hasRoom ? this.#left - length : 0
    return hasRoom
  }
}

/** A text of a stream as the client got it, for later events that repeat the text. */
export class KeptText {
  readonly #memory: KeptTextMemory
  readonly #parts: string[] = []
  readonly #pieces: string[] = []
  #piecesLength = 0
  #isForgotten = false

  constructor(memory: KeptTextMemory) {
    this.#memory = memory
  }

  append(text: string): void {
    if (this.#isForgotten || text === '') return
    this.#pieces.push(text)
    this.#piecesLength += text.length
    if (this.#pieces.length >= MAX_PIECES || this.#piecesLength >= PIECES_LENGTH) this.#joinPieces()
  }

  /** Undefined: there was no memory to keep it. */
  get text(): string | undefined {
    return this.#isForgotten ? undefined : [...this.#parts, ...this.#pieces].join('')
  }

  #joinPieces(): void {
    if (this.#memory.take(this.#piecesLength + ENTRY_BYTES)) this.#parts.push(this.#pieces.join(''))
    else {
      this.#isForgotten = true
      this.#parts.length = 0
    }
    this.#pieces.length = 0
    this.#piecesLength = 0
  }
}
