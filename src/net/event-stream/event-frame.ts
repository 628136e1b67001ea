import { crc32 } from '../crc32.ts'
import { decodeText, type EventHeader, endOfHeader, hasName, readHeader, TEXT_TYPE } from './event-header.ts'

// Frames of application/vnd.amazon.eventstream: lengths of the frame and of its headers, their checksum, headers, payload, checksum of everything.

export const LENGTHS_BYTES = 8
export const PRELUDE_BYTES = 12
export const CHECKSUM_BYTES = 4
export const MIN_FRAME_BYTES = PRELUDE_BYTES + CHECKSUM_BYTES

/** One received frame, whose checksums and headers are valid. An `EventReader` has one object for all its frames: it is valid until `take` returns. */
export class EventFrame {
  /** The frame is `buffer[start, end)`. */
  buffer!: Buffer
  start = 0
  end = 0
  /** The payload is `buffer[payloadStart, payloadEnd)`. */
  payloadStart = 0
  payloadEnd = 0

  /** A view of the whole frame. */
  get bytes(): Buffer {
    return this.buffer.subarray(this.start, this.end)
  }

  /** A view of the payload. */
  get payload(): Buffer {
    return this.buffer.subarray(this.payloadStart, this.payloadEnd)
  }

  /** The value of the first header of that name; undefined if there is none, or if it is not text. @param name ASCII text */
  text(name: string): string | undefined {
    const at = this.#find(name)
    if (at < 0) return undefined
    const typeAt = at + 1 + name.length
    if (this.buffer[typeAt] !== TEXT_TYPE) return undefined
    return decodeText(this.buffer, typeAt + 3, endOfHeader(this.buffer, at, this.payloadStart))
  }

  has(name: string): boolean {
    return this.#find(name) >= 0
  }

  /** All headers, in order. */
  headers(): readonly EventHeader[] {
    const headers: EventHeader[] = []
    for (let at = this.#headersStart; at < this.payloadStart; ) {
      const end = endOfHeader(this.buffer, at, this.payloadStart)
      headers.push(readHeader(this.buffer, at, end))
      at = end
    }
    return headers
  }

  get #headersStart(): number {
    return this.start + PRELUDE_BYTES
  }

  /** @returns -1 if there is no header of that name */
  #find(name: string): number {
    for (let at = this.#headersStart; at < this.payloadStart; at = endOfHeader(this.buffer, at, this.payloadStart)) {
      if (hasName(this.buffer, at, name)) return at
    }
    return -1
  }
}

/** A frame as it is sent. @param headers encoded (`encodeHeaders`), so that those of all frames of a kind are encoded once */
export function encodeEvent(headers: Uint8Array, payload: Uint8Array): Uint8Array {
  const frame = new Uint8Array(MIN_FRAME_BYTES + headers.length + payload.length)
  writeUint32(frame, 0, frame.length)
  writeUint32(frame, 4, headers.length)
  writeUint32(frame, LENGTHS_BYTES, crc32(frame, 0, LENGTHS_BYTES))
  frame.set(headers, PRELUDE_BYTES)
  frame.set(payload, PRELUDE_BYTES + headers.length)
  const checksumAt = frame.length - CHECKSUM_BYTES
  writeUint32(frame, checksumAt, crc32(frame, 0, checksumAt))
  return frame
}

function writeUint32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24
  bytes[at + 1] = value >>> 16
  bytes[at + 2] = value >>> 8
  bytes[at + 3] = value
}
