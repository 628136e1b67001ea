import type net from 'node:net'
import { latin1 } from './latin1.ts'
import { SocketTransport } from './socket-transport.ts'
import { COALESCE_BYTES, type Transport, type TransportOwner } from './transport.ts'

/** What a write that could not be finished at once gives back. */
interface PendingWrite {
  /** Set when it ended before anybody could listen. */
  writeStatus: number | null
  oncomplete: (status: number) => void
  /** Keeps the bytes alive until they are sent. */
  buffer: Uint8Array | null
}

/** What a write comes to: 0 when all was sent, an error number, a write that goes on, or nothing when the handle is closed. */
type Written = number | PendingWrite | undefined

/** The calls below a stream of Node. */
interface StreamHandle {
  readonly writeQueueSize: number
  writeLatin1String(request: null, text: string): Written
  writeBuffer(request: null, bytes: Uint8Array): Written
}

/**
 * Node releases whose handles make their own write requests. Others end the process when they are called like this, so a release is
 * tried (direct-transport.test.ts) before it is named here.
 */
const TRIED = /^v26\.10\./

/** Whether `DirectTransport` can be used on this Node. */
export const CAN_WRITE_DIRECTLY: boolean = TRIED.test(process.version)

/** The transport of a plain socket, the cheapest that this Node has. How it is read is decided by who makes it. */
export function openPlainTransport(socket: net.Socket, owner: TransportOwner): Transport {
  return CAN_WRITE_DIRECTLY ? new DirectTransport(socket, owner) : new SocketTransport(socket, owner)
}

/**
 * Writes into the socket's handle without the queue of its stream, which costs a tenth of all that a request costs us. What the
 * kernel does not take at once waits below the stream, in order.
 */
class DirectTransport extends SocketTransport {
  readonly #handle: StreamHandle
  readonly #owner: TransportOwner
  #pending = 0

  constructor(socket: net.Socket, owner: TransportOwner) {
    super(socket, owner)
    this.#handle = (socket as unknown as { _handle: StreamHandle })._handle
    this.#owner = owner
  }

  override get unsentBytes(): number {
    return this.#pending === 0 ? 0 : this.#handle.writeQueueSize
  }

  override writeText(text: string): void {
    const result = this.#handle.writeLatin1String(null, text)
    if (result !== 0) this.#goOn(result, null)
  }

  override writeBytes(buffer: Buffer, start: number, end: number): void {
    if (end - start <= COALESCE_BYTES) return this.writeText(latin1(buffer, start, end))
    const bytes = Buffer.from(buffer.subarray(start, end))
    const result = this.#handle.writeBuffer(null, bytes)
    if (result !== 0) this.#goOn(result, bytes)
  }

  #goOn(result: Written, bytes: Uint8Array | null): void {
    if (typeof result !== 'object') return this.destroy()
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
    if (status < 0) return this.destroy()
    if (this.#pending > 0 || !this.backed) return
    this.backed = false
    this.#owner.drained()
  }
}
