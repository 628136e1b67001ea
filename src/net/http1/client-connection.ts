import type { NameUse } from '../connect/names.ts'
import type { ConnectFailure } from '../failure.ts'
import { INCOMPLETE } from '../http/head-outcome.ts'
import { RESPONSE_LIMITS } from '../limits.ts'
import type { Abort } from '../stream.ts'
import type { WheelTimer } from '../timer-wheel.ts'
import { EarlyTransport } from '../transport/early-transport.ts'
import { HoldBuffer } from '../transport/hold-buffer.ts'
import type { Transport, TransportOwner } from '../transport/transport.ts'
import type { Carrier } from './carrier.ts'
import type { ClientExchange } from './client-exchange.ts'
import { readResponseHead } from './read-head.ts'

/** Safety margin before the server's hinted idle timeout, when it may close the connection under a new request. */
const HINT_MARGIN_MS = 1000

/** The pool of a connection. */
export interface ConnectionOwner {
  /** The connection is idle. @param idleMs how long it may be kept at most */
  put(connection: ClientConnection, idleMs: number): void
  /** The connection must not be used again. Called once. */
  gone(connection: ClientConnection): void
  /** Sends `text`, the whole request of `exchange`, on a new connection. */
  replay(exchange: ClientExchange, text: string): void
}

/** An upstream HTTP/1 connection: carries one exchange at a time. */
export class ClientConnection implements TransportOwner, Carrier {
  /** False while the connection is being opened: nothing can have reached the server. */
  connected = false
  readonly awaitsRoom = false
  /** Idle timeout; created when the connection becomes idle for the first time. */
  timer: WheelTimer | undefined
  readonly #owner: ConnectionOwner
  readonly #held = new HoldBuffer()
  #transport: Transport = new EarlyTransport()
  #exchange: ClientExchange | null = null
  /** The connection has carried an exchange before, so the server may be closing it as idle. */
  #reused = false
  #silent = true
  #running = false
  #keep = true
  /** The host name no longer resolves to the address of the connection. */
  #outdated = false
  #dead = false

  constructor(owner: ConnectionOwner) {
    this.#owner = owner
  }

  get transport(): Transport {
    return this.#transport
  }

  /** Whether the connection can carry another request, as far as is known. */
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

  /** Assigns `exchange`; its request is written to `transport` next. */
  carry(exchange: ClientExchange): void {
    this.#exchange = exchange
    this.#silent = true
    exchange.connection = this
  }

  /** The exchange was detached. */
  abandonExchange(): void {
    this.#exchange = null
  }

  endOutput(): void {
    this.#transport.end()
  }

  destroy(): void {
    if (this.#dead) return
    this.#dead = true
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
    else this.#lost('protocol-error')
  }

  drained(): void {
    this.#exchange?.request.drained()
  }

  closed(): void {
    this.#lost('reset')
  }

  /** @param why if the response is missing: the server ended the connection without a complete one, or the connection broke */
  #lost(why: Abort): void {
    const exchange = this.#exchange
    const stale = this.#reused && this.#silent
    this.#exchange = null
    this.destroy()
    if (exchange === null) return
    const text = stale ? exchange.replayText : ''
    // A server that closes an idle connection has not answered a request.
    if (text === '') return exchange.fail(stale || exchange.reading ? 'reset' : why)
    exchange.noteReplay()
    this.#owner.replay(exchange, text)
  }

  /** Accepts no further request; the current one finishes normally. */
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

  /** @returns the index after the head; `start` if more bytes are needed */
  #readHead(exchange: ClientExchange, buffer: Buffer, start: number, end: number): number {
    const after = readResponseHead(buffer, start, end, exchange.head, RESPONSE_LIMITS)
    if (after === INCOMPLETE) return start
    if (after < 0) {
      exchange.fail('protocol-error')
      return end
    }
    const { status, upgrade } = exchange.head
    if (status === 101 && upgrade === '') {
      // A 101 without Upgrade does not name a protocol.
      exchange.fail('protocol-error')
      return end
    }
    if (status === 101) exchange.upgraded(this.#transport)
    else if (status < 200) {
      exchange.informed()
      exchange.head.reset()
    } else this.#beginResponse(exchange, after === end)
    return after
  }

  #beginResponse(exchange: ClientExchange, isClear: boolean): void {
    this.#keep = exchange.takeResponse()
    if (exchange.body.done) this.#complete(exchange, isClear)
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
    if (body.done) this.#complete(exchange, after === end)
    return after
  }

  /**
   * The response has been read. The connection becomes idle before the receiver gets the end, so that the next request of the same
   * client can reuse it.
   * @param isClear the connection is open, and nothing follows the response
   */
  #complete(exchange: ClientExchange, isClear: boolean): void {
    const keep = isClear && this.#keep && !this.#outdated && !exchange.request.open
    const hint = exchange.head.keepAliveSeconds
    exchange.finish()
    this.#reused = true
    // The receiver may have been backed up when the last bytes arrived.
    this.#transport.resume()
    if (keep) this.#owner.put(this, hint < 0 ? Number.POSITIVE_INFINITY : hint * 1000 - HINT_MARGIN_MS)
    else this.destroy()
    exchange.body.end()
  }
}
