import { constants } from 'node:crypto'
import net from 'node:net'
import tls from 'node:tls'
import { connectFailure } from '../connect-failure.ts'
import type { Destination, DestinationTls, TcpKeepalive } from '../destination.ts'
import type { ConnectFailure } from '../failure.ts'
import { type TimerWheel, WheelTimer } from '../timer-wheel.ts'
import type { ConnectedSocket } from '../transport/connected-socket.ts'
import { checkSubjectAltNames } from './check-subject-alt-names.ts'
import type { Names, NameUse } from './names.ts'
import { applySystemAuthorities } from './system-authorities.ts'

export interface DialOptions {
  readonly wheel: TimerWheel
  readonly names: Names
  /** How plain sockets are read. */
  readonly onread?: net.OnReadOpts
  /** Keep the sending direction open after the server has ended its own. */
  readonly halfOpen?: boolean
  /** Why an address must not be dialled; undefined: it may be. */
  readonly refuse?: ((address: string, port: number) => string | undefined) | undefined
  /** Called once, when the connection has closed or could not be opened. */
  gone?(): void
  /**
   * Called once with the connected socket (a `TLSSocket` if the destination uses TLS, otherwise possibly a tunnel) or with the failure.
   * @param use the name that was resolved; released when the connection closes, or earlier by the owner
   */
  done(socket: ConnectedSocket | null, failure: ConnectFailure | null, use: NameUse | undefined): void
}

/** The state that connections to one destination share. */
export interface DialContext {
  /** Undefined: no TLS; null: the key material cannot be used. */
  readonly secureContext: tls.SecureContext | null | undefined
  /** The TLS session that the next connection can resume. */
  session: Buffer | undefined
}

/** A connection that is being opened. */
export interface Dialling {
  /** Gives it up; `done` is not called. */
  cancel(): void
}

/** By destination, whose object the plan keeps while it is unchanged. */
const contexts = new WeakMap<Destination, DialContext>()

/** The context of a destination without a pool. */
export function contextOf(destination: Destination): DialContext {
  let context = contexts.get(destination)
  if (context === undefined) {
    context = dialContext(destination)
    contexts.set(destination, context)
  }
  return context
}

/** Creates the parts of a destination that are expensive and used by every connection. */
export function dialContext({ tls: settings }: Destination): DialContext {
  return { secureContext: settings === undefined ? undefined : secureContextOf(settings), session: undefined }
}

function secureContextOf({ ca, cert, key, groups, verify }: DestinationTls): tls.SecureContext | null {
  if (ca === undefined && verify !== 'none') applySystemAuthorities()
  const parameters = {
    ca,
    cert,
    key,
    minVersion: 'TLSv1.2',
    // A TLS 1.2 server can request any number of handshakes.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    ...(groups === undefined ? {} : { ecdhCurve: groups }),
  } as const
  try {
    return tls.createSecureContext(parameters)
  } catch {
    return null
  }
}

type HandshakeOptions = tls.ConnectionOptions & Pick<net.SocketConstructorOpts, 'allowHalfOpen'>

/** Options of the TLS handshake with a destination, which has TLS settings. */
export function handshakeOptions(
  { host, tls: settings }: Destination,
  { secureContext, session }: DialContext,
  allowHalfOpen: boolean,
): HandshakeOptions {
  const { serverName = host, verify, alpn, subjectAltNames } = settings!
  const isAddress = net.isIP(serverName) !== 0
  // Without a server name, Node verifies the name of the socket below, which in a tunnel is that of the proxy server.
  const accepted = subjectAltNames ?? (isAddress ? [serverName] : undefined)
  const options: HandshakeOptions = {
    // An address cannot be sent (RFC 6066, 3).
    servername: isAddress ? '' : serverName,
    rejectUnauthorized: verify !== 'none',
    allowHalfOpen,
    ...(alpn === undefined ? {} : { ALPNProtocols: [...alpn] }),
  }
  if (secureContext) options.secureContext = secureContext
  if (session !== undefined) options.session = session
  if (verify === 'chain-only') options.checkServerIdentity = () => undefined
  else if (accepted !== undefined) {
    options.checkServerIdentity = (_, certificate) => checkSubjectAltNames(accepted, certificate)
  }
  return options
}

/** Upstream connections are always probed (decision A-41). */
const DEFAULT_KEEPALIVE: TcpKeepalive = { timeMs: 180_000, intervalMs: 180_000, retries: 9 }

