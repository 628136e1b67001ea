import { asBuffer } from '../body/as-buffer.ts'
import type { BodyClaim } from '../body/body-memory.ts'
import { HeldBytes } from '../body/held-bytes.ts'
import { HoldingSink } from '../body/holding-sink.ts'
import type { Abort, BodySink } from '../stream.ts'
import {
  CLOSE,
  CONTINUATION,
  type FrameHandler,
  type FrameHeader,
  FrameReader,
  MAX_CONTROL_BYTES,
  MAX_HEADER_BYTES,
  TEXT,
} from './frame-reader.ts'
import { MessageReader } from './message-reader.ts'
import { writeTextFrame } from './write-frame.ts'

/** Why a message has no text: it is binary, it is longer than the limit with its frames, or no memory is left for it. */
export type Textless = 'binary' | 'too-large' | 'no-memory'

/** What is sent for a message: the same bytes if it passes as received, another text, or nothing. */
export type Passed = Uint8Array | undefined

export interface Gatekeeper {
  /** Judges the messages of the client, one after the other. Promises must not reject. */
  judge(message: Uint8Array | Textless): Passed | Promise<Passed>
  /** The frames are malformed. Nothing more passes. */
  broken(why: string): void
}

export interface MessageGateOptions {
  readonly claim: BodyClaim
  /** Of one message with its frames. */
  readonly maxBytes: number
}

/** A complete message, or the close, which no message may follow. */
interface HeldMessage {
  readonly kind: 'text' | 'close' | Textless
  /** Its frames as received; none if it has no text. */
  readonly frames: HeldBytes
}

/** Above these, the client waits. */
const MAX_WAITING = 64
const MAX_WAITING_BYTES = 65_536

/**
 * Holds each message of a client until a gatekeeper lets it pass. Messages and the close keep their order. Pings and pongs pass at once, unless
 * so many messages wait that nothing is read.
 */
export class MessageGate extends HoldingSink {
  readonly #keeper: Gatekeeper
  readonly #frames: FrameReader
  readonly #reader: MessageReader
  readonly #waiting: HeldMessage[] = []
  #waitingBytes = 0
  /** Bytes that have not been read, because too many messages wait. */
  readonly #rest: HeldBytes
  /** What `#reader` read last. */
  #text: Uint8Array | Textless = 'no-memory'
  #isJudging = false
  /** The server reads no more messages. */
  #isClosing = false
  #isEnded = false
  #isOver = false

