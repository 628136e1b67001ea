import type { RoomSeeker } from '../connect/connection-budget.ts'
import { connectedTooLate, type DialContext, type DialOptions, dialContext } from '../connect/dial.ts'
import { type AdoptedSocket, type ConnectionGroup, GroupedPool } from '../connect/grouped-pool.ts'
import { tooManyWaiting, WaitingLine, waitedTooLong } from '../connect/waiting-line.ts'
import { DEFAULT_BOUNDS, type Destination } from '../destination.ts'
import type { ConnectFailure } from '../failure.ts'
import type { Head } from '../http/head.ts'
import { ASSUMED_STREAMS, ClientSession, type SessionOwner } from '../node-http2/client-session.ts'
import type { ClientHandler, ClientStream, Framing } from '../stream.ts'
import type { TimerWheel, WheelTimer } from '../timer-wheel.ts'
import { ClientExchange, type ExchangeOwner } from './client-exchange.ts'

/** HTTP/2 connections of one worker, each carrying many requests at a time. */
export class Http2Pool extends GroupedPool<Group> {
  send(
    destination: Destination,
    head: Head,
    framing: Framing,
    responseTimeoutMs: number,
    handler: ClientHandler,
    context: unknown,
  ): ClientStream {
    const group = this.group(destination)
    const scheme = destination.tls === undefined ? 'http' : 'https'
    const { bodyMemory } = this.settings
    const exchange = new ClientExchange(group, { head, scheme, framing, handler, context, bodyMemory })
    if (responseTimeoutMs > 0) exchange.limit.start(responseTimeoutMs, framing.patient === true)
    group.place(exchange, destination)
    return exchange
  }

  /** Assigns `exchange` to a connection of its destination again. */
  replay(destination: Destination, exchange: ClientExchange): void {
    this.group(destination).place(exchange, destination)
  }

  /** `exchange` no longer waits for a connection of its destination. */
  withdraw({ key }: Destination, exchange: ClientExchange): void {
    this.find(key)?.leaveLine(exchange)
  }

  protected override openGroup(destination: Destination): Group {
    return new Group(this, destination)
  }
}

/** Number of connections with a stream limit of 0 after which no more are opened to reach another server. */
const MAX_SHUT = 3

/** The connections of one destination. */
class Group implements ConnectionGroup, ExchangeOwner, SessionOwner, RoomSeeker {
  readonly #pool: Http2Pool
  /** The destination of the last request: members that are not part of the key may change. */
  #destination: Destination
  /** Sessions that accept requests. */
  readonly #sessions: ClientSession[] = []
  /** Requests that wait for room on a session. */
  readonly #line: WaitingLine<ClientExchange>
  #context: DialContext | undefined
  #dials = 0
  /** Requests beyond the limit would be refused: each one that waits could use up its replays on new connections. */
  assumedStreams = ASSUMED_STREAMS

  constructor(pool: Http2Pool, destination: Destination) {
    const { connectTimeoutMs: timeoutMs } = destination
    this.#pool = pool
    this.#destination = destination
    this.#line = new WaitingLine({ wheel: pool.settings.wheel, timeoutMs, tooLate: () => this.#tooLate(timeoutMs) })
  }

  get wheel(): TimerWheel {
    return this.#pool.settings.wheel
  }

  get idleTimeoutMs(): number {
    return this.#pool.settings.idleTimeoutMs
  }

  get pingMs(): number | undefined {
    return this.#destination.pingMs
  }

  get isOpen(): boolean {
    return this.#sessions.length > 0 || this.#dials > 0
  }

  get isFull(): boolean {
    return this.#dials === 0 && !this.#isShut
  }

  /** Assigns a request to a session, or queues it. Calls no handler before it returns. */
  place(exchange: ClientExchange, destination = this.#destination): void {
    this.#destination = destination
    const session = this.#sessions.find((one) => one.hasRoom)
    if (session !== undefined) return this.#carry(session, exchange)
    const { maxWaiting } = destination.bounds ?? DEFAULT_BOUNDS
    // Requests that the connections being opened will take do not count.
    if (this.#line.size >= maxWaiting + this.#dials * this.assumedStreams) {
      process.nextTick(() => exchange.failUnsent(tooManyWaiting(maxWaiting)))
      return
    }
    this.#line.add(exchange)
    this.roomToConnect()
  }

