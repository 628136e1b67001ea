import type { BodyClaim } from '#net/body/body-memory.ts'
import { HeldBytes } from '#net/body/held-bytes.ts'

/** Longer blocks are not held. */
const MAX_BLOCK_BYTES = 2 * 1024 * 1024

/** Receives the blocks of an event stream. A block is an event or comments, with the empty line that ends it. */
export interface SseBlockReceiver {
  /** A whole block; the bytes are valid during the call. */
  block(buffer: Buffer, start: number, end: number): void
  /** The next part of a block that is too long to be held, or for which there is no memory; `isLast`: the block ends with it. */
  part(buffer: Buffer, start: number, end: number, isLast: boolean): void
}

export interface SseLimits {
  /** Memory for the beginnings of blocks. */
  readonly claim: BodyClaim
  readonly maxBlockBytes?: number
}

/**
 * Splits an event stream that arrives in arbitrary pieces into blocks (WHATWG HTML, 9.2.5). A block inside one piece is not copied. The
 * pieces of a longer one are copied once; their buffer grows by doubling, so that many small pieces cost linear time.
 */
export class SseSplitter {
  readonly #receiver: SseBlockReceiver
  readonly #blocks = new SseBlocks()
  readonly #held: HeldBytes
  #isInParts = false

  constructor(receiver: SseBlockReceiver, { claim, maxBlockBytes = MAX_BLOCK_BYTES }: SseLimits) {
    this.#receiver = receiver
    this.#held = new HeldBytes(claim, maxBlockBytes)
  }

  /** The beginning of a block whose end has not arrived. Some servers omit the empty line after the last block. */
  get rest(): Buffer {
    return this.#held.bytes
  }

  push(buffer: Buffer, start: number, end: number): void {
    const piece = buffer.subarray(start, end)
    let at = this.#completeHeld(piece)
    if (at < 0) return
    while (at < piece.length) {
      const next = this.#blocks.next(piece, at)
      if (next < 0) {
        this.#hold(piece, at, piece.length, false)
        return
      }
      this.#receiver.block(buffer, start + at, start + next)
      at = next
    }
  }

  /**
   * Completes the block that earlier pieces began.
   * @returns index of the first block that begins in this piece; -1 if there is none
   */
  #completeHeld(piece: Buffer): number {
    if (this.#held.length === 0 && !this.#isInParts) return 0
    const end = this.#blocks.next(piece, 0)
    if (end < 0) this.#hold(piece, 0, piece.length, false)
    else if (this.#hold(piece, 0, end, true)) {
      const block = this.#held.bytes
      this.#receiver.block(block, 0, block.length)
      this.#held.drop()
    }
    return end
  }

  /** @returns false if there is no room: the block is delivered in parts */
  #hold(piece: Buffer, start: number, end: number, isLast: boolean): boolean {
    if (!this.#isInParts) {
      if (this.#held.appendWithin(piece, start, end)) return true
      const { bytes } = this.#held
      if (bytes.length > 0) this.#receiver.part(bytes, 0, bytes.length, false)
      this.#held.drop()
    }
    this.#isInParts = !isLast
    this.#receiver.part(piece, start, end, isLast)
    return false
  }
}

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
