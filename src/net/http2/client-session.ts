import http2, { type ClientHttp2Session, type ClientHttp2Stream, type ClientSessionRequestOptions } from 'node:http2'
import type { Socket } from 'node:net'
import { clock } from '#base/clock.ts'
import { MAX_SENT_HEAD_BYTES, RESPONSE_LIMITS } from '../limits.ts'
import { type TimerWheel, WheelTimer } from '../timer-wheel.ts'
import { askForLife } from './ask-for-life.ts'
import type { Carried, Carrier } from './carrier.ts'
import type { ClientExchange } from './client-exchange.ts'

/** Assumed stream limit until the server announces one (RFC 9113, 6.5.2 recommends no less). */
export const ASSUMED_STREAMS = 100

/** How much a server may send ahead of a slow receiver: on one stream, and on all of a connection. */
const STREAM_WINDOW = 262_144
const CONNECTION_WINDOW = 1_048_576

/** Megabytes that a session may hold; Node's own 10 are less than the windows of its streams. */
const MAX_SESSION_MEMORY = 128

/** A server not heard of for so long is asked for a sign of life with the next request. */
const SILENCE_MS = 15_000
const PING_TIMEOUT_MS = 10_000

const OPTIONS = {
  peerMaxConcurrentStreams: ASSUMED_STREAMS,
  maxSessionMemory: MAX_SESSION_MEMORY,
  maxHeaderListPairs: RESPONSE_LIMITS.maxHeaders + 1,
  // A duplicate field is forwarded as received, as over HTTP/1.
  strictSingleValueFields: false,
  settings: { enablePush: false, initialWindowSize: STREAM_WINDOW, maxHeaderListSize: RESPONSE_LIMITS.maxHeadBytes },
}

/** The interface of the group for its sessions. */
export interface SessionOwner {
  readonly wheel: TimerWheel
  readonly idleTimeoutMs: number
  /** A stream has ended: there is room for another request. */
  roomIn(session: ClientSession): void
  /** It takes no further requests. Called once. */
  gone(session: ClientSession): void
}

/** One upstream HTTP/2 connection: carries as many exchanges at a time as the server allows. */
export class ClientSession implements Carrier {
  /** The largest request head that the server takes, as RFC 9113, 6.5.2 counts it. */
  maxHeadBytes = MAX_SENT_HEAD_BYTES
  reused = false
  ended = false
  readonly #owner: SessionOwner
  readonly #session: ClientHttp2Session
  readonly #socket: Socket
  readonly #idle: WheelTimer = new WheelTimer(() => this.drain())
  readonly #pong: WheelTimer = new WheelTimer(() => this.#giveUp())
  /** While the last requests are in hand. */
  readonly #watch: WheelTimer = new WheelTimer(() => this.#lookAfter())
  /** The requests in hand. */
  readonly #exchanges = new Set<Carried>()
  #limit = ASSUMED_STREAMS
  #draining = false
  #pinging = false
  /** The server has begun, with the SETTINGS that its side of HTTP/2 begins with (RFC 9113, 3.4). */
  #begun = false
  #heardMs = clock.monotonic()
  /** The last stream that the server will have processed, by its GOAWAY. */
  #lastStreamId = Number.POSITIVE_INFINITY

  constructor(socket: Socket, owner: SessionOwner) {
    this.#owner = owner
    this.#socket = socket
    this.#session = http2.connect('http://upstream', { ...OPTIONS, createConnection: () => socket })
    this.#session.on('connect', () => this.#session.setLocalWindowSize(CONNECTION_WINDOW))
    this.#session.on('remoteSettings', ({ maxConcurrentStreams, maxHeaderListSize = MAX_SENT_HEAD_BYTES }) => {
      this.maxHeadBytes = Math.min(MAX_SENT_HEAD_BYTES, maxHeaderListSize)
      this.#begun = true
      this.#limit = maxConcurrentStreams ?? Number.POSITIVE_INFINITY
      if (this.#exchanges.size > this.#limit) this.#recallUnsent()
      if (this.hasRoom) owner.roomIn(this)
    })
    this.#session.on('goaway', (_, lastStreamId) => {
      this.#lastStreamId = lastStreamId
      this.#windDown()
    })
    // 'close' follows every error and says all that is needed.
    this.#session.on('error', () => {})
    // The socket's 'close' is known before the streams' own.
    socket.on('close', () => this.#lost())
    this.#session.on('close', () => this.#lost())
    this.#armIdle()
  }

  /** One more request can be sent now. */
  get hasRoom(): boolean {
    return !this.#draining && this.#exchanges.size < this.#limit && !this.#session.destroyed
  }

  /** The server allows no requests at all, for now. */
  get isShut(): boolean {
    return this.#limit === 0
  }

  get isForeign(): boolean {
    return !this.#begun && this.#session.destroyed && this.#socket.bytesRead > 0
  }

  leftAlone(streamId: number | undefined): boolean {
    return streamId === undefined || streamId > this.#lastStreamId
  }

  carry(exchange: ClientExchange): void {
    this.#exchanges.add(exchange)
    this.#owner.wheel.disarm(this.#idle)
    if (clock.monotonic() - this.#heardMs > SILENCE_MS) this.suspect()
    exchange.start(this)
  }

  open(fields: readonly string[], options: ClientSessionRequestOptions): ClientHttp2Stream {
    return this.#session.request(fields, options)
  }

  leave(exchange: Carried): void {
    this.reused = true
    this.#heardMs = clock.monotonic()
    this.#exchanges.delete(exchange)
    if (this.#exchanges.size === 0) this.#armIdle()
    if (this.hasRoom) this.#owner.roomIn(this)
  }

  suspect(): void {
    if (this.#pinging || this.#session.destroyed) return
    this.#pinging = true
    this.#owner.wheel.arm(this.#pong, PING_TIMEOUT_MS)
    askForLife(this.#session, () => {
      this.#pinging = false
      this.#owner.wheel.disarm(this.#pong)
      this.#heardMs = clock.monotonic()
    })
  }

  /** Takes no further requests and ends with those it has. */
  drain(): void {
    this.#windDown()
    this.#session.close()
  }

  /** What exceeds the limit of the server is held back by the runtime, where it would wait until there is room. */
  #recallUnsent(): void {
    for (const exchange of [...this.#exchanges]) exchange.recall()
  }

  #windDown(): void {
    this.#retire()
    if (this.#exchanges.size > 0) this.#owner.wheel.arm(this.#watch, SILENCE_MS)
  }

  #lookAfter(): void {
    if (this.#exchanges.size === 0) return
    this.suspect()
    this.#owner.wheel.arm(this.#watch, SILENCE_MS)
  }

  #giveUp(): void {
    this.#lost()
    this.#session.destroy()
  }

  #lost(): void {
    this.ended = true
    this.#retire()
    this.#owner.wheel.remove(this.#pong)
    this.#owner.wheel.remove(this.#watch)
  }

  #armIdle(): void {
    if (!this.#draining) this.#owner.wheel.arm(this.#idle, this.#owner.idleTimeoutMs)
  }

  #retire(): void {
    if (this.#draining) return
    this.#draining = true
    this.#owner.wheel.remove(this.#idle)
    this.#owner.gone(this)
  }
}
