import type net from 'node:net'
import { clock } from '#base/clock.ts'
import type { Peer } from '../peer.ts'
import { DRAIN_GRACE_MS, type ServedConnection } from '../served-connection.ts'
import { type TimerWheel, WheelTimer } from '../timer-wheel.ts'
import { findClientHello } from './client-hello.ts'
import type { ConnectionRefusal } from './connection-refusal.ts'
import type { ListenTls, TlsTermination, Traffic } from './listen-tls.ts'
import { findProxyHeader, type ProxyHeaderSettings } from './proxy-header.ts'
import { readAhead } from './read-ahead.ts'
import { terminateTls } from './terminate-tls.ts'

/** Settings of an incoming connection, as of the time when it was accepted. */
export interface ArrivalSettings {
  /** Undefined: no PROXY header is expected. */
  readonly proxyHeader: ProxyHeaderSettings | undefined
  readonly handshakeTimeoutMs: number
  /** Call `admit` after the TLS handshake, because it uses the client certificate. */
  readonly admitsLate: boolean
  readonly wheel: TimerWheel
  admit(peer: Peer): boolean
  refused(peer: Peer, why: ConnectionRefusal): void
  secured(peer: Peer, durationMs: number, carries: TlsTermination['carries']): void
  /** The connection was accepted or closed. Called once, before any function of `Destinations`. */
  over(arrival: Arrival): void
}

/** Servers of accepted connections. Their sockets are paused, and bytes that were read ahead are put back. */
export interface Destinations {
  http(socket: net.Socket, peer: Peer, alpnProtocol: string | undefined): void
  bytes(socket: net.Socket, peer: Peer): void
}

const PROXY_HEADER_TIMEOUT_MS = 5000

/** An unrecognized_name alert, fatal (RFC 6066, 3). */
const UNRECOGNIZED_NAME = Buffer.from([21, 3, 3, 0, 2, 2, 112])

/** A handshake_failure alert, fatal (RFC 8446, 6.2). */
const HANDSHAKE_FAILURE = Buffer.from([21, 3, 3, 0, 2, 2, 40])

/**
 * An incoming connection: PROXY header, admission, TLS, then the protocol handler. An error closes it before any byte of the
 * protocol is sent.
 */
export class Arrival implements ServedConnection {
  readonly #socket: net.Socket
  readonly #settings: ArrivalSettings
  readonly #destinations: Destinations
  readonly #timer: WheelTimer
  readonly #grace: WheelTimer = new WheelTimer(() => this.abort())
  #peer: Peer
  #timeUp: () => void = ignore
  #over = false

  /** `socket` is paused. */
  constructor(socket: net.Socket, peer: Peer, settings: ArrivalSettings, destinations: Destinations) {
    this.#socket = socket
    this.#peer = peer
    this.#settings = settings
    this.#destinations = destinations
    this.#timer = new WheelTimer(() => this.#timeUp())
    socket.on('error', ignore).on('close', this.#gone)
  }

  begin(traffic: Traffic): void {
    this.#readProxyHeader(() => {
      if (!this.#settings.admitsLate && !this.#admits()) return
      if (typeof traffic === 'string') this.#enter(this.#socket, traffic)
      else this.#readClientHello(traffic)
    })
  }

  /** The connection has not been used yet. */
  discourageReuse(): void {}

  /** Its client may be about to send a request. */
  drain(): void {
    this.#settings.wheel.arm(this.#grace, DRAIN_GRACE_MS)
  }

  abort(): void {
    this.#finish()
    this.#socket.destroy()
  }

  #readProxyHeader(next: () => void): void {
    const settings = this.#settings.proxyHeader
    if (settings === undefined) return next()
    const reading = readAhead(
      this.#socket,
      (bytes) => findProxyHeader(bytes, settings),
      (header) => {
        if (header.kind === 'refused') return this.#refuse(header.why)
        if (header.kind === 'announced') {
          this.#peer = { ...this.#peer, remoteAddress: header.address, remotePort: header.port }
        }
        next()
      },
    )
    this.#limit(PROXY_HEADER_TIMEOUT_MS, () => {
      // A client without a header may wait for the server to send first.
      if (reading.stop() === 0 && !settings.required) next()
      else this.#refuse('proxy-header-timeout')
    })
  }

  #admits(): boolean {
    if (this.#settings.admit(this.#peer)) return true
    this.abort()
    return false
  }

  #readClientHello(tls: ListenTls): void {
    this.#limit(this.#settings.handshakeTimeoutMs, () => this.#refuse('handshake-timeout'))
    readAhead(this.#socket, findClientHello, ({ hello, isPlainHttp }) => {
      if (hello === undefined) return this.#refuse(isPlainHttp ? 'plain-http' : 'client-hello-malformed')
      this.#peer = { ...this.#peer, serverName: hello.serverName || undefined }
      const choice = tls.choose(hello)
      if (choice === 'unknown-name') this.#refuse('server-name-unknown', UNRECOGNIZED_NAME)
      else if (choice === 'unknown-name-relayed') this.#refuse('server-name-unknown')
      else if (choice === 'no-certificate') this.#refuse('certificate-missing', HANDSHAKE_FAILURE)
      else if (choice === 'passthrough') this.#enter(this.#socket, 'bytes')
      else this.#shakeHands(choice)
    })
  }

  #shakeHands(choice: TlsTermination): void {
    const startMs = clock.monotonic()
    terminateTls(this.#socket, choice, (result) => {
      if (this.#over) return
      if (typeof result === 'string') return this.#refuse(result)
      const { socket, certificate } = result
      this.#peer = { ...this.#peer, secure: true, certificate }
      this.#settings.secured(this.#peer, clock.monotonic() - startMs, choice.carries)
      this.#enter(socket, choice.carries, socket.alpnProtocol || undefined)
    })
  }

  #enter(socket: net.Socket, carries: TlsTermination['carries'], alpnProtocol?: string): void {
    if (this.#settings.admitsLate && !this.#admits()) return
    this.#socket.off('close', this.#gone)
    this.#finish()
    if (carries === 'bytes') this.#destinations.bytes(socket, this.#peer)
    else this.#destinations.http(socket, this.#peer, alpnProtocol)
  }

  #refuse(why: ConnectionRefusal, lastWords?: Uint8Array): void {
    if (this.#over) return
    this.#settings.refused(this.#peer, why)
    this.#finish()
    if (lastWords === undefined) this.#socket.destroy()
    else this.#socket.end(lastWords, () => this.#socket.destroy())
  }

  readonly #gone = (): void => this.#finish()

  #finish(): void {
    if (this.#over) return
    this.#over = true
    this.#settings.wheel.remove(this.#timer)
    this.#settings.wheel.remove(this.#grace)
    this.#settings.over(this)
  }

  #limit(ms: number, timeUp: () => void): void {
    this.#timeUp = timeUp
    this.#settings.wheel.arm(this.#timer, ms)
  }
}

function ignore(): void {}
