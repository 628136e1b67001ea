import { Buffer } from 'node:buffer'

const LINE_FEED = 10

/** Divides bytes into lines, as they arrive. */
export class Lines {
  readonly #maxBytes: number
  /** Of the line that has not ended. */
  #pieces: Buffer[] = []
  #bytes = 0

  /** @param maxBytes of one line */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** @returns the lines that end in this piece @throws Error if a line is too long */
  take(piece: Buffer): readonly string[] {
    const lines: string[] = []
    let start = 0
    for (let end = piece.indexOf(LINE_FEED); end >= 0; end = piece.indexOf(LINE_FEED, start)) {
      this.#add(piece.subarray(start, end))
      lines.push(Buffer.concat(this.#pieces).toString())
      this.#pieces = []
      this.#bytes = 0
      start = end + 1
    }
    if (start < piece.length) this.#add(piece.subarray(start))
    return lines
  }

  #add(piece: Buffer): void {
    this.#bytes += piece.length
    if (this.#bytes > this.#maxBytes) throw new Error(`a line has more than ${this.#maxBytes} bytes`)
    this.#pieces.push(piece)
  }
}
