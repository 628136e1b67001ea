import http2, { constants, type ServerHttp2Session, type ServerHttp2Stream, type Settings } from 'node:http2'
import { Allowance } from '#base/allowance.ts'
import { type HeadLimits, MAX_SENT_HEAD_BYTES, type ServerLimits } from '../limits.ts'
import { endWithSocket } from '../node-http2/end-with-socket.ts'
import { freeInOrder } from '../node-http2/free-in-order.ts'
import { sendKeepalive } from '../node-http2/send-keepalive.ts'
import type { Peer } from '../peer.ts'
import type { ServedConnection } from '../served-connection.ts'
import type { StreamHandler } from '../stream.ts'
import { type TimerWheel, WheelTimer } from '../timer-wheel.ts'
import type { ConnectedSocket } from '../transport/connected-socket.ts'
import { faultOf } from './connection-fault.ts'
import { Http2ServerStream, type StreamOwner } from './server-stream.ts'
import { sessionOptions } from './session-options.ts'

const { NGHTTP2_CANCEL, NGHTTP2_ENHANCE_YOUR_CALM } = constants

/** Rate limit of settings that a client may change: burst, and per second. */
const MAX_SETTINGS = 100
const SETTINGS_PER_SECOND = 1

/** Number of idle stream objects kept for reuse, and the size of the largest head that they may keep. */
const MAX_IDLE_SPARE = 8
const MAX_SPARE_HEAD = 2048

/** Settings from the listener. */
export interface SessionSettings {
  readonly handler: StreamHandler
  readonly limits: ServerLimits
  readonly wheel: TimerWheel
  /** The connection has closed; called once. */
  readonly onClosed: (session: ServedConnection) => void
}

/** An accepted HTTP/2 connection (RFC 9113). */
export class ServerSession implements ServedConnection, StreamOwner {
  readonly peer: Peer
  readonly handler: StreamHandler
  readonly limits: ServerLimits
  readonly headLimits: HeadLimits
  readonly wheel: TimerWheel
  maxSentHeadBytes = MAX_SENT_HEAD_BYTES
  readonly #socket: ConnectedSocket
  readonly #session: ServerHttp2Session
  readonly #resets: Allowance
  readonly #settingsChanges = new Allowance(MAX_SETTINGS, SETTINGS_PER_SECOND)
  /** Stream objects for reuse. */
  readonly #spare: Http2ServerStream[] = []
  readonly #idle: WheelTimer = new WheelTimer(() => this.#idleTooLong())
  readonly #age: WheelTimer = new WheelTimer(() => this.drain())
  readonly #keepalive: WheelTimer = new WheelTimer(() => this.#ping())
  readonly #answer: WheelTimer = new WheelTimer(() => this.#socket.destroy())
  #open = 0
  /** One side has sent GOAWAY. */
  #windingDown = false
  /** The reply to a PING is pending. */
  #pinging = false
  /** The session is being closed because of a fault. */
  #ending = false

