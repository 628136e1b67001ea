import { once } from 'node:events'
import net from 'node:net'
import type { Destination } from '../destination.ts'
import { FrameConnection } from './frame-connection.ts'
import {
  DATA,
  END_HEADERS,
  END_STREAM,
  type Field,
  type Frame,
  GOAWAY,
  HEADERS,
  headerBlock,
  PREFACE,
  RST_STREAM,
  SETTINGS,
  settingsPayload,
  uint32,
} from './frames.ts'
import { destinationOf } from './raw-peers.ts'

/** One accepted connection of a `FrameServer`. */
export class FramePeer extends FrameConnection {
  onRequest: (stream: number) => void = () => {}
  onData: (stream: number) => void = () => {}
  #greeted = false

  settings(...settings: readonly (readonly [number, number])[]): void {
    this.send(SETTINGS, 0, 0, settingsPayload(settings))
  }

  /** Sends a response head, or trailers. */
  head(stream: number, fields: readonly Field[], flags = 0): void {
    this.send(HEADERS, END_HEADERS | flags, stream, headerBlock(fields))
  }

  data(stream: number, text: string, flags = 0): void {
    this.send(DATA, flags, stream, Buffer.from(text, 'latin1'))
  }

  /** Sends a complete response. */
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

  protected override skipGreeting(bytes: Buffer): Buffer | undefined {
    if (this.#greeted) return bytes
    if (bytes.length < PREFACE.length) return undefined
    this.#greeted = true
    return bytes.subarray(PREFACE.length)
  }

  protected override received({ type, stream }: Frame): void {
    if (type === HEADERS) this.onRequest(stream)
    if (type === DATA) this.onData(stream)
  }
}

/** An HTTP/2 server whose behaviour the test defines per connection. */
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
