import { BodyReader, type ReaderOwner } from '../http1/body-reader.ts'
import { BodyWriter, type WriterOwner } from '../http1/body-writer.ts'
import { type Abort, BODY_CLOSE } from '../stream.ts'
import { HoldBuffer } from '../transport/hold-buffer.ts'
import type { Transport, TransportOwner } from '../transport/transport.ts'

/**
 * A connection without requests, as two bodies: received and sent bytes. They end independently,
 * and nothing is read from the peer before there is a consumer.
 */
export abstract class RawDuplex implements TransportOwner, ReaderOwner, WriterOwner {
  protected readonly received: BodyReader = new BodyReader(this)
  protected readonly sent: BodyWriter = new BodyWriter(this, { keepsWhole: false })
  protected receivedBytes = 0
  protected transport: Transport | undefined
  /** Both directions have ended, or the connection failed or was aborted. */
  protected over = false
  readonly #held = new HoldBuffer()
  #running = false
  /** The peer has ended its direction; buffered bytes may still be undelivered. */
  #peerEnded = false
  /** The sending direction has ended. */
  #ended = false
  #closed = false

  constructor() {
    this.received.start(BODY_CLOSE, -1)
  }

  /** Both directions ended normally; the last written bytes may still be in flight. */
  protected abstract finished(): void
  /** The connection failed or was aborted. The sink of `received` is notified next, unless it is complete. */
  protected abstract broken(why: Abort): void
  /** The connection is over and the transport closed; no further events. */
  protected abstract gone(): void

  /** The connection is established. */
  protected begin(transport: Transport): void {
    this.transport = transport
    transport.pause()
    this.sent.start(transport, '', BODY_CLOSE, -1)
  }

  /** Aborts both directions with a reset, so that the peer cannot mistake it for a normal end. */
  protected cut(why: Abort): void {
    if (this.over) return
    this.over = true
    this.#held.clear()
    this.broken(why)
    // After the end was sent, a reset is too late.
    if (this.#ended) this.transport?.destroy()
    else this.transport?.reset()
    this.sent.close()
    this.received.abort(why)
  }

  // Called by the transport.

  bytes(buffer: Buffer, start: number, end: number): void {
    if (this.over) return
    this.receivedBytes += end - start
    if (this.#held.length === 0) return this.#run(buffer, start, end)
    this.#held.append(buffer, start, end)
    if (!this.#running) this.#run(this.#held.bytes, 0, this.#held.length)
  }

  ended(): void {
    this.#peerEnded = true
    this.#endReceived()
  }

  drained(): void {
    this.sent.drained()
  }

  closed(): void {
    this.#closed = true
    // After a normal end of both directions, buffered bytes are still delivered.
    if (!this.#peerEnded || !this.#ended) this.cut('reset')
    if (this.over) this.gone()
  }

  // Called by the reader and the writer.

  bodyWanted(): void {
    if (this.#running || this.over) return
    if (this.#held.length > 0) this.#run(this.#held.bytes, 0, this.#held.length)
    else this.transport?.resume()
  }

  bodyHeld(): void {
    this.transport?.pause()
  }

  messageWritten(): void {
    this.#ended = true
    this.transport?.end()
    this.#finishWhenBothEnded()
  }

  messageCut(why: Abort): void {
    this.cut(why)
  }

  #run(buffer: Buffer, start: number, end: number): void {
    this.#running = true
    const after = this.received.flowing ? this.received.feed(buffer, start, end) : start
    this.#running = false
    if (this.over) return
    this.#held.replace(buffer, after, end)
    if (after < end || !this.received.flowing) this.transport?.pause()
    else this.transport?.resume()
    if (this.#peerEnded) this.#endReceived()
  }

  #endReceived(): void {
    if (this.over || this.received.done || this.#held.length > 0) return
    this.received.close()
    this.received.end()
    this.#finishWhenBothEnded()
  }

  #finishWhenBothEnded(): void {
    if (this.over || !this.#ended || !this.received.done) return
    this.over = true
    this.finished()
    if (this.#closed) this.gone()
  }
}
