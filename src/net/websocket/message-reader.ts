import type { BodyClaim } from '../body/body-memory.ts'
import { HeldBytes } from '../body/held-bytes.ts'
import {
  CLOSE,
  CONTINUATION,
  type FrameHandler,
  type FrameHeader,
  FrameReader,
  MAX_CONTROL_BYTES,
  TEXT,
} from './frame-reader.ts'
import { applyMask } from './mask.ts'

/** Receives what one side of a WebSocket connection says. */
export interface MessageHandler {
  /** A text message. Its bytes should be UTF-8 and are valid only during the call. */
  text(message: Uint8Array): void
  /** A text message that was not read: it is longer than the limit, or no memory is left for it. */
  missed(why: 'too-large' | 'no-memory'): void
  /** The side closes the connection. @param code undefined: it gives none (RFC 6455, 7.1.5) */
  closed(code: number | undefined): void
}

export interface MessageReaderOptions {
  readonly sender: 'client' | 'server'
  readonly claim: BodyClaim
  /** Of one message. */
  readonly maxBytes: number
}

/**
 * Reads the text messages of one direction of a WebSocket connection; binary messages, pings and pongs are passed over. A plain message that
 * lies within one piece is not copied, any other one is held until it is complete.
 */
export class MessageReader {
  readonly #frames: FrameReader

  constructor(options: MessageReaderOptions, handler: MessageHandler) {
    this.#frames = new FrameReader(options.sender, new Messages(options, handler))
  }

  /** @returns why these bytes, or earlier ones, are malformed; nothing is read after that */
  read(buffer: Buffer, start: number, end: number): string | undefined {
    return this.#frames.read(buffer, start, end)
  }
}

class Messages implements FrameHandler {
  readonly #handler: MessageHandler
  readonly #maxBytes: number
  /** The text message so far. */
  readonly #held: HeldBytes
  readonly #control = new Uint8Array(MAX_CONTROL_BYTES)
  #frame!: FrameHeader
  /** The current message is a text of which nothing was missed. */
  #isRead = false
  /** The current frame was delivered from the piece that contains it. */
  #isDelivered = false
  /** Bytes of the payload of the current frame so far. */
  #at = 0

  constructor({ claim, maxBytes }: MessageReaderOptions, handler: MessageHandler) {
    this.#handler = handler
    this.#maxBytes = maxBytes
    this.#held = new HeldBytes(claim, maxBytes)
  }

  begin(frame: FrameHeader): void {
    this.#frame = frame
    this.#at = 0
    if (frame.opcode >= CLOSE) return
    if (frame.opcode !== CONTINUATION) this.#isRead = frame.opcode === TEXT
    if (this.#isRead && this.#held.length + frame.length > this.#maxBytes) this.#miss('too-large')
  }

  payload(buffer: Buffer, start: number, end: number): void {
    const { opcode } = this.#frame
    if (opcode >= CLOSE) this.#control.set(buffer.subarray(start, end), this.#at)
    else if (this.#isRead) this.#take(buffer, start, end)
    this.#at += end - start
  }

  end(): string | undefined {
    const { opcode, isFinal, key } = this.#frame
    if (opcode === CLOSE) return this.#close(key)
    if (opcode > CLOSE || !isFinal || !this.#isRead) return undefined
    this.#isRead = false
    if (this.#isDelivered) this.#isDelivered = false
    else {
      const { bytes } = this.#held
      this.#held.drop()
      this.#handler.text(bytes)
    }
    return undefined
  }

  #take(buffer: Buffer, start: number, end: number): void {
    const { opcode, isFinal, length, key } = this.#frame
    this.#isDelivered = opcode === TEXT && isFinal && key === undefined && end - start === length
    if (this.#isDelivered) return this.#handler.text(buffer.subarray(start, end))
    const from = this.#held.length
    if (!this.#held.append(buffer, start, end)) this.#miss('no-memory')
    else if (key !== undefined) applyMask(this.#held.bytes.subarray(from), key, this.#at)
  }

  #miss(why: 'too-large' | 'no-memory'): void {
    this.#isRead = false
    this.#held.drop()
    this.#handler.missed(why)
  }

  #close(key: Uint8Array | undefined): string | undefined {
    const payload = this.#control.subarray(0, this.#at)
    if (payload.length === 1) return 'a close frame has half a code'
    if (key !== undefined) applyMask(payload, key, 0)
    this.#handler.closed(payload.length === 0 ? undefined : payload[0]! * 256 + payload[1]!)
    return undefined
  }
}
