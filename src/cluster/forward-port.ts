import { createHash, randomBytes } from 'node:crypto'
import { Duplex } from 'node:stream'
import {
  BINARY,
  CONTINUATION,
  type FrameHandler,
  type FrameHeader,
  FrameReader,
  PING,
} from '#net/websocket/frame-reader.ts'
import { writeBinaryFrame, writePong } from '#net/websocket/write-frame.ts'
import type { ApiClient } from './api-client.ts'
import { ApiUnreadable } from './api-unreadable.ts'

/** Messages begin with the number of a channel (decision 0323). */
const PROTOCOL = 'v4.channel.k8s.io'
const DATA = 0
const ERROR = 1
/** The first message of each channel repeats the port. */
const PORT_BYTES = 2

/** RFC 6455, 1.3. */
const HANDSHAKE = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/** A port of a container on the loopback address of its pod. */
export interface PodPort {
  readonly namespace: string
  readonly pod: string
  readonly port: number
}

/**
 * Connects to a port of a pod, through the API server and the kubelet of its node. It needs the verbs `get` and `create` on `pods/portforward`.
 * @returns one TCP connection. A port that nobody listens on destroys it with an ApiUnreadable.
 * @throws ApiUnreadable
 */
export async function forwardPort(
  client: ApiClient,
  { namespace, pod, port }: PodPort,
  signal?: AbortSignal,
): Promise<Duplex> {
  const key = randomBytes(16).toString('base64')
  const place = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}`
  const fields = {
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': key,
    'sec-websocket-protocol': PROTOCOL,
  }
  const { headers, socket } = await client
    .upgrade(`${place}/portforward?ports=${port}`, fields, signal)
    .catch((error: ApiUnreadable) => {
      // Without `create`, some API servers give no reason.
      if (error.status !== 403) throw error
      const rights = `get and create for pods/portforward in namespace ${namespace}`
      throw new ApiUnreadable(`${error.message}; it needs the verbs ${rights}`, { status: 403 })
    })
  const expected = createHash('sha1').update(`${key}${HANDSHAKE}`).digest('base64')
  if (headers['sec-websocket-accept'] !== expected || headers['sec-websocket-protocol'] !== PROTOCOL) {
    socket.destroy()
    throw new ApiUnreadable(`${client.server} does not forward ports with the protocol ${PROTOCOL}`)
  }
  return new ForwardedPort(socket, `port ${port} of pod ${namespace}/${pod}`)
}

/** What is written goes to the port, and what it sends can be read. The end of one direction ends the other: the protocol has no half-closed connections. */
class ForwardedPort extends Duplex {
  readonly #socket: Duplex
  readonly #name: string
  readonly #frames = new FrameReader('server', new Channels(this))
  readonly #error: Uint8Array[] = []

  constructor(socket: Duplex, name: string) {
    super({ allowHalfOpen: false })
    this.#socket = socket
    this.#name = name
    socket.on('data', (piece: Buffer) => this.#read(piece))
    socket.on('end', () => this.#end())
    socket.on('error', (error) => this.destroy(error))
  }

  receive(channel: number, bytes: Buffer): void {
    if (channel === DATA && !this.push(bytes)) this.#socket.pause()
    if (channel === ERROR) this.#error.push(bytes)
  }

  pong(payload: Uint8Array): void {
    this.#socket.write(writePong('client', payload))
  }

  #read(piece: Buffer): void {
    const problem = this.#frames.read(piece, 0, piece.length)
    if (problem !== undefined) this.destroy(new ApiUnreadable(`${this.#name} cannot be read: ${problem}`))
    else if (this.#frames.isClosed) this.#end()
  }

  #end(): void {
    const said = Buffer.concat(this.#error).toString().trim()
    if (said === '') this.push(null)
    else this.destroy(new ApiUnreadable(`${this.#name} cannot be reached: ${said}`))
  }

  override _read(): void {
    this.#socket.resume()
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(writeBinaryFrame('client', Buffer.concat([Uint8Array.of(DATA), chunk])), done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy()
    done(error)
  }
}

/** Separates the channels of a connection, without the port that each begins with. */
class Channels implements FrameHandler {
  readonly #to: Pick<ForwardedPort, 'receive' | 'pong'>
  #opcode = CONTINUATION
  /** Of the message; undefined: its first byte has not arrived. */
  #channel: number | undefined
  /** By channel: how much of the port is missing. */
  readonly #portBytes = [PORT_BYTES, PORT_BYTES]
  readonly #ping: Uint8Array[] = []

  constructor(to: Pick<ForwardedPort, 'receive' | 'pong'>) {
    this.#to = to
  }

  begin({ opcode }: FrameHeader): void {
    this.#opcode = opcode
    if (opcode === BINARY) this.#channel = undefined
  }

  payload(buffer: Buffer, start: number, end: number): void {
    if (this.#opcode === PING) this.#ping.push(Buffer.from(buffer.subarray(start, end)))
    if (this.#opcode !== BINARY && this.#opcode !== CONTINUATION) return
    const from = this.#channel === undefined ? start + 1 : start
    this.#channel ??= buffer[start]!
    const port = Math.min(end - from, this.#portBytes[this.#channel] ?? 0)
    if (port > 0) this.#portBytes[this.#channel]! -= port
    if (from + port < end) this.#to.receive(this.#channel, Buffer.from(buffer.subarray(from + port, end)))
  }

  end(): undefined {
    if (this.#opcode === PING) this.#to.pong(Buffer.concat(this.#ping.splice(0)))
  }
}
