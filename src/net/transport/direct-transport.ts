import type net from 'node:net'

import { deliver } from './deliver.ts'
import { readBuffer } from './read-buffer.ts'
import { SocketTransport } from './socket-transport.ts'
import type { Transport, TransportOwner } from './transport.ts'

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

const OWNER = Symbol('owner')

/** What lies below a stream of Node. */
interface StreamHandle {
  /** Called for everything that is read, with what `streamBaseState` says about it. */
  onread: (this: StreamHandle, bytes: unknown) => void
  /** Who is told instead of the stream. */
  [OWNER]?: TransportOwner
  readonly writeQueueSize: number
  writeLatin1String(request: null, text: string): Written
  writeBuffer(request: null, bytes: Uint8Array): Written
}

/**
 * Node releases whose handles make their own write requests. Others end the process when they are called like this, so a release is
 * tried (direct-transport.test.ts) before it is named here.
 */
const TRIED = /^v26\.10\./

/** Whether sockets can be used below their streams on this Node. */
export const WORKS_DIRECTLY: boolean = TRIED.test(process.version)

/** What the runtime says about the read that it reports. */
interface StreamWrap {
  readonly streamBaseState: Int32Array
  readonly kReadBytesOrError: number
}
const streamWrap = WORKS_DIRECTLY
  ? (process as unknown as { binding(name: 'stream_wrap'): StreamWrap }).binding('stream_wrap')
  : undefined

function handleOf(socket: net.Socket): StreamHandle {
  return (socket as unknown as { _handle: StreamHandle })._handle
}

/** The transport of a plain socket, the cheapest that this Node has. How it is read is decided by who makes it. */
export function openPlainTransport(socket: net.Socket, owner: TransportOwner): Transport {
  return WORKS_DIRECTLY ? new DirectTransport(socket, owner) : new SocketTransport(socket, owner)
}

/**
 * Has what a socket reads into the shared buffer, which it was made with, told to `owner` by the handle instead of the stream. Ends
 * and errors stay with the stream. Does nothing on a Node where that has not been tried: the socket's `onread` callback goes on.
 */
export function readDirectly(socket: net.Socket, owner: TransportOwner): void {
  if (streamWrap === undefined) return
  const handle = handleOf(socket)
  handle[OWNER] = owner
  tellStream ??= handle.onread
  handle.onread = tellOwner
}

/** One function of Node for all handles. */
let tellStream: StreamHandle['onread'] | undefined

function tellOwner(this: StreamHandle, bytes: unknown): void {
  const { streamBaseState, kReadBytesOrError } = streamWrap!
  const length = streamBaseState[kReadBytesOrError]!
  if (length > 0) deliver(this[OWNER]!, readBuffer, 0, length)
  else tellStream!.call(this, bytes)
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
    this.#handle = handleOf(socket)
    this.#owner = owner
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