/** Key material that OpenSSL refuses fails the connection, and settings are never weakened (decision A-108). */
export const UNUSABLE: ConnectFailure = {
  code: 'tls-settings-unusable',
  detail: 'the configured certificates or keys cannot be used',
}

/** Time limit for one address to complete TLS while others are left. */
const MAX_ATTEMPT_MS = 3000
/** The next address is tried beside one that has not responded for so long (RFC 8305, 5). */
const ATTEMPT_DELAY_MS = 200

/**
 * Opens a connection: resolves the host, tries its addresses in turn, and performs the TLS handshake, all within
 * `connectTimeoutMs` (decision A-107). An address that does not respond delays the next one only briefly; the first that accepts wins (RFC
 * 8305, 5).
 */
export class Dial implements Dialling {
  readonly #destination: Destination
  readonly #context: DialContext
  readonly #options: DialOptions
  readonly #wheel: TimerWheel
  readonly #total: WheelTimer
  readonly #attempt: WheelTimer
  /** The use of the host name; undefined for an IP address. */
  #use: NameUse | undefined
  /** Addresses of the name so far. */
  #listed: readonly string[] = []
  /** More addresses may follow. */
  #isPartial = false
  /** Addresses that were not tried yet. */
  #addresses: string[] = []
  /** Sockets that are connecting, with their addresses. */
  readonly #sockets = new Map<net.Socket, string>()
  /** The server has accepted this connection; the TLS handshake is not complete. */
  #accepted: net.Socket | undefined
  /** The failure of the last address. */
  #lastFailure: ConnectFailure | undefined
  #over = false

  constructor(destination: Destination, context: DialContext, options: DialOptions) {
    const { wheel } = options
    this.#destination = destination
    this.#context = context
    this.#options = options
    this.#wheel = wheel
    this.#total = new WheelTimer(() => this.#expire())
    this.#attempt = new WheelTimer(() => this.#goOn())
    wheel.arm(this.#total, destination.connectTimeoutMs)
    if (context.secureContext === null) this.#failLater(UNUSABLE)
    else this.#resolve()
  }

  /** Cancels the dial; `done` is not called. */
  cancel(): void {
    if (this.#over) return
    this.#over = true
    this.#stop()
    this.#gone()
  }

  #resolve(): void {
    const { host, unixPath } = this.#destination
    if (unixPath !== undefined) return this.#connect(host)
    if (net.isIP(host) !== 0) return this.#tryAll([host])
    this.#use = this.#options.names.use(host)
    this.#use.resolve((addresses, failure, isLast) => {
      if (this.#over) return
      if (addresses === null) return this.#failLater(failure!)
      this.#isPartial = !isLast
      this.#tryAll(addresses)
    })
  }

