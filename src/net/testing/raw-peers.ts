import { once } from 'node:events'
import net from 'node:net'
import type { Destination } from '../destination.ts'
import { Changes } from './changes.ts'

/** Characters at the end of a received text that are kept apart. */
const MAX_LAST = 4096

/** A client that sends raw bytes and records received bytes as latin-1 text. */
export class RawClient {
  readonly socket: net.Socket
  text = ''
  closed = false
  /** The server has ended its direction. */
  ended = false
  wasReset = false
  readonly #changes = new Changes()
  #last = ''

  constructor(socket: net.Socket) {
    this.socket = socket
    socket.setNoDelay(true)
    socket.on('data', (bytes: Buffer) => {
      const received = bytes.toString('latin1')
      this.text += received
      this.#last = (this.#last + received).slice(-MAX_LAST)
      this.#changes.announce()
    })
    socket.on('end', () => {
      this.ended = true
      this.#changes.announce()
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      this.wasReset ||= error.code === 'ECONNRESET'
    })
    socket.on('close', () => {
      this.closed = true
      this.ended = true
      this.#changes.announce()
    })
  }

  static async connect(port: number): Promise<RawClient> {
    const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    await once(socket, 'connect')
    return new RawClient(socket)
  }

  send(text: string): void {
    this.socket.write(text, 'latin1')
  }

  /** Waits until the received text satisfies `check`; fails with that text if the connection ends first. */
  async until(check: (text: string) => boolean): Promise<string> {
    while (!check(this.text)) {
      if (this.ended) throw new Error(`ended with ${JSON.stringify(this.text.slice(-2000))}`)
      await this.#changes.next()
    }
    return this.text
  }

  /** Waits until the received text ends with `end`. For long texts, which a check of `until` would copy with every piece. */
  async untilLast(end: string): Promise<void> {
    if (end.length > MAX_LAST) throw new Error('only short ends are kept')
    await this.until(() => this.#last.endsWith(end))
  }

  /** Waits until the server has ended its direction. */
  async untilEnd(): Promise<string> {
    while (!this.ended) await this.#changes.next()
    return this.text
  }

  async untilClosed(): Promise<string> {
    while (!this.closed) await this.#changes.next()
    return this.text
  }

  close(): void {
    this.socket.destroy()
  }
}

/** One accepted connection of a `RawServer`. */
export type Accepted = RawClient

/** A server whose behaviour the test defines per connection. */
export class RawServer {
  connections = 0
  readonly #server: net.Server
  readonly #open = new Set<net.Socket>()

  constructor(serve: (peer: Accepted, index: number) => void) {
    this.#server = net.createServer({ allowHalfOpen: true }, (socket) => {
      this.#open.add(socket)
      socket.on('close', () => this.#open.delete(socket))
      serve(new RawClient(socket), this.connections++)
    })
  }

  async start(): Promise<this> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return this
  }

  get port(): number {
    return (this.#server.address() as net.AddressInfo).port
  }

  get destination(): Destination {
    return destinationOf(this.port)
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#open) socket.destroy()
  }
}

export function destinationOf(port: number, host = '127.0.0.1'): Destination {
  return { key: `${host}:${port}`, host, port, connectTimeoutMs: 5000 }
}

/**
 * Responds to every complete request with the text that `answer(head, body)` returns. Supports Content-Length and chunked bodies.
 */
export function answering(answer: (head: string, body: string, peer: Accepted) => string): (peer: Accepted) => void {
  return (peer) => {
    let rest = ''
    peer.socket.on('data', (bytes: Buffer) => {
      rest += bytes.toString('latin1')
      for (let message = cut(rest); message !== undefined; message = cut(rest)) {
        rest = message.rest
        const text = answer(message.head, message.body, peer)
        if (text !== '') peer.send(text)
      }
    })
    peer.socket.on('end', () => peer.socket.end())
  }
}

/** Responds with the request line and the length of the body. */
export const echo: (peer: Accepted) => void = answering((head, body) => {
  const text = `got ${head.split(' ')[1]} ${body.length}`
  return `HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\nX-A: 1\r\n\r\n${text}`
})

function cut(text: string): { head: string; body: string; rest: string } | undefined {
  const headEnd = text.indexOf('\r\n\r\n') + 4
  if (headEnd < 4) return undefined
  const head = text.slice(0, headEnd)
  const length = /content-length: *(\d+)/i.exec(head)
  let end = headEnd + Number(length?.[1] ?? 0)
  if (/transfer-encoding/i.test(head)) {
    const last = text.indexOf('0\r\n\r\n', headEnd)
    if (last < 0) return undefined
    end = last + 5
  }
  if (text.length < end) return undefined
  return { head, body: text.slice(headEnd, end), rest: text.slice(end) }
}
