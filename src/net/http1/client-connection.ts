import type { NameUse } from '../connect/names.ts'
import type { ConnectFailure } from '../failure.ts'
import { INCOMPLETE } from '../http/head-outcome.ts'
import { RESPONSE_LIMITS } from '../limits.ts'
import { WheelTimer } from '../timer-wheel.ts'
import { EarlyTransport } from '../transport/early-transport.ts'
import { HoldBuffer } from '../transport/hold-buffer.ts'
import type { Transport, TransportOwner } from '../transport/transport.ts'
import type { Carrier } from './carrier.ts'
import type { ClientExchange } from './client-exchange.ts'
import { readResponseHead } from './read-head.ts'

/** A server that closes after its hinted time races with a request sent in the last moment. */
const HINT_MARGIN_MS = 1000

/** What a connection needs of its pool. */
export interface ConnectionOwner {
  /** The connection is free; `idleMs` is how long it may be kept at most. */
  put(connection: ClientConnection, idleMs: number): void
  /** The connection must not be used again. Called once. */
  gone(connection: ClientConnection): void
  /** Sends `text`, the whole request of `exchange`, on a new connection. */
  replay(exchange: ClientExchange, text: string): void
}

/** An upstream HTTP/1 connection: carries one exchange at a time. */
export class ClientConnection implements TransportOwner, Carrier {
  /** False while it is being opened: nothing can have reached the server. */
  connected = false
  readonly awaitsRoom = false
  /** Time limit in the pool. */
  readonly timer: WheelTimer = new WheelTimer(() => this.destroy())
  readonly #owner: ConnectionOwner
  readonly #held = new HoldBuffer()
  #transport: Transport = new EarlyTransport()
  #exchange: ClientExchange | null = null
  /** It has served an exchange before, so the server may be closing it right now. */
  #reused = false
  #silent = true
  #running = false
  #keep = true
  /** Its address is not one of its name any more. */
  #outdated = false
  #dead = false

  constructor(owner: ConnectionOwner) {
    this.#owner = owner
  }

  get transport(): Transport {
    return this.#transport
  }

  /** As far as is known, the server would get another request. */
  get usable(): boolean {
    return this.#transport.usable
  }

  /** The dial has succeeded. */
  attach(transport: Transport, use?: NameUse): void {
    if (this.#dead) return transport.destroy()
    if (use !== undefined) use.outdated = () => this.#retire()
    const early = this.#transport as EarlyTransport
    this.#transport = transport
    this.connected = true
    early.moveTo(transport)
    this.#exchange?.request.moveTo(transport)
  }

  /** The dial has failed. */
  dialFailed(failure: ConnectFailure): void {
    const exchange = this.#exchange
    this.destroy()
    exchange?.failUnsent(failure)
  }

  /** Begins to carry `exchange`; its request is written to `transport` next. */
  carry(exchange: ClientExchange): void {
    this.#exchange = exchange
    this.#silent = true
    exchange.connection = this
  }

  /** The exchange has left, for better or worse. */
  abandonExchange(): void {
    this.#exchange = null
  }

  endOutput(): void {
    this.#transport.end()
  }

  destroy(): void {
    if (this.#dead) return
    this.#dead = true
    this.#held.clear()
    this.#owner.gone(this)
    this.#transport.destroy()
  }

  bodyWanted(): void {
    if (this.#running || this.#dead) return
    if (this.#held.length > 0) this.#run(this.#held.bytes, 0, this.#held.length)
    else this.#transport.resume()
  }

  bodyHeld(): void {
    this.#transport.pause()
  }

  // Called by the transport.

  bytes(buffer: Buffer, start: number, end: number): void {
    if (this.#dead) return
    // Unsolicited bytes: the next response would not belong to the next request.
    if (this.#exchange === null) return this.destroy()
    this.#silent = false
    if (this.#held.length === 0) return this.#run(buffer, start, end)
    this.#held.append(buffer, start, end)
    if (!this.#running) this.#run(this.#held.bytes, 0, this.#held.length)
  }

  ended(): void {
    const exchange = this.#exchange
    if (exchange?.reading && exchange.body.close()) this.#complete(exchange, false)
    else this.closed()
  }

  drained(): void {
    this.#exchange?.request.drained()
  }

  closed(): void {
    const exchange = this.#exchange
    const stale = this.#reused && this.#silent
    this.#exchange = null
    this.destroy()
    if (exchange === null) return
    const text = stale ? exchange.replayText : ''
    if (text === '') return exchange.fail('reset')
    exchange.noteReplay()
    this.#owner.replay(exchange, text)
  }

  /** Carries no further request; the one in hand ends in order. */
  #retire(): void {
    this.#outdated = true
    if (this.#exchange === null) this.destroy()
  }

  #run(buffer: Buffer, start: number, end: number): void {
    this.#running = true
    let at = start
    while (at < end && this.#exchange !== null) {
      const exchange: ClientExchange = this.#exchange
      const from = at
      at = exchange.reading ? this.#readBody(exchange, buffer, at, end) : this.#readHead(exchange, buffer, at, end)
      if (at === from) break
    }
    this.#running = false
    this.#hold(buffer, at, end)
  }

  #hold(buffer: Buffer, start: number, end: number): void {
    if (this.#dead || this.#exchange === null) return this.#held.clear()
    this.#held.replace(buffer, start, end)
    const { reading, body } = this.#exchange
    if (!reading || (start === end && body.flowing)) this.#transport.resume()
    else if (start < end) this.#transport.pause()
  }

  /** @returns the index behind the head; `start` when more bytes are needed */
  #readHead(exchange: ClientExchange, buffer: Buffer, start: number, end: number): number {
    const after = readResponseHead(buffer, start, end, exchange.head, RESPONSE_LIMITS)
    if (after === INCOMPLETE) return start
    if (after < 0) {
      exchange.fail('protocol-error')
      return end
    }
    const { status, upgrade } = exchange.head
    if (status === 101 && upgrade === '') {
      // To what?
      exchange.fail('protocol-error')
      return end
    }
    if (status === 101) exchange.upgraded(this.#transport)
    else if (status < 200) {
      exchange.informed()
      exchange.head.reset()
    } else this.#beginResponse(exchange, after < end)
    return after
  }

  #beginResponse(exchange: ClientExchange, moreCame: boolean): void {
    this.#keep = exchange.takeResponse()
    if (exchange.body.done) this.#complete(exchange, moreCame)
    exchange.announceResponse()
  }

  #readBody(exchange: ClientExchange, buffer: Buffer, start: number, end: number): number {
    const { body } = exchange
    if (!body.flowing) return start
    const after = body.feed(buffer, start, end)
    if (this.#exchange !== exchange) return end
    if (body.bad) {
      exchange.fail('protocol-error')
      return end
    }
    if (body.done) this.#complete(exchange, after < end)
    return after
  }

  /**
   * The response has been read. The connection is free before the receiver hears of it, so that a next request on the same
   * client connection finds it.
   */
  #complete(exchange: ClientExchange, moreCame: boolean): void {
    const keep = this.#keep && !this.#outdated && !moreCame && !exchange.request.open
    const hint = exchange.head.keepAliveSeconds
    exchange.finish()
    this.#reused = true
    // The receiver may have been full when the last bytes came.
    this.#transport.resume()
    if (keep) this.#owner.put(this, hint < 0 ? Number.POSITIVE_INFINITY : hint * 1000 - HINT_MARGIN_MS)
    else this.destroy()
    exchange.body.end()
  }
}