  /** Tries the addresses that were not listed before. */
  #tryAll(addresses: readonly string[]): void {
    const { refuse } = this.#options
    for (const address of addresses) {
      if (this.#listed.includes(address)) continue
      const detail = refuse?.(address, this.#destination.port)
      if (detail === undefined) this.#addresses.push(address)
      else this.#lastFailure ??= { code: 'address-not-allowed', detail }
    }
    this.#listed = addresses
    if (this.#sockets.size > 0) return this.#armAttempt()
    if (this.#addresses.length > 0) this.#tryNext()
    else if (!this.#isPartial) this.#failLater(this.#lastFailure!)
  }

  /** The caller must have its `Dial` before it hears of the failure. */
  #failLater(failure: ConnectFailure): void {
    process.nextTick(() => this.#finish(null, failure))
  }

  /** Tries the next address, beside those that are being tried. */
  #tryNext(): void {
    const address = this.#addresses.shift()
    if (address === undefined) {
      if (this.#sockets.size === 0 && !this.#isPartial) this.#finish(null, this.#lastFailure!)
      return
    }
    this.#armAttempt()
    this.#connect(address)
  }

  /** Limits the time until the next address is tried, if there is one. */
  #armAttempt(): void {
    const left = this.#addresses.length
    if (left === 0) return this.#wheel.disarm(this.#attempt)
    const share = this.#destination.connectTimeoutMs / (left + 1)
    const delay = this.#accepted === undefined ? ATTEMPT_DELAY_MS : Math.min(MAX_ATTEMPT_MS, share)
    this.#wheel.arm(this.#attempt, delay)
  }

  #connect(address: string): void {
    if (this.#destination.tls === undefined) this.#connectPlain(address)
    else this.#connectTls(address)
  }

  #connectPlain(address: string): void {
    const { port, unixPath } = this.#destination
    const { onread, halfOpen = false } = this.#options
    const place = unixPath === undefined ? { host: address, port } : { path: unixPath }
    const options = { ...place, noDelay: true, allowHalfOpen: halfOpen, ...(onread === undefined ? {} : { onread }) }
    this.#watch(net.connect(options as net.NetConnectOpts), 'connect', address)
  }

  #connectTls(address: string): void {
    const { port, unixPath } = this.#destination
    const socket = tls.connect({
      ...(unixPath === undefined ? { host: address, port } : { path: unixPath }),
      ...handshakeOptions(this.#destination, this.#context, this.#options.halfOpen ?? false),
    })
    socket.setNoDelay(true)
    // After the handshake, Node emits TLS errors but leaves the socket open.
    socket.on('error', () => socket.destroy())
    keepSession(socket, this.#context)
    this.#watch(socket, 'secureConnect', address)
  }

  #watch(socket: net.Socket, event: 'connect' | 'secureConnect', address: string): void {
    this.#sockets.set(socket, address)
    const { timeMs, intervalMs, retries } = this.#destination.keepalive ?? DEFAULT_KEEPALIVE
    socket.setKeepAlive(true, timeMs, intervalMs, retries)
    const fail = (error: Error) => {
      this.#sockets.delete(socket)
      if (this.#accepted === socket) this.#accepted = undefined
      this.#lastFailure = connectFailure(error, this.#destination.tls !== undefined)
      this.#tryNext()
    }
    socket.once('error', fail)
    if (event === 'secureConnect') socket.once('connect', () => this.#shake(socket))
    socket.once(event, () => {
      socket.off('error', fail)
      this.#sockets.delete(socket)
      this.#use?.chose(address)
      this.#finish(socket, null)
    })
  }

  /** The handshake needs round trips as well: the other addresses are left for its failure, so that servers see one handshake. */
  #shake(socket: net.Socket): void {
    this.#accepted = socket
    for (const [other, address] of this.#sockets) {
      if (other === socket) continue
      this.#drop(other)
      this.#addresses.push(address)
    }
    this.#armAttempt()
  }

  /** Tries the next address, because the others did not respond in time. */
  #goOn(): void {
    if (this.#accepted !== undefined) {
      this.#drop(this.#accepted)
      this.#accepted = undefined
      this.#lastFailure = { code: 'connect-timeout', detail: 'the first addresses of the name did not respond' }
    }
    this.#tryNext()
  }

  #expire(): void {
    this.#finish(null, connectedTooLate(this.#destination.connectTimeoutMs))
  }

  #finish(socket: net.Socket | null, failure: ConnectFailure | null): void {
    if (this.#over) return
    this.#over = true
    this.#stop()
    if (socket === null) this.#gone()
    else whenClosed(socket, this.#use, this.#options.gone)
    this.#options.done(socket, failure, this.#use)
  }

  #gone(): void {
    this.#use?.release()
    this.#options.gone?.()
  }

  /** Releases the timers and all unfinished attempts. */
  #stop(): void {
    this.#wheel.remove(this.#total)
    this.#wheel.remove(this.#attempt)
    for (const socket of this.#sockets.keys()) this.#drop(socket)
  }

  #drop(socket: net.Socket): void {
    this.#sockets.delete(socket)
    socket.removeAllListeners('error')
    socket.on('error', () => {})
    socket.destroy()
  }
}

// What listens to a connected socket must not keep its `Dial` in memory: connections are many, and last.

function whenClosed(socket: net.Socket, use: NameUse | undefined, gone: DialOptions['gone']): void {
  if (use !== undefined) socket.on('close', () => use.release())
  if (gone !== undefined) socket.on('close', gone)
}

function keepSession(socket: tls.TLSSocket, context: DialContext): void {
  socket.on('session', (session) => {
    context.session = session
  })
}

/** The failure after `connectTimeoutMs`. */
export function connectedTooLate(timeoutMs: number): ConnectFailure {
  return { code: 'connect-timeout', detail: `no connection within ${timeoutMs} ms` }
}
