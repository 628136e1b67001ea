import type { Waiting, WaitingLine } from '../connect/waiting-line.ts'
import type { ConnectFailure } from '../failure.ts'
import { EarlyTransport } from '../transport/early-transport.ts'
import type { Carrier } from './carrier.ts'
import type { ClientConnection } from './client-connection.ts'
import type { ClientExchange } from './client-exchange.ts'

/** The carrier of a request that waits for a connection. */
export class WaitingRequest implements Carrier, Waiting {
  readonly connected = false
  readonly awaitsRoom = true
  readonly transport: EarlyTransport = new EarlyTransport()
  readonly #line: WaitingLine<WaitingRequest>
  #exchange: ClientExchange | null

  constructor(exchange: ClientExchange, line: WaitingLine<WaitingRequest>) {
    this.#exchange = exchange
    this.#line = line
    exchange.connection = this
  }

  /** Assigns the request to an idle connection. */
  moveTo(connection: ClientConnection): void {
    const exchange = this.#exchange
    if (exchange === null) throw new Error('no request is waiting')
    this.#exchange = null
    connection.carry(exchange)
    this.transport.moveTo(connection.transport)
    exchange.request.moveTo(connection.transport)
  }

  failUnsent(failure: ConnectFailure): void {
    this.#exchange?.failUnsent(failure)
  }

  abandonExchange(): void {
    this.#exchange = null
    this.#line.delete(this)
  }

  destroy(): void {}
  bodyWanted(): void {}
  bodyHeld(): void {}
  endOutput(): void {}
}
