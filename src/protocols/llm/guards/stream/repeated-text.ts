import type { BodyClaim } from '#net/body/body-memory.ts'

/** Pieces that wait to be joined: strings of their own need much more memory than their characters. */
const MAX_PIECES = 64
const PIECES_LENGTH = 1024

/** Memory overhead of a joined text. */
const ENTRY = 64

/** What the texts of one stream may take in memory until they are repeated. */
export class RepeatMemory {
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

/** A text of a stream, and what the client got of it, for events that repeat it. */
export class RepeatedText {
  readonly #memory: RepeatMemory
  readonly #input: KeptText
  /** Undefined: the client got the input unchanged so far. */
  #output: KeptText | undefined
  #passedLength = 0

  constructor(memory: RepeatMemory) {
    this.#memory = memory
    this.#input = new KeptText(memory)
  }

  get isEmpty(): boolean {
    return this.#input.length === 0
  }

  /** There was no memory to keep the text, so a repetition of it cannot be recognized. */
  get isForgotten(): boolean {
    return this.#input.isForgotten || this.#output?.isForgotten === true
  }

  receive(text: string): void {
    this.#input.append(text)
  }

  /** The next text has passed. */
  pass(original: string, text: string): void {
    if (this.#output === undefined) {
      if (text === original) {
        this.#passedLength += text.length
        return
      }
      this.#output = new KeptText(this.#memory)
      this.#output.append(this.#input.join().slice(0, this.#passedLength))
    }
    this.#output.append(text)
  }

  /** Whether it is all that was received. */
  isRepeatedBy(text: string): boolean {
    return text.length === this.#input.length && text === this.#input.join()
  }

  /** What the client got. @param text all that was received */
  outputFor(text: string): string {
    return this.#output === undefined ? text : this.#output.join()
  }
}

class KeptText {
  readonly #memory: RepeatMemory
  readonly #parts: string[] = []
  readonly #pieces: string[] = []
  #piecesLength = 0
  length = 0
  isForgotten = false

  constructor(memory: RepeatMemory) {
    this.#memory = memory
  }

  append(text: string): void {
    this.length += text.length
    if (this.isForgotten || text === '') return
    this.#pieces.push(text)
    this.#piecesLength += text.length
    if (this.#pieces.length >= MAX_PIECES || this.#piecesLength >= PIECES_LENGTH) this.#joinPieces()
  }

  join(): string {
    return [...this.#parts, ...this.#pieces].join('')
  }

  #joinPieces(): void {
    if (this.#memory.take(this.#piecesLength + ENTRY)) this.#parts.push(this.#pieces.join(''))
    else {
      this.isForgotten = true
      this.#parts.length = 0
    }
    this.#pieces.length = 0
    this.#piecesLength = 0
  }
}
