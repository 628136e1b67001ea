import { HoldBuffer } from '../hold-buffer.ts'
import { BodyReader, type ReaderOwner } from '../http1/body-reader.ts'
import { BodyWriter, type WriterOwner } from '../http1/body-writer.ts'
import type { ServedConnection } from '../served-connection.ts'
import {
  type Abort,
  BODY_CLOSE,
  type ClientStream,
  type Peer,
  type RelayedConnection,
  type RelayHandler,
} from '../stream.ts'
import { type TimerWheel, WheelTimer } from '../timer-wheel.ts'
import type { Transport, TransportOwner } from '../transport.ts'

/** How long neither side may say anything; what keeps a silent connection is TCP keepalive (decision A-41). */
const IDLE_TIMEOUT_MS = 3_600_000

/** What a relayed connection needs to know of its listener. */
export interface RelaySettings {
  readonly handler: RelayHandler
  readonly wheel: TimerWheel
  /** How long the client may leave bytes unread that wait for it. */
  readonly writeTimeoutMs: number
  /** The socket is closed; called once. */
  readonly onClosed: (connection: ServedConnection) => void
}

/**
 * A connection whose bytes are relayed as they are. Each direction ends by itself: a client that has sent everything is still
 * answered, and the other way round.
 */
export class RelayedSocket implements RelayedConnection, ServedConnection, TransportOwner, ReaderOwner, WriterOwner {
  readonly peer: Peer
  context: unknown
  readonly #settings: RelaySettings
  readonly #received = new BodyReader(this)
  readonly #sent = new BodyWriter(this, { keepsWhole: false })
  readonly #held = new HoldBuffer()
  readonly #timer: WheelTimer
  #transport!: Transport
  #upstream: ClientStream | undefined
  #receivedBytes = 0
  #running = false
  /** The client has ended its direction; held bytes may still have to go. */
  #clientEnded = false
  /** Our direction has ended. */
  #answered = false
  #over = false
  /** All bytes both ways, and how long nothing was added to them. */
  #progress = -1
  #quietMs = 0

  constructor(peer: Peer, settings: RelaySettings) {
    this.peer = peer
    this.#settings = settings
    this.#timer = new WheelTimer(() => this.#look())
    this.#received.start(BODY_CLOSE, -1)
  }

  /** Begins; the first call. */
  attach(transport: Transport): void {
    this.#transport = transport
    transport.pause()
    this.#watch()
    this.#settings.handler.accepted(this)
  }

  tunnel(upstream: ClientStream): void {
    if (this.#over) return upstream.cancel()
    this.#upstream = upstream
    this.#sent.start(this.#transport, '', BODY_CLOSE, -1)
    upstream.body.pipe(this.#sent)
    this.#received.pipe(upstream.request)
  }

  /** What is under way ends by itself; new bytes belong to it. */
  drain(): void {}

  abort(): void {
    this.#fail('cancelled')
  }

  // What the transport calls.

  bytes(buffer: Buffer, start: number, end: number): void {
    if (this.#over) return
    this.#receivedBytes += end - start
    if (this.#held.length === 0) return this.#run(buffer, start, end)
    this.#held.append(buffer, start, end)
    if (!this.#running) this.#run(this.#held.bytes, 0, this.#held.length)
  }

  ended(): void {
    this.#clientEnded = true
    this.#endReceived()
  }

  drained(): void {
    this.#sent.drained()
  }

  closed(): void {
    this.#fail('reset')
    this.#settings.wheel.remove(this.#timer)
    this.#settings.onClosed(this)
  }

  // What the reader and the writer call.

  bodyWanted(): void {
    if (this.#running || this.#over) return
    if (this.#held.length > 0) this.#run(this.#held.bytes, 0, this.#held.length)
    else this.#transport.resume()
  }

  bodyHeld(): void {
    this.#transport.pause()
  }

  messageWritten(): void {
    this.#answered = true
    this.#transport.end()
    this.#finishWhenBothEnded()
  }

  messageCut(why: Abort): void {
    this.#fail(why)
  }

  #run(buffer: Buffer, start: number, end: number): void {
    this.#running = true
    const after = this.#received.flowing ? this.#received.feed(buffer, start, end) : start
    this.#running = false
    if (this.#over) return
    this.#held.replace(buffer, after, end)
    if (after < end || !this.#received.flowing) this.#transport.pause()
    else this.#transport.resume()
    if (this.#clientEnded) this.#endReceived()
  }

  #endReceived(): void {
    if (this.#over || this.#received.done || this.#held.length > 0) return
    this.#received.close()
    this.#received.end()
    this.#finishWhenBothEnded()
  }

  #finishWhenBothEnded(): void {
    if (this.#over || !this.#answered || !this.#received.done) return
    this.#end(undefined)
  }

  #fail(why: Abort): void {
    if (this.#over) return
    this.#end(why)
    // An orderly end would pass for the end of what was relayed.
    if (this.#answered) this.#transport.destroy()
    else this.#transport.reset()
    this.#upstream?.cancel()
    this.#sent.close()
    this.#received.abort(why)
  }

  #end(why: Abort | undefined): void {
    this.#over = true
    this.#held.clear()
    this.#settings.handler.closed(this, this.#receivedBytes, this.#sent.sentBytes, why)
  }

  // Time limits.

  #watch(): void {
    this.#settings.wheel.arm(this.#timer, this.#settings.writeTimeoutMs)
  }

  /** Looks what has moved since the last look. */
  #look(): void {
    const { unsentBytes } = this.#transport
    const progress = this.#receivedBytes + this.#sent.sentBytes - unsentBytes
    this.#quietMs = progress === this.#progress ? this.#quietMs + this.#settings.writeTimeoutMs : 0
    this.#progress = progress
    const waits = this.#quietMs > 0 && (unsentBytes > 0 || this.#over)
    if (!waits && this.#quietMs < IDLE_TIMEOUT_MS) return this.#watch()
    if (this.#over) this.#transport.destroy()
    else this.#fail('timeout')
  }
}
