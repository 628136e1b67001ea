import http2, { type ClientHttp2Session, type ClientHttp2Stream, type ClientSessionRequestOptions } from 'node:http2'
import { clock } from '#base/clock.ts'
import { LinkedList } from '#base/linked-list.ts'
import { MAX_SENT_HEAD_BYTES, RESPONSE_LIMITS } from '../limits.ts'
import { type TimerWheel, WheelTimer } from '../timer-wheel.ts'
import type { ConnectedSocket } from '../transport/connected-socket.ts'
import type { Carried, Carrier } from './carrier.ts'
import { endWithSocket } from './end-with-socket.ts'
import { freeInOrder } from './free-in-order.ts'
import { sendKeepalive } from './send-keepalive.ts'

/** Assumed stream limit of a server that has never announced one (RFC 9113, 6.5.2 recommends no less). */
export const ASSUMED_STREAMS = 100

/** Flow-control windows for the server: of one stream, and of a connection. */
const STREAM_WINDOW = 262_144
const CONNECTION_WINDOW = 1_048_576

/** Memory limit of a session in megabytes; Node's default of 10 is less than the windows of its streams. */
const MAX_SESSION_MEMORY = 128

/** After this silence of the server, the next request also sends a PING. */
const SILENCE_MS = 15_000
const PING_TIMEOUT_MS = 10_000

/** Time that the server has to close its side, when nothing is in flight. */
const LINGER_MS = 1000

const OPTIONS = {
  peerMaxConcurrentStreams: ASSUMED_STREAMS,
  maxSessionMemory: MAX_SESSION_MEMORY,
  maxHeaderListPairs: RESPONSE_LIMITS.maxHeaders + 1,
  // Duplicate fields are forwarded as received, as over HTTP/1.
  strictSingleValueFields: false,
  settings: { enablePush: false, initialWindowSize: STREAM_WINDOW, maxHeaderListSize: RESPONSE_LIMITS.maxHeadBytes },
}

/** The connection group of a session. */
export interface SessionOwner {
  readonly wheel: TimerWheel
  readonly idleTimeoutMs: number
  /** Interval of PINGs while requests are in flight; undefined: none. */
  readonly pingMs: number | undefined
  /** Stream limit until the server announces one. */
  readonly assumedStreams: number
  /** The server has announced its stream limit. */
  limited(streams: number): void
  /** Nothing is in flight on the session. */
  rests(session: ClientSession): void
  /** A stream has ended: there is room for another request. */
  roomIn(session: ClientSession): void
  /** The session accepts no further requests. Called once. */
  gone(session: ClientSession): void
}

/** An HTTP/2 connection to a server: carries as many concurrent exchanges as the server allows. */
export class ClientSession implements Carrier {
  /** The largest request head that the server accepts, in the size of RFC 9113, 6.5.2. */
  maxHeadBytes = MAX_SENT_HEAD_BYTES
  reused = false
  ended = false
  readonly #owner: SessionOwner
  readonly #session: ClientHttp2Session
  readonly #socket: ConnectedSocket
  readonly #idle: WheelTimer = new WheelTimer(() => this.drain())
  readonly #pong: WheelTimer = new WheelTimer(() => this.destroy())
  /** Checks a draining session regularly. */
  readonly #watch: WheelTimer = new WheelTimer(() => this.#lookAfter())
  readonly #ping: WheelTimer = new WheelTimer(() => this.#pingInFlight())
  /** The requests in flight. */
  readonly #exchanges = new LinkedList<Carried>()
  #limit: number
  #draining = false
  #pinging = false
  /** The server has sent its initial SETTINGS (RFC 9113, 3.4). */
  #begun = false
  #settled: ((speaks: boolean) => void) | undefined
  #heardMs = clock.monotonic()
  /** The last stream that the server may process, from its GOAWAY. */
  #lastStreamId = Number.POSITIVE_INFINITY

