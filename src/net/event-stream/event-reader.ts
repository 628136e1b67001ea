import type { BodyClaim } from '../body/body-memory.ts'
import { HeldBytes } from '../body/held-bytes.ts'
import { crc32 } from '../crc32.ts'
import { CHECKSUM_BYTES, EventFrame, LENGTHS_BYTES, MIN_FRAME_BYTES, PRELUDE_BYTES } from './event-frame.ts'
import { endOfHeader } from './event-header.ts'

/** The headers of a frame are never longer ("Prelude"). */
const MAX_HEADERS_BYTES = 131_072

/** Why a body does not consist of frames that can be read. */
export interface BadFrame {
  readonly why: 'malformed' | 'too-large' | 'no-memory'
  /** For operators. */
  readonly detail: string
}

/**
 * Separates the frames of a body that arrives in pieces. A frame that lies within one piece is not copied, any other one once.
 */
export class EventReader {
  readonly #maxBytes: number
  readonly #take: (frame: EventFrame) => void
  readonly #frame = new EventFrame()
  /** The beginning of a frame that is not complete. */
  readonly #held: HeldBytes
  /** Bytes of that frame; 0 while its prelude is incomplete. */
  #heldFrameBytes = 0
  #bad: BadFrame | undefined

  /**
   * @param maxBytes of one frame; a larger one is refused as soon as its length is known
   * @param take gets each frame, and must not keep it
   */
  constructor(claim: BodyClaim, maxBytes: number, take: (frame: EventFrame) => void) {
    this.#maxBytes = maxBytes
    this.#take = take
    this.#held = new HeldBytes(claim, Math.max(maxBytes, MIN_FRAME_BYTES))
  }

  /** No frame is incomplete. */
  get atBoundary(): boolean {
    return this.#held.length === 0
  }

  /**
   * Reads `buffer[start, end)`, of which nothing is kept by reference.
   * @returns the problem of these bytes, or of earlier ones, after which nothing is read
   */
  read(buffer: Buffer, start: number, end: number): BadFrame | undefined {
    let at = start
    if (this.#held.length > 0) at = this.#complete(buffer, start, end)
    while (this.#bad === undefined && end - at >= PRELUDE_BYTES) {
      const length = this.#frameBytes(buffer, at)
      if (length > end - at) {
        this.#heldFrameBytes = length
        break
      }
      this.#deliver(buffer, at, at + length)
      at += length
    }
    if (at < end) this.#hold(buffer, at, end)
    return this.#bad
  }

  /** Adds to the frame that is incomplete what belongs to it. @returns the end of that */
  #complete(buffer: Buffer, start: number, end: number): number {
    const held = this.#held
    let at = start
    if (this.#heldFrameBytes === 0) {
      at = Math.min(end, start + PRELUDE_BYTES - held.length)
      this.#hold(buffer, start, at)
      if (held.length < PRELUDE_BYTES || this.#bad !== undefined) return at
      this.#heldFrameBytes = this.#frameBytes(held.bytes, 0)
      if (this.#bad !== undefined) return at
    }
    const rest = Math.min(end, at + this.#heldFrameBytes - held.length)
    this.#hold(buffer, at, rest)
    if (held.length === this.#heldFrameBytes) {
      const frame = held.bytes
      held.drop()
      this.#heldFrameBytes = 0
      this.#deliver(frame, 0, frame.length)
      // So that the memory of a large frame is free.
      this.#frame.buffer = buffer
    }
    return rest
  }

  #hold(buffer: Buffer, start: number, end: number): void {
    if (this.#bad === undefined && !this.#held.append(buffer, start, end)) {
      this.#bad = { why: 'no-memory', detail: 'no memory is left for a frame' }
    }
  }

  /** The length of the frame at `at`, of which the prelude is complete. */
  #frameBytes(bytes: Uint8Array, at: number): number {
    const length = uint32(bytes, at)
    const headersLength = uint32(bytes, at + 4)
    if (crc32(bytes, at, at + LENGTHS_BYTES) !== uint32(bytes, at + LENGTHS_BYTES)) {
      this.#bad = malformed('the checksum of the lengths of a frame is wrong')
    } else if (length < MIN_FRAME_BYTES + headersLength) {
      this.#bad = malformed(`a frame of ${length} bytes cannot have ${headersLength} bytes of headers`)
    } else if (headersLength > MAX_HEADERS_BYTES) {
      this.#bad = malformed(`a frame has ${headersLength} bytes of headers; the limit is ${MAX_HEADERS_BYTES}`)
    } else if (length > this.#maxBytes) {
      this.#bad = { why: 'too-large', detail: `a frame has ${length} bytes; the limit is ${this.#maxBytes}` }
    }
    return length
  }

  #deliver(buffer: Buffer, start: number, end: number): void {
    if (this.#bad !== undefined) return
    const payloadEnd = end - CHECKSUM_BYTES
    if (crc32(buffer, start, payloadEnd) !== uint32(buffer, payloadEnd)) {
      this.#bad = malformed('the checksum of a frame is wrong')
      return
    }
    const payloadStart = start + PRELUDE_BYTES + uint32(buffer, start + 4)
    for (let at = start + PRELUDE_BYTES; at < payloadStart; ) {
      at = endOfHeader(buffer, at, payloadStart)
      if (at > 0) continue
      this.#bad = malformed('a header of a frame is malformed')
      return
    }
    const frame = this.#frame
    frame.buffer = buffer
    frame.start = start
    frame.end = end
    frame.payloadStart = payloadStart
    frame.payloadEnd = payloadEnd
    this.#take(frame)
  }
}

function malformed(detail: string): BadFrame {
  return { why: 'malformed', detail }
}

function uint32(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0
}
