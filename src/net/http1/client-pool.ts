import type { RoomSeeker } from '../connect/connection-budget.ts'
import { type DialContext, type Dialling, dialContext } from '../connect/dial.ts'
import { type DialTransportOptions, dialTransport } from '../connect/dial-transport.ts'
import { type AdoptedSocket, type ConnectionGroup, GroupedPool } from '../connect/grouped-pool.ts'
import { tooManyWaiting, WaitingLine, waitedTooLong } from '../connect/waiting-line.ts'
import { DEFAULT_BOUNDS, type Destination } from '../destination.ts'
import type { Head } from '../http/head.ts'
import { announcedLength } from '../http/request-rules.ts'
import { BODY_NONE, type ClientHandler, type ClientStream, type Framing } from '../stream.ts'
import { WheelTimer } from '../timer-wheel.ts'
import { openDataTransport } from '../transport/data-transport.ts'
import type { Transport } from '../transport/transport.ts'
import { absoluteForm, ForwardedHandler } from './absolute-form.ts'
import { ClientConnection, type ConnectionOwner } from './client-connection.ts'
import { ClientExchange, type ExchangeOwner } from './client-exchange.ts'
import { WaitingRequest } from './waiting-request.ts'

/** Number of exchange objects kept for reuse. */
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
    const { tunnel } = destination
    const proxy = tunnel?.mode === 'forward' ? tunnel : undefined
    exchange.begin(head, proxy === undefined ? handler : new ForwardedHandler(handler), context)
    const transport = this.group(destination).carry(exchange, destination)
    const sent = proxy === undefined ? head : absoluteForm(head, destination, proxy)
    const text = sent.writeRequest(framing.kind, announcedLength(head, framing), connectionLines(framing.upgrade))
    if (responseTimeoutMs !== 0) exchange.limit.start(responseTimeoutMs, framing.patient === true)
    exchange.request.start(transport, text, framing.kind, framing.length)
    if (framing.kind === BODY_NONE) exchange.request.end()
    return exchange
  }

  /** Looks up the group again, because it may have been removed with its last connection, the stale one. */
  replay(destination: Destination, exchange: ClientExchange, text: string): void {
    this.group(destination).resend(exchange, text)
  }

  recycle(exchange: ClientExchange): void {
    if (this.#spare.length < MAX_SPARE) this.#spare.push(exchange)
  }

  arm(timer: WheelTimer, ms: number): void {
    this.settings.wheel.arm(timer, ms)
  }

  disarm(timer: WheelTimer): void {
    this.settings.wheel.disarm(timer)
  }

  protected override openGroup(destination: Destination): Group {
    return new Group(this, destination)
  }
}

/** The connections of one destination. */
class Group implements ConnectionGroup, ConnectionOwner, RoomSeeker {
  readonly #pool: Http1Pool
  /** The destination of the last request: members that are not part of the key may change. */
  #destination: Destination
  readonly #idle: ClientConnection[] = []
  readonly #dials = new Map<ClientConnection, Dialling>()
  readonly #line: WaitingLine<WaitingRequest>
  #context: DialContext | undefined
  #size = 0

  constructor(pool: Http1Pool, destination: Destination) {
    const { connectTimeoutMs: timeoutMs } = destination
    this.#pool = pool
    this.#destination = destination
    this.#line = new WaitingLine({ wheel: pool.settings.wheel, timeoutMs, tooLate: () => waitedTooLong(timeoutMs) })
  }

  get isOpen(): boolean {
    return this.#size > 0
  }

  /** @returns the transport to write the request to */
  carry(exchange: ClientExchange, destination: Destination): Transport {
    this.#destination = destination
    const connection = this.#takeIdle() ?? this.#open()
    if (connection === undefined) return this.#wait(exchange)
    connection.carry(exchange)
    return connection.transport
  }

  put(connection: ClientConnection, idleMs: number): void {
    const { closing, settings } = this.#pool
    const ms = Math.min(idleMs, settings.idleTimeoutMs)
    if (closing || ms <= 0 || !connection.usable) return connection.destroy()
    const waiting = this.#line.take()
    if (waiting !== undefined) return waiting.moveTo(connection)
    if (this.#idle.length >= settings.maxIdle) return connection.destroy()
    connection.timer ??= new WheelTimer(() => connection.destroy())
    settings.wheel.arm(connection.timer, ms)
    this.#idle.push(connection)
    if (this.#destination.chosenByClient) this.#pool.connector.chosenIdle.add(connection, () => connection.destroy())
  }

  gone(connection: ClientConnection): void {
    if (connection.timer !== undefined) this.#pool.settings.wheel.remove(connection.timer)
    if (this.#destination.chosenByClient) this.#pool.connector.chosenIdle.remove(connection)
    this.#dials.get(connection)?.cancel()
    this.#dials.delete(connection)
    const at = this.#idle.indexOf(connection)
    if (at >= 0) this.#idle.splice(at, 1)
    this.#size--
    this.#forgetIfEmpty()
  }

  replay(exchange: ClientExchange, text: string): void {
    this.#pool.replay(this.#destination, exchange, text)
  }

  resend(exchange: ClientExchange, text: string): void {
    const connection = this.#open()
    connection?.carry(exchange)
    const transport = connection?.transport ?? this.#wait(exchange)
    transport.writeText(text)
  }

  roomToConnect(): void {
    while (this.#line.size > 0) {
      const connection = this.#open()
      if (connection === undefined) return
      this.#line.take()!.moveTo(connection)
    }
    this.#forgetIfEmpty()
  }

  close(): void {
    for (const connection of [...this.#idle]) connection.destroy()
  }

  adopt({ context, socket, use }: AdoptedSocket): void {
    this.#context ??= context
    const connection = new ClientConnection(this)
    this.#size++
    connection.attach(openDataTransport(socket, connection), use)
    this.put(connection, Number.POSITIVE_INFINITY)
  }

  /** The connection that was used last, because it is most likely still open. */
  #takeIdle(): ClientConnection | undefined {
    for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
      if (connection.usable) {
        this.#pool.settings.wheel.disarm(connection.timer!)
        if (this.#destination.chosenByClient) this.#pool.connector.chosenIdle.remove(connection)
        return connection
      }
      connection.destroy()
    }
    return undefined
  }

  /** @returns undefined if no further connection is permitted */
  #open(): ClientConnection | undefined {
    const { connector } = this.#pool
    if (!connector.reserve(this.#destination, this)) return undefined
    const connection = new ClientConnection(this)
    this.#size++
    this.#context ??= dialContext(this.#destination)
    const done: DialTransportOptions['done'] = (transport, failure, use) => {
      this.#dials.delete(connection)
      if (transport === null) connection.dialFailed(failure!)
      else connection.attach(transport, use)
    }
    this.#dials.set(connection, dialTransport(this.#destination, this.#context, { connector, owner: connection, done }))
    return connection
  }

  #wait(exchange: ClientExchange): Transport {
    const { maxWaiting } = this.#destination.bounds ?? DEFAULT_BOUNDS
    const waiting = new WaitingRequest(exchange, this.#line)
    if (this.#line.size < maxWaiting) this.#line.add(waiting)
    else process.nextTick(() => waiting.failUnsent(tooManyWaiting(maxWaiting)))
    return waiting.transport
  }

  #forgetIfEmpty(): void {
    if (this.#size === 0 && this.#line.size === 0) this.#pool.forget(this.#destination.key, this)
  }
}

function connectionLines(upgrade: string | undefined): string {
  return upgrade === undefined || upgrade === '' ? '' : `connection: upgrade\r\nupgrade: ${upgrade}\r\n`
}
