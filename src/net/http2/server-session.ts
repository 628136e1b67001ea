import http2, { constants, type ServerHttp2Session, type ServerHttp2Stream, type Settings } from 'node:http2'
import type net from 'node:net'
import { Allowance } from '#base/allowance.ts'
import { type HeadLimits, MAX_SENT_HEAD_BYTES, type ServerLimits } from '../limits.ts'
import type { Peer } from '../peer.ts'
import type { ServedConnection } from '../served-connection.ts'
import type { StreamHandler } from '../stream.ts'
import { type TimerWheel, WheelTimer } from '../timer-wheel.ts'
import { askForLife } from './ask-for-life.ts'
import { faultOf } from './connection-fault.ts'
import { Http2ServerStream, type StreamOwner } from './server-stream.ts'
import { sessionOptions } from './session-options.ts'

const { NGHTTP2_CANCEL, NGHTTP2_ENHANCE_YOUR_CALM } = constants

/** Settings that a client may change: at once, and in a second. */
const MAX_SETTINGS = 100
const SETTINGS_PER_SECOND = 1

/** Objects of streams that are kept for the next ones besides as many as are at work, and the largest head that they may still hold. */
const MAX_IDLE_SPARE = 8
const MAX_SPARE_HEAD = 2048

/** What a session needs to know of its listener. */
export interface SessionSettings {
  readonly handler: StreamHandler
  readonly limits: ServerLimits
  readonly wheel: TimerWheel
  /** The connection is gone; called once. */
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
  readonly #socket: net.Socket
  readonly #session: ServerHttp2Session
  readonly #resets: Allowance
  readonly #settingsChanges = new Allowance(MAX_SETTINGS, SETTINGS_PER_SECOND)
  /** Objects of streams that are over, for the next ones. */
  readonly #spare: Http2ServerStream[] = []
  readonly #idle: WheelTimer = new WheelTimer(() => this.#idleTooLong())
  readonly #age: WheelTimer = new WheelTimer(() => this.drain())
  readonly #keepalive: WheelTimer = new WheelTimer(() => this.#ping())
  readonly #answer: WheelTimer = new WheelTimer(() => this.#socket.destroy())
  #open = 0
  /** One side has sent GOAWAY. */
  #windingDown = false
  /** An answer to a ping is waited for. */
  #asking = false
  /** It ends now, for the fault of one side. */
  #ending = false

  /** Serves on `socket`, from which nothing was read, or on which `unshift` has put back what was. */
  constructor(socket: net.Socket, peer: Peer, settings: SessionSettings) {
    const { limits } = settings
    this.peer = peer
    this.handler = settings.handler
    this.limits = limits
    this.headLimits = { maxHeadBytes: limits.http2.maxHeaderBytes, maxHeaders: limits.maxHeaders }
    this.wheel = settings.wheel
    this.#socket = socket
    this.#resets = new Allowance(limits.http2.maxResets, limits.http2.resetsPerSecond)
    // The end of the client's direction is the end of the connection: HTTP/2 has no other use for it.
    socket.allowHalfOpen = false
    const session = http2.performServerHandshake(socket, sessionOptions(limits)) as ServerHttp2Session
    this.#session = session
    // The socket was paused when it was accepted.
    socket.read(0)
    session.setLocalWindowSize(limits.http2.connectionWindowBytes)
    session.on('stream', (stream, _headers, _flags, fields) => this.#begin(stream, fields))
    session.on('remoteSettings', (settings) => this.#settingsChanged(settings))
    // A client that says goodbye means to close.
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

  /** A client that is told of the end asks again on another connection. */
  discourageReuse(): void {
    this.drain()
  }

  /**
   * Ends when the requests in hand are answered. The GOAWAY names the last of them: a client may repeat elsewhere what it began
   * later (RFC 9113, 6.8). Node has no way of announcing it first, as a server could that takes what is still on its way.
   */
  drain(): void {
    if (this.#session.destroyed || this.#session.closed) return
    this.#session.close()
    this.#windDown()
  }

  /** Ends now, with whatever is being answered. */
  abort(): void {
    if (this.#session.destroyed) this.#socket.destroy()
    else this.#destroy(NGHTTP2_CANCEL, 'the gateway is shutting down')
  }

  askForLife(): void {
    if (!this.#asking) this.#ping()
  }

  streamClosed(stream: Http2ServerStream, { gaveUp, reusable }: { gaveUp: boolean; reusable: boolean }): void {
    this.#open--
    if (reusable) this.#keep(stream)
    if (gaveUp) this.#takeReset()
    if (this.#open > 0 || this.#socket.destroyed) return
    if (this.#session.closed || this.#session.destroyed) this.#linger()
    else this.wheel.arm(this.#idle, this.limits.idleTimeoutMs)
  }

  /** A connection may be idle for long: it holds on to little of what its requests brought. */
  #keep(stream: Http2ServerStream): void {
    if (this.#open === 0 && this.#spare.length > MAX_IDLE_SPARE) this.#spare.length = MAX_IDLE_SPARE
    if (this.#spare.length <= this.#open + MAX_IDLE_SPARE && stream.head.text.length <= MAX_SPARE_HEAD)
      this.#spare.push(stream)
  }

  #begin(stream: ServerHttp2Stream, fields: readonly string[]): void {
    if (this.#ending || stream.destroyed) return void stream.on('error', ignore)
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
    // The client has begun to speak HTTP/2; from here on it may be idle.
    if (this.#open === 0) this.wheel.arm(this.#idle, this.limits.idleTimeoutMs)
  }

  #idleTooLong(): void {
    if (this.#session.closed || this.#session.destroyed) this.#socket.destroy()
    else this.drain()
  }

  /** No further requests: what is left is to answer those in hand. */
  #windDown(): void {
    this.#windingDown = true
    if (this.#open === 0) this.#linger()
    else this.#pingLater()
  }

  /** Our side has ended; the client has a while to end its own. */
  #linger(): void {
    this.wheel.arm(this.#idle, this.limits.lingerTimeoutMs)
  }

  /** A client that is only answered is asked even where nobody wants pings. */
  #pingLater(): void {
    const { keepaliveIntervalMs, keepaliveTimeoutMs } = this.limits.http2
    const ms = this.#windingDown ? keepaliveTimeoutMs : keepaliveIntervalMs
    if (ms > 0) this.wheel.arm(this.#keepalive, ms)
  }

  /** Asks for a sign of life (decision A-45). */
  #ping(): void {
    if (this.#session.destroyed) return
    this.#asking = true
    this.wheel.arm(this.#answer, this.limits.http2.keepaliveTimeoutMs)
    askForLife(this.#session, () => {
      this.#asking = false
      this.wheel.disarm(this.#answer)
      if (!this.#socket.destroyed) this.#pingLater()
    })
  }

  /** node:http2 has ended the connection, and says why. */
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
    // From within node:http2, which may be sending, the last words would be lost.
    setImmediate(() => this.#session.destroy(new Error(why), code))
  }

  #forget(): void {
    for (const timer of [this.#idle, this.#age, this.#keepalive, this.#answer]) this.wheel.remove(timer)
  }
}

/** 'close' follows every error and says all that is needed. */
function ignore(): void {}
