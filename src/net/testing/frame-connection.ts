import type net from 'node:net'
import { ACK, type Frame, frame, NOTHING, PING, SETTINGS } from './frames.ts'

const FRAME_HEAD_BYTES = 9

/** One side of an HTTP/2 connection: sends any frames, valid or not, and records received ones. */
export abstract class FrameConnection {
  readonly socket: net.Socket
  readonly frames: Frame[] = []
  /** Acknowledges settings. */
  answersSettings = true
  /** Acknowledges pings. */
  answersPings = true
  #rest: Buffer = NOTHING

  constructor(socket: net.Socket) {
    this.socket = socket
    socket.setNoDelay(true)
    socket.on('error', () => {})
    socket.on('data', (bytes: Buffer) => this.#read(bytes))
  }

  send(type: number, flags: number, stream: number, payload: Buffer = NOTHING): void {
    this.socket.write(frame(type, flags, stream, payload))
  }

  /** Skips the bytes before the first frame. @returns the rest; undefined while they are incomplete */
  protected skipGreeting(bytes: Buffer): Buffer | undefined {
    return bytes
  }

  protected abstract received(frame: Frame): void

  #read(bytes: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, bytes])
    const frames = this.skipGreeting(this.#rest)
    if (frames === undefined) return
    this.#rest = frames
    while (this.#rest.length >= FRAME_HEAD_BYTES) {
      const end = FRAME_HEAD_BYTES + this.#rest.readUIntBE(0, 3)
      if (this.#rest.length < end) break
      const [type, flags] = [this.#rest[3]!, this.#rest[4]!]
      const one = {
        type,
        flags,
        stream: this.#rest.readUInt32BE(5),
        payload: this.#rest.subarray(FRAME_HEAD_BYTES, end),
      }
      this.#rest = this.#rest.subarray(end)
      this.#take(one)
    }
  }

  #take(one: Frame): void {
    this.frames.push(one)
    if ((one.flags & ACK) === 0) {
      if (one.type === SETTINGS && this.answersSettings) this.send(SETTINGS, ACK, 0)
      if (one.type === PING && this.answersPings) this.send(PING, ACK, 0, one.payload)
    }
    this.received(one)
  }
}
