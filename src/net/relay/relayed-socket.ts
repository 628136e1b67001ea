import type { Peer } from '../peer.ts'
import type { ServedConnection } from '../served-connection.ts'
import type { Abort, ClientStream, RelayedConnection, RelayHandler } from '../stream.ts'
import { type TimerWheel, WheelTimer } from '../timer-wheel.ts'
import type { Transport } from '../transport/transport.ts'
import { RawDuplex } from './raw-duplex.ts'

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
export class RelayedSocket extends RawDuplex implements RelayedConnection, ServedConnection {
  readonly peer: Peer
  context: unknown
  readonly #settings: RelaySettings
  readonly #timer: WheelTimer
  #upstream: ClientStream | undefined
  /** All bytes both ways, and how long nothing was added to them. */
  #progress = -1
  #quietMs = 0

  constructor(peer: Peer, settings: RelaySettings) {
    super()
    this.peer = peer
    this.#settings = settings
    this.#timer = new WheelTimer(() => this.#look())
  }

  /** Begins; the first call. */
  attach(transport: Transport): void {
    this.begin(transport)
    this.#watch()
    this.#settings.handler.accepted(this)
  }

  tunnel(upstream: ClientStream): void {
    if (this.over) return upstream.cancel()
    this.#upstream = upstream
    upstream.body.pipe(this.sent)
    this.received.pipe(upstream.request)
  }

  /** There is no boundary between two uses of the connection. */
  discourageReuse(): void {}

  /** Relayed traffic ends on its own; new bytes belong to it. */
  drain(): void {}

  abort(): void {
    this.cut('cancelled')
  }

  protected finished(): void {
    this.#report(undefined)
  }

  protected broken(why: Abort): void {
    this.#report(why)
    this.#upstream?.cancel()
  }

  protected gone(): void {
    this.#settings.wheel.remove(this.#timer)
    this.#settings.onClosed(this)
  }

  #report(why: Abort | undefined): void {
    this.#settings.handler.closed(this, this.receivedBytes, this.sent.sentBytes, why)
  }

  // Time limits.

  #watch(): void {
    this.#settings.wheel.arm(this.#timer, this.#settings.writeTimeoutMs)
  }

  /** Looks what has moved since the last look. */
  #look(): void {
    const unsentBytes = this.transport?.unsentBytes ?? 0
    const progress = this.receivedBytes + this.sent.sentBytes - unsentBytes
    this.#quietMs = progress === this.#progress ? this.#quietMs + this.#settings.writeTimeoutMs : 0
    this.#progress = progress
    const waits = this.#quietMs > 0 && (unsentBytes > 0 || this.over)
    if (!waits && this.#quietMs < IDLE_TIMEOUT_MS) return this.#watch()
    if (this.over) this.transport?.destroy()
    else this.cut('timeout')
  }
}