  /** @param socket a socket from which nothing was read, or whose bytes were put back by `unshift` */
  constructor(socket: ConnectedSocket, peer: Peer, settings: SessionSettings) {
    const { limits } = settings
    this.peer = peer
    this.handler = settings.handler
    this.limits = limits
    this.headLimits = { maxHeadBytes: limits.http2.maxHeaderBytes, maxHeaders: limits.maxHeaders }
    this.wheel = settings.wheel
    this.#socket = socket
    this.#resets = new Allowance(limits.http2.maxResets, limits.http2.resetsPerSecond)
    // HTTP/2 has no half-closed connections.
    socket.allowHalfOpen = false
    const options = sessionOptions(limits)
    const session = endWithSocket(socket, () => http2.performServerHandshake(socket, options) as ServerHttp2Session)
    this.#session = session
    // The socket was paused when it was accepted.
    socket.read(0)
    session.setLocalWindowSize(limits.http2.connectionWindowBytes)
    session.on('stream', (stream, _headers, _flags, fields) => this.#begin(stream, fields))
    session.on('remoteSettings', (settings) => this.#settingsChanged(settings))
    // A client that sends GOAWAY is about to close.
    session.on('goaway', () => this.#windDown())
    session.on('error', (error) => this.#failed(error))
    session.on('close', () => {
      this.#forget()
      settings.onClosed(this)
    })
    this.wheel.arm(this.#idle, limits.headTimeoutMs)
    if (limits.maxConnectionMs > 0) this.wheel.arm(this.#age, limits.maxConnectionMs)
    this.#pingLater()
  }

  /** Sends GOAWAY, so that the client uses another connection. */
  discourageReuse(): void {
    this.drain()
  }

  /**
   * Closes after the requests in flight. The GOAWAY contains the last of their streams; a client can repeat later requests on another
   * connection (RFC 9113, 6.8). Node does not support the graceful variant with a first GOAWAY that still admits requests.
   */
  drain(): void {
    if (this.#session.destroyed || this.#session.closed) return
    this.#session.close()
    this.#windDown()
  }

  /** Closes now, with all requests. */
  abort(): void {
    if (this.#session.destroyed) this.#socket.destroy()
    else this.#destroy(NGHTTP2_CANCEL, 'the gateway is shutting down')
  }

  sendKeepalive(): void {
    if (!this.#pinging) this.#ping()
  }

  streamClosed(stream: Http2ServerStream, { gaveUp, reusable }: { gaveUp: boolean; reusable: boolean }): void {
    this.#open--
    if (reusable) this.#keep(stream)
    if (gaveUp) this.#takeReset()
    if (this.#open > 0 || this.#socket.destroyed) return
    if (this.#session.closed || this.#session.destroyed) this.#linger()
    else this.wheel.arm(this.#idle, this.limits.idleTimeoutMs)
  }

  /** Keeps a stream object for reuse. A connection may be idle for long, so it keeps few and small objects. */
  #keep(stream: Http2ServerStream): void {
    if (this.#open === 0 && this.#spare.length > MAX_IDLE_SPARE) this.#spare.length = MAX_IDLE_SPARE
    if (this.#spare.length <= this.#open + MAX_IDLE_SPARE && stream.head.text.length <= MAX_SPARE_HEAD)
      this.#spare.push(stream)
  }

  #begin(stream: ServerHttp2Stream, fields: readonly string[]): void {
    if (this.#ending || stream.destroyed) return void stream.on('error', ignore)
    // Nothing can follow the head of most requests.
    if (!stream.endAfterHeaders) freeInOrder(stream, this.#session)
    this.#open++
    this.wheel.disarm(this.#idle)
    const served = this.#spare.pop() ?? new Http2ServerStream(this)
    served.begin(stream, fields)
  }

  #takeReset(): void {
    if (!this.#resets.take()) this.#refuseFlood('too many streams were reset')
  }

  #settingsChanged({ maxHeaderListSize = MAX_SENT_HEAD_BYTES }: Settings): void {
    this.maxSentHeadBytes = Math.min(MAX_SENT_HEAD_BYTES, maxHeaderListSize)
    if (!this.#settingsChanges.take()) return this.#refuseFlood('too many SETTINGS frames')
    // The client has started HTTP/2; from now on the idle timeout applies.
    if (this.#open === 0) this.wheel.arm(this.#idle, this.limits.idleTimeoutMs)
  }

  #idleTooLong(): void {
    if (this.#session.closed || this.#session.destroyed) this.#socket.destroy()
    else this.drain()
  }

  /** Accepts no further requests. */
  #windDown(): void {
    this.#windingDown = true
    if (this.#open === 0) this.#linger()
    else this.#pingLater()
  }

  /** This side has ended; the client has limited time to end its side. */
  #linger(): void {
    this.wheel.arm(this.#idle, this.limits.lingerTimeoutMs)
  }

  /** A client whose requests are only being finished is pinged even if PINGs are off. */
  #pingLater(): void {
    const { keepaliveIntervalMs, keepaliveTimeoutMs } = this.limits.http2
    const ms = this.#windingDown ? keepaliveTimeoutMs : keepaliveIntervalMs
    if (ms > 0) this.wheel.arm(this.#keepalive, ms)
  }

  /** Sends a PING. */
  #ping(): void {
    if (this.#session.destroyed) return
    this.#pinging = true
    this.wheel.arm(this.#answer, this.limits.http2.keepaliveTimeoutMs)
    sendKeepalive(this.#session, () => {
      this.#pinging = false
      this.wheel.disarm(this.#answer)
      if (!this.#socket.destroyed) this.#pingLater()
    })
  }

  /** node:http2 has closed the connection. @param error the reason */
  #failed(error: Error): void {
    const fault = faultOf(error)
    if (fault === undefined || this.#ending) return
    this.#ending = true
    this.handler.broken(this.peer, fault, error.message)
  }

  #refuseFlood(why: string): void {
    if (this.#ending) return
    this.handler.broken(this.peer, 'http2-flood', why)
    this.#destroy(NGHTTP2_ENHANCE_YOUR_CALM, why)
  }

  #destroy(code: number, why: string): void {
    if (this.#ending) return
    this.#ending = true
    this.#linger()
    // Inside a callback of node:http2, which may be sending, the GOAWAY would be lost.
    setImmediate(() => this.#session.destroy(new Error(why), code))
  }

  #forget(): void {
    for (const timer of [this.#idle, this.#age, this.#keepalive, this.#answer]) this.wheel.remove(timer)
  }
}

/** For 'error': 'close' follows every error and is handled instead. */
function ignore(): void {}
