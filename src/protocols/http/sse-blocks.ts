const LF = 0x0a
const CR = 0x0d

/**
 * Finds the ends of blocks (events, comments) in an event stream that arrives in arbitrary pieces (WHATWG HTML, 9.2.5). It looks only at
 * line ends, so that bytes are forwarded without copying or parsing.
 */
export class SseBlocks {
  /** Length of the current line so far, without a CR at its end. */
  #lineLength = 0
  /** The last byte was a CR that an LF may follow. */
  #afterReturn = false
  /** The stream ends lines with a lone CR, so every byte must be examined. */
  #loneReturns = false
  /** The first CR of the piece from some place on; -1: none. */
  #nextReturn = -1

  /**
   * Index after the next empty line of `piece`, starting at `from`; may be `piece.length`. -1 if the block continues in the next piece; the
   * caller must then pass that piece from its start.
   */
  next(piece: Uint8Array, from: number): number {
    if (this.#loneReturns) return this.#nextByByte(piece, from)
    if (from === 0) this.#nextReturn = piece.indexOf(CR)
    let at = from
    for (;;) {
      const feed = piece[at] === LF ? at : piece.indexOf(LF, at)
      if (feed < 0) return this.#unfinished(piece, at)
      if (this.#hasLoneReturn(piece, at, feed)) return this.#nextAfterLoneReturn(piece, at)
      const hasReturn = feed > at ? piece[feed - 1] === CR : this.#afterReturn
      const length = this.#lineLength + feed - at - (hasReturn && feed > at ? 1 : 0)
      this.#lineLength = 0
      this.#afterReturn = false
      at = feed + 1
      if (length === 0) return at
    }
  }

  /** Whether a CR that no LF follows ends a line before the LF at `feed`. */
  #hasLoneReturn(piece: Uint8Array, at: number, feed: number): boolean {
    if (this.#afterReturn && feed > at) return true
    if (this.#nextReturn >= 0 && this.#nextReturn < at) this.#nextReturn = piece.indexOf(CR, at)
    return this.#nextReturn >= 0 && this.#nextReturn < feed - 1
  }

  #nextAfterLoneReturn(piece: Uint8Array, at: number): number {
    this.#loneReturns = true
    const endsBlock = this.#afterReturn && this.#lineLength === 0
    if (this.#afterReturn) this.#lineLength = 0
    // The CR at the end of the last piece was an empty line.
    if (endsBlock && piece[at] !== LF) {
      this.#afterReturn = false
      return at
    }
    return this.#nextByByte(piece, at)
  }

  /** The rest of a piece, from `at` on, has no LF. */
  #unfinished(piece: Uint8Array, at: number): number {
    const rest = piece.length - at
    if (rest === 0) return -1
    const lone = piece.indexOf(CR, at)
    if ((lone >= 0 && lone < piece.length - 1) || this.#afterReturn) return this.#nextAfterLoneReturn(piece, at)
    this.#afterReturn = lone >= 0
    this.#lineLength += this.#afterReturn ? rest - 1 : rest
    return -1
  }

  #nextByByte(piece: Uint8Array, from: number): number {
    for (let at = from; at < piece.length; at++) {
      const byte = piece[at]
      if (byte === LF && this.#afterReturn) {
        this.#afterReturn = false
        continue
      }
      this.#afterReturn = byte === CR
      if (byte !== LF && byte !== CR) {
        this.#lineLength++
        continue
      }
      const length = this.#lineLength
      this.#lineLength = 0
      if (length === 0) return at + 1
    }
    return -1
  }
}