  constructor(sink: BodySink, options: MessageGateOptions, keeper: Gatekeeper) {
    super(sink)
    this.#keeper = keeper
    const { claim, maxBytes } = options
    this.#rest = new HeldBytes(claim, maxBytes)
    const complete = (message: HeldMessage) => this.#queue(message)
    const pass = (frame: Buffer, length: number) => this.sink.bytes(frame, 0, length)
    this.#frames = new FrameReader('client', new Messages(options, { complete, pass }))
    this.#reader = new MessageReader(
      { sender: 'client', claim, maxBytes },
      {
        text: (message) => {
          this.#text = message
        },
        missed: (why) => {
          this.#text = why
        },
        closed: () => {},
      },
    )
  }

  override get backed(): boolean {
    return this.sink.backed || this.#isFull
  }

  override bytes(buffer: Buffer, start: number, end: number): void {
    if (this.#isOver) return
    const at = this.#rest.length > 0 ? start : this.#read(buffer, start, end)
    if (at < end) this.#rest.appendAnyway(buffer, at, end)
  }

  override end(): void {
    this.#isEnded = true
    this.#advance()
  }

  override abort(why: Abort): void {
    this.#stop()
    this.sink.abort(why)
  }

  /** The server has closed the connection and waits for the close of the client: no verdict on a message matters any more. */
  serverClosed(): void {
    this.#isClosing = true
    this.#isJudging = false
    this.#advance()
  }

  protected drained(): void {
    if (!this.backed) this.source?.resume()
  }

  get #isFull(): boolean {
    return this.#waiting.length >= MAX_WAITING || this.#waitingBytes >= MAX_WAITING_BYTES
  }

  /** @returns the position after what was read; the rest must wait */
  #read(buffer: Buffer, start: number, end: number): number {
    let at = start
    while (at < end && !this.#isFull && !this.#isOver) at = this.#frames.readFrame(buffer, at, end)
    const { problem } = this.#frames
    if (problem !== undefined && !this.#isOver) {
      this.#stop()
      this.#keeper.broken(problem)
    }
    return this.#isOver ? end : at
  }

  #queue(message: HeldMessage): void {
    this.#waiting.push(message)
    this.#waitingBytes += message.frames.length
    this.#judgeWaiting()
  }

  #judgeWaiting(): void {
    while (!this.#isJudging) {
      const message = this.#waiting.shift()
      if (message === undefined) return
      this.#waitingBytes -= message.frames.length
      this.#judge(message)
    }
  }

  #judge({ kind, frames }: HeldMessage): void {
    if (kind === 'close') return this.#pass(frames)
    if (this.#isClosing) return frames.drop()
    const text = kind === 'text' ? this.#textOf(frames) : kind
    const passed = this.#keeper.judge(text)
    if (!(passed instanceof Promise)) return this.#conclude(frames, text, passed)
    this.#isJudging = true
    void passed.then((late) => {
      if (this.#isOver || this.#isClosing) return frames.drop()
      this.#isJudging = false
      this.#conclude(frames, text, late)
      this.#advance()
    })
  }

  #textOf(frames: HeldBytes): Uint8Array | Textless {
    const { bytes } = frames
    this.#reader.read(bytes, 0, bytes.length)
    const text = this.#text
    this.#text = 'no-memory'
    return text
  }

  #conclude(frames: HeldBytes, text: Uint8Array | Textless, passed: Passed): void {
    if (passed !== undefined && passed === text) return this.#pass(frames)
    frames.drop()
    if (passed === undefined) return
    const frame = writeTextFrame('client', passed)
    this.sink.bytes(frame, 0, frame.length)
  }

  #pass(frames: HeldBytes): void {
    this.sink.bytes(frames.bytes, 0, frames.length)
    frames.drop()
  }

  /** Judges what waits, reads on, and ends when nothing is left. */
  #advance(): void {
    this.#judgeWaiting()
    while (this.#rest.length > 0 && !this.#isFull) {
      const { bytes } = this.#rest
      this.#rest.drop()
      const at = this.#read(bytes, 0, bytes.length)
      if (at < bytes.length) this.#rest.appendAnyway(bytes, at, bytes.length)
    }
    if (this.#isOver) return
    if (!this.#isEnded) return this.drained()
    if (this.#isJudging) return
    this.#stop()
    this.sink.end()
  }

  #stop(): void {
    this.#isOver = true
    for (const { frames } of this.#waiting) frames.drop()
    this.#waiting.length = 0
    this.#waitingBytes = 0
    this.#rest.drop()
  }
}

interface Assembled {
  readonly complete: (message: HeldMessage) => void
  /** A ping or a pong: `frame[0, length)`. */
  readonly pass: (frame: Buffer, length: number) => void
}

/** Assembles the frames of messages. */
class Messages implements FrameHandler {
  readonly #options: MessageGateOptions
  readonly #assembled: Assembled
  #held: HeldBytes
  #kind: HeldMessage['kind'] = 'text'
  #frame!: FrameHeader
  readonly #control = asBuffer(new Uint8Array(MAX_HEADER_BYTES + MAX_CONTROL_BYTES))
  #controlBytes = 0

  constructor(options: MessageGateOptions, assembled: Assembled) {
    this.#options = options
    this.#assembled = assembled
    this.#held = this.#hold()
  }

  begin(frame: FrameHeader): void {
    this.#frame = frame
    const { opcode, bytes, length } = frame
    if (opcode >= CLOSE) {
      this.#control.set(bytes)
      this.#controlBytes = bytes.length
      return
    }
    if (opcode !== CONTINUATION) {
      this.#held = this.#hold()
      this.#kind = opcode === TEXT ? 'text' : 'binary'
    }
    if (this.#held.length + bytes.length + length > this.#options.maxBytes) this.#giveUp('too-large')
    this.#append(asBuffer(bytes), 0, bytes.length)
  }

  payload(buffer: Buffer, start: number, end: number): void {
    if (this.#frame.opcode < CLOSE) return this.#append(buffer, start, end)
    buffer.copy(this.#control, this.#controlBytes, start, end)
    this.#controlBytes += end - start
  }

  end(): undefined {
    const { opcode, isFinal } = this.#frame
    if (opcode > CLOSE) this.#assembled.pass(this.#control, this.#controlBytes)
    else if (opcode === CLOSE) {
      const frames = this.#hold()
      frames.appendAnyway(this.#control, 0, this.#controlBytes)
      this.#assembled.complete({ kind: 'close', frames })
    } else if (isFinal) this.#assembled.complete({ kind: this.#kind, frames: this.#held })
    return undefined
  }

  #append(buffer: Buffer, start: number, end: number): void {
    if (this.#kind === 'text' && !this.#held.append(buffer, start, end)) this.#giveUp('no-memory')
  }

  #giveUp(why: Textless): void {
    if (this.#kind === 'text') this.#kind = why
    this.#held.drop()
  }

  #hold(): HeldBytes {
    return new HeldBytes(this.#options.claim, this.#options.maxBytes)
  }
}
