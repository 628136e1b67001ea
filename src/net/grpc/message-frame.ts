// Messages in the body of a gRPC request or response: one byte for compression, four for the length, then the message (gRPC over HTTP/2).

const PREFIX_BYTES = 5

/** A message as it is sent, not compressed. */
export function frameMessage(message: Uint8Array): Uint8Array {
  const framed = new Uint8Array(PREFIX_BYTES + message.length)
  new DataView(framed.buffer).setUint32(1, message.length)
  framed.set(message, PREFIX_BYTES)
  return framed
}

/** The body does not consist of acceptable messages. `message` is for operators. */
export class BadFrame extends Error {}

const NOTHING: Uint8Array = new Uint8Array(0)

/** Separates the messages of a body that arrives in pieces. */
export class FrameReader {
  readonly #maxBytes: number
  /** The received bytes that belong to no returned message are those from `#from` to `#to`. */
  #bytes = NOTHING
  #from = 0
  #to = 0

  /** @param maxBytes of one message; a larger one is refused as soon as its length is known */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** No message is incomplete. */
  get atBoundary(): boolean {
    return this.#from === this.#to
  }

  /** @param piece may be kept until the next one */
  push(piece: Uint8Array): void {
    if (this.atBoundary) {
      this.#bytes = piece
      this.#from = 0
      this.#to = piece.length
      return
    }
    this.#reserve(piece.length)
    this.#bytes.set(piece, this.#to)
    this.#to += piece.length
  }

  /** The next message; undefined if it is not complete yet. Throws `BadFrame`. */
  next(): Uint8Array | undefined {
    const bytes = this.#bytes
    const start = this.#from + PREFIX_BYTES
    if (start > this.#to) return undefined
    if (bytes[this.#from] !== 0) throw new BadFrame('the message is compressed')
    const length = new DataView(bytes.buffer, bytes.byteOffset + this.#from).getUint32(1)
    if (length > this.#maxBytes) throw new BadFrame(`the message has ${length} bytes; the limit is ${this.#maxBytes}`)
    if (start + length > this.#to) return undefined
    this.#from = start + length
    return bytes.subarray(start, this.#from)
  }

  /** Moves the bytes to a larger buffer, never within one: returned messages are views of it. */
  #reserve(more: number): void {
    if (this.#to + more <= this.#bytes.length) return
    const kept = this.#bytes.subarray(this.#from, this.#to)
    this.#bytes = new Uint8Array(Math.max(kept.length + more, 2 * kept.length))
    this.#bytes.set(kept)
    this.#from = 0
    this.#to = kept.length
  }
}
