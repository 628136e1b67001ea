import { once } from 'node:events'
import net from 'node:net'

import {
  ACK,
  END_HEADERS,
  END_STREAM,
  type Field,
  type Frame,
  frame,
  GOAWAY,
  HEADERS,
  headerBlock,
  NOTHING,
  PING,
  PREFACE,
  RST_STREAM,
  SETTINGS,
  settingsPayload,
} from './frames.ts'

/** A client that sends frames as they are given, right or wrong, and keeps those that come back. */
export class FrameClient {
  readonly socket: net.Socket
  readonly frames: Frame[] = []
  closed = false
  /** Acknowledges settings and pings of the server. */
  polite = true
  #rest: Buffer = NOTHING
  #waiting: (() => void)[] = []

  constructor(socket: net.Socket) {
    this.socket = socket
    socket.setNoDelay(true)
    socket.on('data', (bytes: Buffer) => this.#read(bytes))
    socket.on('error', () => {})
    socket.on('close', () => {
      this.closed = true
      this.#wake()
    })
  }

  /** Connects and says what every client says first. `settings`: pairs of identifier and value. */
  static async connect(port: number, settings: readonly (readonly [number, number])[] = []): Promise<FrameClient> {
    const socket = net.connect({ port, host: '127.0.0.1' })
    await once(socket, 'connect')
    const client = new FrameClient(socket)
    socket.write(PREFACE, 'latin1')
    client.send(SETTINGS, 0, 0, settingsPayload(settings))
    return client
  }

  send(type: number, flags: number, stream: number, payload: Buffer = NOTHING): void {
    this.socket.write(frame(type, flags, stream, payload))
  }

  /** A request; `fields` come behind the pseudo fields of a GET, or replace them by beginning with one. */
  request(stream: number, fields: readonly Field[] = [], flags: number = END_STREAM | END_HEADERS): void {
    this.send(HEADERS, flags, stream, requestBlock(fields))
  }

  /** Waits for a frame that satisfies `check`. Fails when the connection ends before. */
  async until(check: (frame: Frame) => boolean): Promise<Frame> {
    for (let seen = 0; ; await this.#change()) {
      for (; seen < this.frames.length; seen++) if (check(this.frames[seen]!)) return this.frames[seen]!
      if (this.closed) throw new Error(`closed after ${this.frames.map(describe).join(', ')}`)
    }
  }

  async untilClosed(): Promise<void> {
    while (!this.closed) await this.#change()
  }

  /** Error code of the GOAWAY that the server sent last. */
  get goawayCode(): number | undefined {
    return this.frames.findLast(({ type }) => type === GOAWAY)?.payload.readUInt32BE(4)
  }

  /** Error code with which the server reset a stream. */
  resetCode(stream: number): number | undefined {
    const reset = this.frames.find((frame) => frame.type === RST_STREAM && frame.stream === stream)
    return reset?.payload.readUInt32BE(0)
  }

  close(): void {
    this.socket.destroy()
  }

  #read(bytes: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, bytes])
    while (this.#rest.length >= 9) {
      const end = 9 + this.#rest.readUIntBE(0, 3)
      if (this.#rest.length < end) break
      this.#take({
        type: this.#rest[3]!,
        flags: this.#rest[4]!,
        stream: this.#rest.readUInt32BE(5),
        payload: this.#rest.subarray(9, end),
      })
      this.#rest = this.#rest.subarray(end)
    }
    this.#wake()
  }

  #take(frame: Frame): void {
    this.frames.push(frame)
    const asks = (frame.type === SETTINGS || frame.type === PING) && (frame.flags & ACK) === 0
    if (asks && this.polite) this.send(frame.type, ACK, 0, frame.type === PING ? frame.payload : NOTHING)
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  #wake(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }
}

const GET: readonly Field[] = [
  [':method', 'GET'],
  [':scheme', 'http'],
  [':path', '/'],
  [':authority', 'a.test'],
]

export function requestBlock(fields: readonly Field[] = []): Buffer {
  return headerBlock(fields[0]?.[0].startsWith(':') === true ? fields : [...GET, ...fields])
}

function describe({ type, flags, stream, payload }: Frame): string {
  return `${type}/${flags} on ${stream} (${payload.toString('hex').slice(0, 32)})`
}
