/**
 * Tells for consecutive blocks of a piece of bytes whether they contain a JSON member of that name with a value other than null.
 * Bytes are searched natively and each only once, nothing is parsed. A member of that name at any depth counts, and so may text
 * that only looks like one: whoever needs certainty parses the block then.
 */
export class MemberSearch {
  readonly #needle: Uint8Array
  #piece: Buffer | undefined
  /** Next occurrence in the piece; its length when there is none. */
  #next = 0

  constructor(key: string) {
    this.#needle = new TextEncoder().encode(`"${key}"`)
  }

  /** Blocks of one piece are asked for in order. */
  isIn(piece: Buffer, start: number, end: number): boolean {
    if (this.#piece !== piece) {
      this.#piece = piece
      this.#next = -1
    }
    while (this.#next < end) {
      if (this.#next >= start && hasValue(piece, this.#next + this.#needle.length, end)) return true
      const found = piece.indexOf(this.#needle, Math.max(start, this.#next + 1))
      this.#next = found < 0 ? piece.length : found
    }
    return false
  }

  /** Forgets the piece, whose memory is used again. */
  release(): void {
    this.#piece = undefined
  }
}

/** Whether a colon and something else than `null` stand at `at`. */
function hasValue(piece: Uint8Array, at: number, end: number): boolean {
  at = skipSpace(piece, at, end)
  if (piece[at] !== 0x3a) return false
  at = skipSpace(piece, at + 1, end)
  return at < end && piece[at] !== 0x6e
}

function skipSpace(piece: Uint8Array, at: number, end: number): number {
  while (at < end && (piece[at] === 0x20 || piece[at] === 0x0a || piece[at] === 0x0d || piece[at] === 0x09)) at++
  return at
}
