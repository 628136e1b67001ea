import type { BodyClaim } from '#net/body/body-memory.ts'
import { HeldBytes } from '#net/body/held-bytes.ts'
import { SseBlocks } from '../../http/sse-blocks.ts'

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
