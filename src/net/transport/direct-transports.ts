import net from 'node:net'
import { deliver } from './deliver.ts'
import type { PlainTransports } from './plain-transports.ts'
import { readBuffer } from './read-buffer.ts'
import { ReadRelay } from './read-relay.ts'
import { SocketTransport } from './socket-transport.ts'
import type { TransportOwner } from './transport.ts'

/** A write that did not finish synchronously. */
interface PendingWrite {
  /** Set when it ended before a listener was registered. */
  writeStatus: number | null
  oncomplete: (status: number) => void
  /** Keeps the bytes alive until they are sent. */
  buffer: Uint8Array | null
}

/** The result of a write: 0 when all was sent, an error number, a pending write, or undefined when the handle is closed. */
type Written = number | PendingWrite | undefined

/** The handle of libuv below a stream of Node. */
export interface StreamHandle {
  /** Called after each read; `ReadState` has its result. */
  onread: (this: StreamHandle, bytes: unknown) => void
  reading: boolean
  readonly writeQueueSize: number
  readStop(): void
  writeLatin1String(request: null, text: string): Written
  writeBuffer(request: null, bytes: Uint8Array): Written
}

/** The internal state in which Node reports the result of a read. */
export interface ReadState {
  readonly streamBaseState: Int32Array
  /** Index of the number of bytes, or of the error number. */
  readonly kReadBytesOrError: number
}

interface SocketInternals {
  _handle: StreamHandle | null
}

interface ServerInternals {
  _connections: number
}

/** @returns undefined when the socket is closed */
export function handleOf(socket: net.Socket): StreamHandle | undefined {
  return (socket as unknown as SocketInternals)._handle ?? undefined
}

/**
 * Reads and writes through the handle of a socket, below its stream: the stream would cost a tenth of the processor time of a request.
 * All use of undocumented API is in this file, and `probeDirect` must succeed before it is used.
 */
export function directTransports({ streamBaseState, kReadBytesOrError }: ReadState): PlainTransports {
  /**
   * Makes the handle deliver bytes from the shared buffer to `owner`. The stream still handles ends and errors. One closure for each
   * handle: looking up the owner on handles of several shapes costs each read more than the closure costs each connection.
   */
  function readDirectly(handle: StreamHandle, owner: TransportOwner): void {
    const toStream = handle.onread
    handle.onread = function deliverRead(bytes) {
      const length = streamBaseState[kReadBytesOrError]!
      if (length > 0) deliver(owner, readBuffer, 0, length)
      else toStream.call(this, bytes)
    }
  }

  /** Of all client sockets: Node reads only after `open`, and from then on past the relay. */
  const common = new ReadRelay()

  const transports: PlainTransports = {
    kind: 'direct',
    newRelay: () => common,
    // Node supports shared read buffers only for client sockets, so the handle moves to a socket that was created like one.
    accept(accepted, server, owner) {
      const relay = new ReadRelay()
      const unread = accepted.readableLength > 0 ? (accepted.read() as Buffer) : null
      const handle = handleOf(accepted)!
      if (handle.reading) {
        handle.readStop()
        handle.reading = false
      }
      ;(accepted as unknown as SocketInternals)._handle = null
      // The server counted the socket that will never close; the new one does not count.
      ;(server as unknown as ServerInternals)._connections--
      const options = { handle, onread: relay.onread, allowHalfOpen: true }
      const socket = new net.Socket(options as unknown as net.SocketConstructorOpts)
      const transport = transports.open(socket, relay, owner)
      socket.resume()
      if (unread !== null) process.nextTick(() => owner.bytes(unread, 0, unread.length))
      return transport
    },
    open(socket, relay, owner) {
      if (relay !== common) relay.owner = owner
      const transport = new DirectTransport(socket, owner)
      readDirectly(handleOf(socket)!, owner)
      return transport
    },
  }
  return transports
}

/** Writes to the handle of the socket. Bytes that the kernel does not accept at once are queued below the stream, in order. */
class DirectTransport extends SocketTransport {
  readonly #handle: StreamHandle
  #pending = 0
  /** A write has failed. */
  #broken = false

  constructor(socket: net.Socket, owner: TransportOwner) {
    super(socket, owner)
    this.#handle = handleOf(socket)!
  }

  protected override get writesToStream(): boolean {
    return false
  }

  override get unsentBytes(): number {
    return this.gatheredBytes + (this.#pending === 0 ? 0 : this.#handle.writeQueueSize)
  }

  protected override sendText(text: string): void {
    const result = this.#handle.writeLatin1String(null, text)
    if (result !== 0) this.#goOn(result, null)
  }

  protected override sendBytes(bytes: Buffer): boolean {
    const result = this.#handle.writeBuffer(null, bytes)
    if (result !== 0) this.#goOn(result, bytes)
    return result === 0
  }

  #goOn(result: Written, bytes: Uint8Array | null): void {
    if (typeof result !== 'object') return this.#failed()
    this.#pending++
    result.buffer = bytes
    result.oncomplete = (status) => this.#written(status)
    const { writeStatus } = result
    if (writeStatus !== null) {
      result.writeStatus = null
      return this.#written(writeStatus)
    }
    this.backed = this.#handle.writeQueueSize >= this.socket.writableHighWaterMark
  }

  #written(status: number): void {
    this.#pending--
    if (status < 0) return this.#failed()
    if (this.#pending === 0 && this.backed) this.drained()
  }

  /**
   * A server that responds early and closes resets the connection while the request is still being sent. Its response has been received, and
   * is read before the socket is destroyed.
   */
  #failed(): void {
    this.forget()
    if (this.#broken) return
    this.#broken = true
    // This turn may already be past its reads.
    setImmediate(() => setImmediate(() => this.destroy()))
  }

  /** The write has taken the error, so the socket reports a reset as an end. */
  protected override ended(): void {
    if (this.#broken) this.destroy()
    else super.ended()
  }
}
