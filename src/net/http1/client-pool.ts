import type { Socket } from 'node:net'
import { type Dial, type DialContext, dialContext } from '../connect/dial.ts'
import { dialTransport } from '../connect/dial-transport.ts'
import { type ConnectionGroup, GroupedPool } from '../connect/grouped-pool.ts'
import type { Destination } from '../destination.ts'
import type { ConnectFailure } from '../failure.ts'
import type { Head } from '../http/head.ts'
import { announcedLength } from '../http/request-rules.ts'
import { BODY_NONE, type ClientHandler, type ClientStream, type Framing } from '../stream.ts'
import type { WheelTimer } from '../timer-wheel.ts'
import { openDataTransport } from '../transport/data-transport.ts'
import type { Transport } from '../transport/transport.ts'
import { ClientConnection, type ConnectionOwner } from './client-connection.ts'
import { ClientExchange, type ExchangeOwner } from './client-exchange.ts'

/** Exchange objects kept for the next request. */
const MAX_SPARE = 1024

/** HTTP/1 connections of one worker, each carrying one request at a time. */
export class Http1Pool extends GroupedPool<Group> implements ExchangeOwner {
  readonly #spare: ClientExchange[] = []

  send(
    destination: Destination,
    head: Head,
    framing: Framing,
    responseTimeoutMs: number,
    handler: ClientHandler,
    context: unknown,
  ): ClientStream {
    const exchange = this.#spare.pop() ?? new ClientExchange(this)
    exchange.begin(head.method, handler, context)
    const connection = this.group(destination).take()
    connection.carry(exchange)
    const text = head.writeRequest(framing.kind, announcedLength(head, framing), connectionLines(framing.upgrade))
    if (responseTimeoutMs > 0) this.settings.wheel.arm(exchange.timer, responseTimeoutMs)
    exchange.request.start(connection.transport, text, framing.kind, framing.length)
    if (framing.kind === BODY_NONE) exchange.request.end()
    return exchange
  }

  recycle(exchange: ClientExchange): void {
    if (this.#spare.length < MAX_SPARE) this.#spare.push(exchange)
  }

  disarm(timer: WheelTimer): void {
    this.settings.wheel.disarm(timer)
  }

  protected override openGroup(destination: Destination): Group {
    return new Group(this, destination)
  }
}

/** The connections of one destination. */
class Group implements ConnectionGroup, ConnectionOwner {
  readonly #pool: Http1Pool
  readonly #destination: Destination
  readonly #idle: ClientConnection[] = []
  readonly #dials = new Map<ClientConnection, Dial>()
  #context: DialContext | undefined
  #size = 0

  constructor(pool: Http1Pool, destination: Destination) {
    this.#pool = pool
    this.#destination = destination
  }

  /** The connection that was used last, for it is the likeliest to be alive; else a new one. */
  take(): ClientConnection {
    for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
      if (connection.usable) {
        this.#pool.settings.wheel.disarm(connection.timer)
        return connection
      }
      connection.destroy()
    }
    return this.#open()
  }

  put(connection: ClientConnection, idleMs: number): void {
    const { closing, settings } = this.#pool
    const ms = Math.min(idleMs, settings.idleTimeoutMs)
    if (closing || ms <= 0 || this.#idle.length >= settings.maxIdle) return connection.destroy()
    settings.wheel.arm(connection.timer, ms)
    this.#idle.push(connection)
  }

  gone(connection: ClientConnection): void {
    this.#pool.settings.wheel.remove(connection.timer)
    this.#dials.get(connection)?.cancel()
    this.#dials.delete(connection)
    const at = this.#idle.indexOf(connection)
    if (at >= 0) this.#idle.splice(at, 1)
    if (--this.#size === 0) this.#pool.forget(this.#destination.key)
  }

  replay(exchange: ClientExchange, text: string): void {
    const connection = this.#open()
    connection.carry(exchange)
    connection.transport.writeText(text)
  }

  close(): void {
    for (const connection of [...this.#idle]) connection.destroy()
  }

  adopt(context: DialContext, socket: Socket): void {
    this.#context ??= context
    const connection = new ClientConnection(this)
    this.#size++
    connection.attach(openDataTransport(socket, connection))
    this.put(connection, Number.POSITIVE_INFINITY)
  }

  #open(): ClientConnection {
    const connection = new ClientConnection(this)
    this.#size++
    this.#context ??= dialContext(this.#destination)
    const done = (transport: Transport | null, failure: ConnectFailure | null) => {
      this.#dials.delete(connection)
      if (transport === null) connection.dialFailed(failure!)
      else connection.attach(transport)
    }
    const options = { wheel: this.#pool.settings.wheel, owner: connection, done }
    this.#dials.set(connection, dialTransport(this.#destination, this.#context, options))
    return connection
  }
}

function connectionLines(upgrade: string | undefined): string {
  return upgrade === undefined || upgrade === '' ? '' : `connection: upgrade\r\nupgrade: ${upgrade}\r\n`
}
