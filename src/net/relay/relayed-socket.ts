import type { Peer } from '../peer.ts'
import type { ServedConnection } from '../served-connection.ts'
import type { Abort, ClientStream, RelayedConnection, RelayHandler } from '../stream.ts'
import { type TimerWheel, WheelTimer } from '../timer-wheel.ts'
import type { Transport } from '../transport/transport.ts'
import { RawDuplex } from './raw-duplex.ts'

/** Maximum silence of both sides. Until then, TCP keepalive maintains a silent connection (decision A-41). */
const IDLE_TIMEOUT_MS = 3_600_000

/** Settings from the listener. */
export interface RelaySettings {
  readonly handler: RelayHandler
  readonly wheel: TimerWheel
  /** Maximum time in which the client does not read queued bytes. */
  readonly writeTimeoutMs: number
  /** The socket is closed; called once. */
  readonly onClosed: (connection: ServedConnection) => void
}

/**
 * A connection whose bytes are relayed unchanged. The directions end independently: a client that has ended its direction still gets the
 * server's bytes, and vice versa.
 */
export class RelayedSocket extends RawDuplex implements RelayedConnection, ServedConnection {
  readonly peer: Peer
  context: unknown
  readonly #settings: RelaySettings
  readonly #timer: WheelTimer
  #upstream: ClientStream | undefined
  /** The number of bytes in both directions at the last check, and for how long it has not changed. */
  #progress = -1
  #quietMs = 0

  constructor(peer: Peer, settings: RelaySettings) {
    super()
    this.peer = peer
    this.#settings = settings
    this.#timer = new WheelTimer(() => this.#look())
  }

  /** Begins to relay; must be called first. */
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

  /** A relayed connection cannot be reused. */
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

  /** Checks the progress since the last call. */
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
