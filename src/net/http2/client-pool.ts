import type { Socket } from 'node:net'
import { Dial, type DialContext, dialContext } from '../connect/dial.ts'
import { type ConnectionGroup, GroupedPool } from '../connect/grouped-pool.ts'
import type { Destination } from '../destination.ts'
import type { ConnectFailure } from '../failure.ts'
import type { Head } from '../http/head.ts'
import type { ClientHandler, ClientStream, Framing } from '../stream.ts'
import type { TimerWheel, WheelTimer } from '../timer-wheel.ts'
import { ClientExchange, type ExchangeOwner } from './client-exchange.ts'
import { ASSUMED_STREAMS, ClientSession, type SessionOwner } from './client-session.ts'

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
    if (responseTimeoutMs > 0) this.settings.wheel.arm(exchange.timer, responseTimeoutMs)
    group.place(exchange)
    return exchange
  }

  /** Has `exchange`, made for that destination, carried by one of its connections. */
  replay(destination: Destination, exchange: ClientExchange): void {
    this.group(destination).place(exchange)
  }

  protected override openGroup(destination: Destination): Group {
    return new Group(this, destination)
  }
}

/** The connections of one destination. */
class Group implements ConnectionGroup, ExchangeOwner, SessionOwner {
  readonly #pool: Http2Pool
  readonly #destination: Destination
  /** Those that take requests. */
  readonly #sessions: ClientSession[] = []
  /** Requests for which there is no room yet, oldest first. */
  #waiting: ClientExchange[] = []
  #context: DialContext | undefined
  #dials = 0

  constructor(pool: Http2Pool, destination: Destination) {
    this.#pool = pool
    this.#destination = destination
  }

  get wheel(): TimerWheel {
    return this.#pool.settings.wheel
  }

  get idleTimeoutMs(): number {
    return this.#pool.settings.idleTimeoutMs
  }

  place(exchange: ClientExchange): void {
    const session = this.#sessions.find((one) => one.hasRoom)
    if (session !== undefined) return this.#carry(session, exchange)
    this.#waiting.push(exchange)
    if (this.#waiting.length > this.#dials * ASSUMED_STREAMS) this.#open()
  }

  /** The group may have been forgotten meanwhile, and be another one now. */
  replay(exchange: ClientExchange): void {
    this.#pool.replay(this.#destination, exchange)
  }

  forget(timer: WheelTimer): void {
    this.wheel.remove(timer)
  }

  adopt(context: DialContext, socket: Socket): void {
    this.#context ??= context
    const session = new ClientSession(socket, this)
    this.#sessions.push(session)
    this.roomIn(session)
    if (this.#pool.closing) session.drain()
  }

  roomIn(session: ClientSession): void {
    while (this.#waiting.length > 0 && session.hasRoom) {
      const exchange = this.#waiting.shift()!
      if (!exchange.over) this.#carry(session, exchange)
    }
  }

  gone(session: ClientSession): void {
    const at = this.#sessions.indexOf(session)
    if (at >= 0) this.#sessions.splice(at, 1)
    this.#forgetIfEmpty()
  }

  close(): void {
    for (const session of [...this.#sessions]) session.drain()
  }

  /** No call is made to a handler while a request is being placed. */
  #carry(session: ClientSession, exchange: ClientExchange): void {
    const { headBytes } = exchange
    const { maxHeadBytes } = session
    if (headBytes > maxHeadBytes) {
      const detail = `the head has ${headBytes} bytes, and ${maxHeadBytes} can be sent`
      return process.nextTick(() => exchange.failUnsent({ code: 'request-headers-too-large', detail }))
    }
    try {
      session.carry(exchange)
    } catch {
      session.leave()
      process.nextTick(() => exchange.fail('protocol-error'))
    }
  }

  #open(): void {
    this.#dials++
    this.#context ??= dialContext(this.#destination)
    const done = (socket: Socket | null, failure: ConnectFailure | null) => this.#dialled(socket, failure)
    new Dial(this.#destination, this.#context, { wheel: this.wheel, done })
  }

  #dialled(socket: Socket | null, failure: ConnectFailure | null): void {
    this.#dials--
    if (socket !== null) {
      this.adopt(this.#context!, socket)
      if (this.#waiting.length > this.#dials * ASSUMED_STREAMS) this.#open()
    } else if (this.#dials === 0) this.#failAll(failure!)
  }

  #failAll(failure: ConnectFailure): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const exchange of waiting) exchange.failUnsent(failure)
    this.#forgetIfEmpty()
  }

  #forgetIfEmpty(): void {
    if (this.#sessions.length === 0 && this.#dials === 0 && this.#waiting.length === 0) {
      this.#pool.forget(this.#destination.key)
    }
  }
}