  /** Goes through the pool, because this group may have been removed and replaced. */
  replay(exchange: ClientExchange): void {
    this.#pool.replay(this.#destination, exchange)
  }

  withdraw(exchange: ClientExchange): void {
    this.#pool.withdraw(this.#destination, exchange)
  }

  /** Removes a request that no longer waits. */
  leaveLine(exchange: ClientExchange): void {
    this.#line.delete(exchange)
  }

  arm(timer: WheelTimer, ms: number): void {
    this.wheel.arm(timer, ms)
  }

  disarm(timer: WheelTimer): void {
    this.wheel.remove(timer)
  }

  adopt({ context, socket, use, settled }: AdoptedSocket): void {
    this.#context ??= context
    const session = new ClientSession(socket, this, settled)
    if (use !== undefined) use.outdated = () => session.drain()
    this.#sessions.push(session)
    this.roomIn(session)
    if (this.#pool.closing) session.drain()
  }

  roomIn(session: ClientSession): void {
    while (this.#line.size > 0 && session.hasRoom) this.#carry(session, this.#line.take()!)
  }

  limited(streams: number): void {
    // A limit of 0 is not lasting, and another connection may reach another server.
    this.assumedStreams = Math.min(Math.max(1, streams), ASSUMED_STREAMS)
  }

  rests(session: ClientSession): void {
    // Draining lets later requests on the session finish.
    if (this.#destination.chosenByClient) this.#pool.connector.chosenIdle.add(session, () => session.drain())
  }

  gone(session: ClientSession): void {
    if (this.#destination.chosenByClient) this.#pool.connector.chosenIdle.remove(session)
    const at = this.#sessions.indexOf(session)
    if (at >= 0) this.#sessions.splice(at, 1)
    this.roomToConnect()
    this.#forgetIfEmpty()
  }

  close(): void {
    for (const session of [...this.#sessions]) session.drain()
  }

  /** Opens connections for the waiting requests. */
  roomToConnect(): void {
    const shut = this.#sessions.filter(({ isShut }) => isShut).length
    while (shut < MAX_SHUT && this.#line.size > this.#dials * this.assumedStreams) {
      if (!this.#pool.connector.reserve(this.#destination, this)) return
      this.#open()
    }
    this.#forgetIfEmpty()
  }

  #carry(session: ClientSession, exchange: ClientExchange): void {
    const { headBytes } = exchange
    const { maxHeadBytes } = session
    if (headBytes > maxHeadBytes) {
      const detail = `the request head has ${headBytes} bytes; the limit is ${maxHeadBytes}`
      return process.nextTick(() => exchange.failUnsent({ code: 'request-headers-too-large', detail }))
    }
    try {
      session.carry(exchange)
    } catch {
      session.leave(exchange)
      process.nextTick(() => exchange.fail('protocol-error', 'request-incomplete'))
    }
  }

  #open(): void {
    this.#dials++
    this.#context ??= dialContext(this.#destination)
    const { lastArrival } = this.#line
    const done: DialOptions['done'] = (...dialled) => this.#dialled(lastArrival, ...dialled)
    this.#pool.connector.dial(this.#destination, this.#context, { done })
  }

  #dialled(lastArrival: number, ...[socket, failure, use]: Parameters<DialOptions['done']>): void {
    this.#dials--
    if (socket !== null) {
      this.adopt({ context: this.#context!, socket, use })
    } else if (!this.isOpen) this.#line.failUpTo(lastArrival, failure!)
    this.roomToConnect()
  }

  /** Whether the server has set a stream limit of 0 on its connections. */
  get #isShut(): boolean {
    return this.#sessions.length > 0 && this.#sessions.every(({ isShut }) => isShut)
  }

  #tooLate(timeoutMs: number): ConnectFailure {
    if (this.#dials > 0) return connectedTooLate(timeoutMs)
    if (!this.#isShut) return waitedTooLong(timeoutMs)
    return { code: 'no-streams-allowed', detail: `the server allowed no streams for ${timeoutMs} ms` }
  }

  #forgetIfEmpty(): void {
    if (!this.isOpen && this.#line.size === 0) this.#pool.forget(this.#destination.key, this)
  }
}
