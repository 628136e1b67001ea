const LF = 0x0a
const CR = 0x0d

/**
 * Finds where the blocks (events, comments) of an event stream end, in bytes that arrive in any pieces (WHATWG HTML, 9.2.5).
 * It looks at line ends only, so that bytes can be passed on uncopied and unparsed.
 */
export class SseBlocks {
  /** Bytes of the line that has not ended yet, a CR at its end not counted. */
  #lineLength = 0
  /** The last byte seen was a CR that may be followed by its LF. */
  #afterReturn = false
  /** The stream ends lines with a lone CR: every byte must be looked at. */
  #loneReturns = false

  /**
   * Index after the next empty line of `piece` from `from` on; `piece.length` is possible. -1 when the block goes on in the next
   * piece, which must then be given from its start.
   */
  next(piece: Uint8Array, from: number): number {
    if (this.#loneReturns) return this.#nextByByte(piece, from)
    let at = from
    for (;;) {
      const feed = piece.indexOf(LF, at)
      if (feed < 0) return this.#unfinished(piece, at)
      const hasReturn = feed > at ? piece[feed - 1] === CR : this.#afterReturn
      const length = this.#lineLength + feed - at - (hasReturn && feed > at ? 1 : 0)
      this.#lineLength = 0
      this.#afterReturn = false
      at = feed + 1
      if (length === 0) return at
    }
  }

  /** The rest of a piece, from `at` on, has no LF. */
  #unfinished(piece: Uint8Array, at: number): number {
    const rest = piece.length - at
    if (rest === 0) return -1
    const lone = piece.indexOf(CR, at)
    if ((lone >= 0 && lone < piece.length - 1) || this.#afterReturn) {
      this.#loneReturns = true
      if (this.#afterReturn) this.#lineLength = 0
      return this.#nextByByte(piece, at)
    }
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
