/** Opcodes (RFC 6455, 11.8). */
export const CONTINUATION = 0
export const TEXT = 1
export const BINARY = 2
export const CLOSE = 8
export const PING = 9
export const PONG = 10

/** Bytes of a key (RFC 6455, 5.3). */
export const KEY_BYTES = 4

/** Payloads of control frames are never longer (RFC 6455, 5.5). */
export const MAX_CONTROL_BYTES = 125

/** Two bytes, a length of eight bytes, and a key. */
export const MAX_HEADER_BYTES = 2 + 8 + KEY_BYTES

/** The header of a frame; valid until the next frame begins. */
export interface FrameHeader {
  readonly opcode: number
  /** The last frame of its message. */
  readonly isFinal: boolean
  /** Bytes of the payload. */
  readonly length: number
  /** The payload is masked with this key; undefined: it is plain (RFC 6455, 5.3). */
  readonly key: Uint8Array | undefined
  /** As received. */
  readonly bytes: Uint8Array
}

/** Receives the frames of one direction of a WebSocket connection, in order. */
export interface FrameHandler {
  /** The header of a frame is complete. */
  begin(frame: FrameHeader): void
  /** A part of its payload, as received. Nothing of `buffer` may be kept by reference. Not called for an empty payload. */
  payload(buffer: Buffer, start: number, end: number): void
  /** The frame is complete. @returns why its contents are malformed */
  end(): string | undefined
}

/**
 * Separates the frames of one direction of a WebSocket connection without extensions (RFC 6455, 5.2), whose bytes arrive in pieces. It holds no
 * payload.
 */
export class FrameReader {
  readonly #handler: FrameHandler
  readonly #isMasked: boolean
  readonly #header = new Uint8Array(MAX_HEADER_BYTES)
  /** Bytes of the header so far, and bytes that it needs as far as that is known. */
  #read = 0
  #needed = 2
  #frame: FrameHeader | undefined
  /** Bytes of the payload that have not arrived. */
  #left = 0
  /** A message has begun whose last frame has not arrived. */
  #inMessage = false
  #isClosed = false
  #problem: string | undefined

  /** @param sender clients mask their frames, servers do not (RFC 6455, 5.1) */
  constructor(sender: 'client' | 'server', handler: FrameHandler) {
    this.#handler = handler
    this.#isMasked = sender === 'client'
  }

  /** Why the bytes so far are malformed; nothing is read after that. */
  get problem(): string | undefined {
    return this.#problem
  }

  /** The sender has closed the connection. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  /** No message is incomplete, so that another frame could be inserted here. Nothing may follow a close. */
  get isBetweenMessages(): boolean {
    return this.#read === 0 && !this.#inMessage && !this.#isClosed && this.#problem === undefined
  }

  /**
   * Reads `buffer[start, end)`. What follows a close frame is ignored (RFC 6455, 5.5.1).
   * @returns why these bytes, or earlier ones, are malformed
   */
  read(buffer: Buffer, start: number, end: number): string | undefined {
    let at = start
    while (at < end) at = this.readFrame(buffer, at, end)
    return this.#problem
  }

  /** Reads to the end of the current frame, or to `end`. @returns the position after what was read or ignored */
  readFrame(buffer: Buffer, start: number, end: number): number {
    let at = start
    let isWhole = false
    while (at < end && !isWhole) {
      if (this.#problem !== undefined || this.#isClosed) return end
      if (this.#frame === undefined) {
        this.#header[this.#read++] = buffer[at++]!
        if (this.#read === this.#needed) this.#problem = this.#readHeader()
        // An empty frame ends with its header.
        isWhole = this.#read === 0
      } else {
        const rest = Math.min(end, at + this.#left)
        this.#handler.payload(buffer, at, rest)
        this.#left -= rest - at
        at = rest
        isWhole = this.#left === 0
        if (isWhole) this.#problem = this.#endFrame(this.#frame)
      }
    }
    return at
  }

  /** As much of the header as is needed to know its length, or all of it, has arrived. */
  #readHeader(): string | undefined {
    const header = this.#header
    const [first, second] = [header[0]!, header[1]!]
    const lengthBytes = second % 128 === 126 ? 2 : second % 128 === 127 ? 8 : 0
    if (this.#read === 2) {
      const problem = this.#checkStart(first, second)
      if (problem !== undefined) return problem
      this.#needed = 2 + lengthBytes + (this.#isMasked ? KEY_BYTES : 0)
      if (this.#needed > 2) return undefined
    }
    const length = lengthOf(header, lengthBytes)
    if (length === undefined) return 'a frame has a length in a form that is not allowed'
    const key = this.#isMasked ? header.subarray(this.#read - KEY_BYTES, this.#read) : undefined
    const bytes = header.subarray(0, this.#read)
    const frame = { opcode: first % 16, isFinal: first >= 128, length, key, bytes }
    this.#frame = frame
    this.#left = length
    this.#handler.begin(frame)
    return length === 0 ? this.#endFrame(frame) : undefined
  }

  #checkStart(first: number, second: number): string | undefined {
    const opcode = first % 16
    const isControl = opcode >= CLOSE
    if ((first & 0x70) !== 0) return 'a frame has a reserved bit, although no extension was negotiated'
    if (opcode > (isControl ? PONG : BINARY)) return `a frame has the unknown opcode ${opcode}`
    if (second >= 128 !== this.#isMasked) return this.#isMasked ? 'a frame is not masked' : 'a frame is masked'
    if (isControl) {
      return first < 128 || second % 128 > MAX_CONTROL_BYTES ? 'a control frame is fragmented or too long' : undefined
    }
    if (this.#inMessage !== (opcode === CONTINUATION)) return 'a frame is out of sequence'
    this.#inMessage = first < 128
    return undefined
  }

  #endFrame({ opcode }: FrameHeader): string | undefined {
    this.#frame = undefined
    this.#read = 0
    this.#needed = 2
    this.#isClosed = opcode === CLOSE
    return this.#handler.end()
  }
}

/** Undefined: a shorter form would do, or it cannot be represented. */
function lengthOf(header: Uint8Array, lengthBytes: number): number | undefined {
  if (lengthBytes === 0) return header[1]! % 128
  let length = 0
  for (let at = 2; at < 2 + lengthBytes; at++) length = length * 256 + header[at]!
  return length < (lengthBytes === 2 ? 126 : 2 ** 16) || length > Number.MAX_SAFE_INTEGER ? undefined : length
}