  constructor(socket: ConnectedSocket, owner: SessionOwner, settled?: (speaks: boolean) => void) {
    this.#owner = owner
    this.#settled = settled
    this.#socket = socket
    this.#limit = owner.assumedStreams
    const options = { ...OPTIONS, createConnection: () => socket }
    this.#session = endWithSocket(socket, () => http2.connect('http://upstream', options))
    this.#session.on('connect', () => this.#session.setLocalWindowSize(CONNECTION_WINDOW))
    this.#session.on('remoteSettings', ({ maxConcurrentStreams, maxHeaderListSize = MAX_SENT_HEAD_BYTES }) => {
      this.maxHeadBytes = Math.min(MAX_SENT_HEAD_BYTES, maxHeaderListSize)
      this.#begun = true
      this.#limit = maxConcurrentStreams ?? Number.POSITIVE_INFINITY
      owner.limited(this.#limit)
      if (this.#exchanges.size > this.#limit) this.#recallUnsent()
      this.#settle(true)
      if (this.hasRoom) owner.roomIn(this)
    })
    this.#session.on('goaway', (_, lastStreamId) => {
      this.#lastStreamId = lastStreamId
      this.#windDown()
    })
    // 'close' follows every error and is handled instead.
    this.#session.on('error', () => {})
    // The socket emits 'close' before its streams do.
    socket.on('close', () => this.#lost())
    this.#session.on('close', () => this.#lost())
    this.#rest()
  }

  /** Whether another request can be sent now. */
  get hasRoom(): boolean {
    return !this.#draining && this.#exchanges.size < this.#limit && !this.#session.destroyed
  }

  /** Whether the stream limit of the server is currently 0. */
  get isShut(): boolean {
    return this.#limit === 0
  }

  get begun(): boolean {
    return this.#begun
  }

  get isForeign(): boolean {
    return !this.#begun && this.#session.destroyed && this.#socket.bytesRead > 0
  }

  leftAlone(streamId: number | undefined): boolean {
    return streamId === undefined || streamId > this.#lastStreamId
  }

  /** Assigns `exchange`. Throws if the runtime rejects its head. */
  carry(exchange: Carried): void {
    this.#exchanges.add(exchange)
    this.#owner.wheel.disarm(this.#idle)
    if (this.#exchanges.size === 1) this.#pingLater()
    if (clock.monotonic() - this.#heardMs > SILENCE_MS) this.suspect()
    exchange.start(this)
  }

  open(fields: readonly string[], options: ClientSessionRequestOptions): ClientHttp2Stream {
    const stream = this.#session.request(fields, options)
    freeInOrder(stream, this.#session)
    return stream
  }

  leave(exchange: Carried): void {
    this.reused = true
    this.#heardMs = clock.monotonic()
    this.#exchanges.delete(exchange)
    if (this.#exchanges.size === 0) this.#rest()
    if (this.hasRoom) this.#owner.roomIn(this)
  }

  suspect(): void {
    if (this.#pinging || this.#session.destroyed) return
    this.#pinging = true
    this.#owner.wheel.arm(this.#pong, PING_TIMEOUT_MS)
    sendKeepalive(this.#session, () => {
      this.#pinging = false
      this.#owner.wheel.disarm(this.#pong)
      this.#heardMs = clock.monotonic()
    })
  }

  #pingLater(): void {
    const { pingMs, wheel } = this.#owner
    if (pingMs !== undefined) wheel.arm(this.#ping, pingMs)
  }

  #pingInFlight(): void {
    if (this.#exchanges.size === 0 || this.ended) return
    this.suspect()
    this.#pingLater()
  }

  /** Accepts no further requests and closes after those in flight. */
  drain(): void {
    this.#windDown()
    this.#session.close()
  }

  /** Recalls requests beyond the stream limit of the server, which the runtime would hold back until there is room. */
  #recallUnsent(): void {
    for (const exchange of this.#exchanges.items) exchange.recall()
  }

  #windDown(): void {
    this.#retire()
    this.#owner.wheel.arm(this.#watch, this.#exchanges.size === 0 ? LINGER_MS : SILENCE_MS)
  }

  #lookAfter(): void {
    if (this.#exchanges.size === 0) return this.destroy()
    this.suspect()
    this.#owner.wheel.arm(this.#watch, SILENCE_MS)
  }

  /** Closes the connection now; the streams in flight fail. */
  destroy(): void {
    this.#lost()
    this.#session.destroy()
    // The runtime only ends our side of the connection if `close` was called before. It destroys the streams in the same turn.
    setImmediate(() => this.#socket.destroy())
  }

  #settle(speaks: boolean): void {
    const settled = this.#settled
    this.#settled = undefined
    settled?.(speaks)
  }

  #lost(): void {
    this.ended = true
    this.#retire()
    this.#settle(false)
    this.#owner.wheel.remove(this.#ping)
    this.#owner.wheel.remove(this.#pong)
    this.#owner.wheel.remove(this.#watch)
  }

  /** Nothing is in flight. */
  #rest(): void {
    if (this.#draining) {
      if (!this.ended) this.#owner.wheel.arm(this.#watch, LINGER_MS)
      return
    }
    this.#owner.wheel.arm(this.#idle, this.#owner.idleTimeoutMs)
    this.#owner.rests(this)
  }

  #retire(): void {
    if (this.#draining) return
    this.#draining = true
    this.#owner.wheel.remove(this.#idle)
    this.#owner.gone(this)
  }
}
