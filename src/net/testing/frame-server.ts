import { once } from 'node:events'
import net from 'node:net'
import type { Destination } from '../stream.ts'
import {
  ACK,
  DATA,
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
  uint32,
} from './frames.ts'
import { destinationOf } from './raw-peers.ts'

/** One accepted connection of a `FrameServer`: sends frames as they are given, right or wrong. */
export class FramePeer {
  readonly socket: net.Socket
  readonly frames: Frame[] = []
  /** Acknowledges pings. */
  answersPings = true
  onRequest: (stream: number) => void = () => {}
  #rest: Buffer = NOTHING
  #greeted = false

  constructor(socket: net.Socket) {
    this.socket = socket
    socket.setNoDelay(true)
    socket.on('error', () => {})
    socket.on('data', (bytes: Buffer) => this.#read(bytes))
  }

  send(type: number, flags: number, stream: number, payload: Buffer = NOTHING): void {
    this.socket.write(frame(type, flags, stream, payload))
  }

  settings(...settings: readonly (readonly [number, number])[]): void {
    this.send(SETTINGS, 0, 0, settingsPayload(settings))
  }

  /** A response head, or trailers. */
  head(stream: number, fields: readonly Field[], flags = 0): void {
    this.send(HEADERS, END_HEADERS | flags, stream, headerBlock(fields))
  }

  data(stream: number, text: string, flags = 0): void {
    this.send(DATA, flags, stream, Buffer.from(text, 'latin1'))
  }

  /** A whole response. */
  answer(stream: number, text: string): void {
    this.head(stream, [[':status', '200']])
    this.data(stream, text, END_STREAM)
  }

  reset(stream: number, code: number): void {
    this.send(RST_STREAM, 0, stream, uint32(code))
  }

  goaway(lastStream: number, code: number): void {
    this.send(GOAWAY, 0, 0, Buffer.concat([uint32(lastStream), uint32(code)]))
  }

  /** All frames of a type on a stream. */
  of(type: number, stream: number): Frame[] {
    return this.frames.filter((one) => one.type === type && one.stream === stream)
  }

  #read(bytes: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, bytes])
    if (!this.#greeted) {
      if (this.#rest.length < PREFACE.length) return
      this.#greeted = true
      this.#rest = this.#rest.subarray(PREFACE.length)
    }
    while (this.#rest.length >= 9) {
      const end = 9 + this.#rest.readUIntBE(0, 3)
      if (this.#rest.length < end) break
      const [type, flags] = [this.#rest[3]!, this.#rest[4]!]
      const one = { type, flags, stream: this.#rest.readUInt32BE(5), payload: this.#rest.subarray(9, end) }
      this.#rest = this.#rest.subarray(end)
      this.#take(one)
    }
  }

  #take(one: Frame): void {
    this.frames.push(one)
    const asks = (one.flags & ACK) === 0
    if (one.type === SETTINGS && asks) this.send(SETTINGS, ACK, 0)
    if (one.type === PING && asks && this.answersPings) this.send(PING, ACK, 0, one.payload)
    if (one.type === HEADERS) this.onRequest(one.stream)
  }
}

/** An HTTP/2 server that does with every connection what the test says. */
export class FrameServer {
  readonly peers: FramePeer[] = []
  readonly #server: net.Server

  constructor(serve: (peer: FramePeer, index: number) => void) {
    this.#server = net.createServer((socket) => {
      const peer = new FramePeer(socket)
      serve(peer, this.peers.push(peer) - 1)
    })
  }

  async start(): Promise<this> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return this
  }

  get destination(): Destination {
    const { port } = this.#server.address() as net.AddressInfo
    return { ...destinationOf(port), http: 'http2' }
  }

  close(): void {
    this.#server.close()
    for (const { socket } of this.peers) socket.destroy()
  }
}
