import net from 'node:net'
import { clock } from '#base/clock.ts'
import { listeningDescriptor } from '#base/listen.ts'
import type { TcpKeepalive } from '../destination.ts'
import { ServerConnection, type ServerSettings } from '../http1/server-connection.ts'
import { ServerSession } from '../http2/server-session.ts'
import { DEFAULT_SERVER_LIMITS, type ServerLimits } from '../limits.ts'
import type { Peer } from '../peer.ts'
import { RelayedSocket } from '../relay/relayed-socket.ts'
import type { ServedConnection } from '../served-connection.ts'
import type { RelayHandler, StreamHandler } from '../stream.ts'
import { type TimerWheel, workerWheel } from '../timer-wheel.ts'
import type { ByteCounts, ConnectedSocket } from '../transport/connected-socket.ts'
import type { PlainTransports } from '../transport/plain-transports.ts'
import { STREAM_TRANSPORTS } from '../transport/stream-transports.ts'
import type { Transport, TransportOwner } from '../transport/transport.ts'
import { Arrival, type ArrivalSettings, type Destinations } from './arrival.ts'
import type { ConnectionRefusal } from './connection-refusal.ts'
import { ListenError } from './listen-error.ts'
import type { Traffic } from './listen-tls.ts'
import { peerOf } from './peer.ts'
import type { ProxyHeaderSettings } from './proxy-header.ts'

/** Settings of new connections; may change while the listener is open. */
export interface ConnectionSettings {
  /** Missing settings have their defaults. */
  readonly limits?: Partial<ServerLimits>
  /** TCP keepalive; undefined: none (decision A-41). */
  readonly keepalive?: TcpKeepalive | undefined
  /** Undefined: no PROXY header is expected. */
  readonly proxyHeader?: ProxyHeaderSettings | undefined
  /** Time from accept, or the end of the PROXY header, to the end of the TLS handshake. */
  readonly handshakeTimeoutMs?: number
  /** `admit` uses the client certificate, so it is called after the TLS handshake instead of before it (decision A-48). */
  readonly admitsLate?: boolean
}

export interface ListenOptions extends ConnectionSettings {
  /** IP address to bind. */
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** Several workers listen on the same port, and the kernel distributes connections among them. */
  readonly reusePort?: boolean
  /**
   * Descriptors of sockets that listen on the address already, from the process that this one replaces. The listener accepts from all of them instead of
   * opening one: the connections that wait in a socket are lost when nobody has it.
   */
  readonly inherited?: readonly number[]
  /** Traffic of the socket; default: plain HTTP. */
  readonly traffic?: Traffic
  /** Serves HTTP: HTTP/2 if TLS negotiated `h2` or a plain connection begins with the HTTP/2 preface, else HTTP/1. */
  readonly handler: StreamHandler
  /** Handles relayed connections; without it they are closed. */
  readonly relay?: RelayHandler
  /** Called for every connection before its protocol begins, with TLS before the handshake; false closes it without a response. */
  readonly admit?: (peer: Peer) => boolean
  /** Called for connections that were closed before they were served. */
  readonly refused?: (peer: Peer, why: ConnectionRefusal) => void
  /** Called after a successful TLS handshake. @param durationMs from the ClientHello to the end of the handshake */
  readonly secured?: (peer: Peer, durationMs: number, carries: 'http' | 'bytes') => void
  /** Called when an HTTP connection has ended. */
  readonly served?: (peer: Peer, counts: ByteCounts) => void
  /** Timer wheel for all time limits; default: that of the worker. */
  readonly wheel?: TimerWheel
  /** Transport of connections without TLS; default: streams. */
  readonly transports?: PlainTransports
}

export interface CloseOptions {
  readonly drainMs?: number
  /** Called before the remaining connections are reset. */
  readonly cutting?: () => void
}

export interface Listener {
  readonly port: number
  /** Number of open connections. */
  readonly connections: number
  /** Of its sockets, while it accepts. */
  readonly descriptors: readonly number[]
  /** Changes the settings of new connections; open connections keep theirs. */
  configure(settings: ConnectionSettings): void
  /** Continues to serve, but tells clients not to reuse connections: HTTP/1 responses say `connection: close`, HTTP/2 sessions get a GOAWAY. */
  discourageReuse(): void
  /** Accepts the connections that wait in the kernel, which closing the socket would reset, then closes it; open connections continue. */
  stopAccepting(): Promise<void>
  /**
   * Stops accepting, finishes requests in flight with `connection: close`, closes idle connections after a grace, and resets the
   * remaining connections after `drainMs`, at `cutting`. Resolves when no connection is left. Another call can only shorten the time.
   */
  close(options?: CloseOptions): Promise<void>
}

/** Whether several threads can listen on one port, each with its own socket (`SO_REUSEPORT` with load balancing). */
export const CAN_SHARE_PORTS: boolean = ['linux', 'freebsd', 'aix', 'sunos'].includes(process.platform)

/** Connections that wait in the kernel at most. */
const BACKLOG = 4096
const HANDSHAKE_TIMEOUT_MS = 15_000

/** Serves one address and port. Rejects with a `ListenError`. */
export async function listen(options: ListenOptions): Promise<Listener> {
  const listener = new SocketListener(options)
  await listener.start()
  return listener
}

/** The settings, with defaults applied, in the form that the connection classes take. */
interface Settings {
  readonly http: ServerSettings
  readonly arrival: ArrivalSettings
  readonly keepalive: TcpKeepalive | undefined
}

/** Resolves after the event loop has polled, if this turn has reached its end already. */
function endOfTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

class SocketListener implements Listener, Destinations {
  readonly #options: ListenOptions
  readonly #traffic: Traffic
  readonly #transports: PlainTransports
  /** One for each socket. */
  readonly #servers: readonly net.Server[]
  readonly #open = new Set<ServedConnection>()
  /** Data for `served`, by HTTP connection. */
  readonly #serving = new WeakMap<ServedConnection, { readonly peer: Peer; readonly counts: ByteCounts }>()
  #settings: Settings
  #discouraging = false
  #draining = false
  /** Connections so far. */
  #accepts = 0
  #stopped: Promise<void> | undefined
  #closed: Promise<void> | undefined
  #emptied: () => void = () => {}

  constructor(options: ListenOptions) {
    this.#options = options
    this.#traffic = options.traffic ?? 'http'
    this.#transports = options.transports ?? STREAM_TRANSPORTS
    this.#settings = this.#settingsFrom(options)
    const accepting = { pauseOnConnect: true, noDelay: true, allowHalfOpen: true }
    this.#servers = this.#places().map(() => net.createServer(accepting, (socket) => this.#accepted(socket)))
  }

  get port(): number {
    return (this.#servers[0]!.address() as net.AddressInfo).port
  }

  get connections(): number {
    return this.#open.size
  }

  get descriptors(): readonly number[] {
    return this.#stopped === undefined ? this.#servers.map(listeningDescriptor) : []
  }

  /** What its servers listen on. */
  #places(): net.ListenOptions[] {
    const { host, port, reusePort = false, inherited = [] } = this.#options
    if (inherited.length === 0) return [{ host, port, reusePort, backlog: BACKLOG }]
    return inherited.map((fd) => ({ fd, backlog: BACKLOG }))
  }

  async start(): Promise<void> {
    const { host, port } = this.#options
    const listenOn = (server: net.Server, place: net.ListenOptions) =>
      new Promise<void>((resolve, reject) => {
        const fail = (cause: NodeJS.ErrnoException) => reject(new ListenError(host, port, cause))
        server.once('error', fail)
        server.listen(place, () => {
          server.off('error', fail)
          resolve()
        })
      })
    const places = this.#places()
    await Promise.all(this.#servers.map((server, i) => listenOn(server, places[i]!)))
  }

  configure(settings: ConnectionSettings): void {
    this.#settings = this.#settingsFrom(settings)
  }

  discourageReuse(): void {
    this.#discouraging = true
    for (const connection of [...this.#open]) connection.discourageReuse()
  }

  stopAccepting(): Promise<void> {
    this.#stopped ??= this.#acceptWaiting().then(() => this.#closeSockets())
    return this.#stopped
  }

  #closeSockets(): void {
    for (const server of this.#servers) server.close()
  }

  /**
   * A turn of the event loop accepts few connections, so this takes turns until one brings none. New clients cannot prolong this for ever:
   * after a full backlog, all that waited at the beginning have been accepted.
   */
  async #acceptWaiting(): Promise<void> {
    const last = this.#accepts + BACKLOG
    await endOfTurn()
    let before: number
    do {
      before = this.#accepts
      await endOfTurn()
    } while (before < this.#accepts && this.#accepts <= last)
  }

  async close({ drainMs = 0, cutting }: CloseOptions = {}): Promise<void> {
    const cut = clock.after(drainMs, () => {
      cutting?.()
      this.#cut()
    })
    this.#closed ??= this.#drain()
    await this.#closed
    cut.cancel()
  }

  async #drain(): Promise<void> {
    this.#draining = true
    await this.stopAccepting()
    for (const connection of [...this.#open]) connection.drain()
    if (this.#open.size === 0) return
    await new Promise<void>((resolve) => {
      this.#emptied = resolve
    })
  }

  #cut(): void {
    for (const connection of [...this.#open]) connection.abort()
  }

  // Life of a connection.

  #accepted(socket: net.Socket): void {
    this.#accepts++
    const peer = peerOf(socket)
    // The client has disconnected already.
    if (peer === undefined) return void socket.destroy()
    const { keepalive, arrival: settings } = this.#settings
    if (keepalive !== undefined) {
      socket.setKeepAlive(true, keepalive.timeMs, keepalive.intervalMs, keepalive.retries)
    }
    // Plain HTTP requires no reading ahead.
    if (this.#traffic === 'http' && settings.proxyHeader === undefined) {
      if (settings.admit(peer)) this.http(socket, peer)
      else socket.destroy()
      return
    }
    const arrival = new Arrival(socket, peer, settings, this)
    this.#open.add(arrival)
    arrival.begin(this.#traffic)
  }

  http(socket: net.Socket, peer: Peer, alpnProtocol?: string): void {
    if (alpnProtocol === 'h2') return this.#http2(socket, peer)
    const connection = new ServerConnection(peer, this.#settings.http)
    this.#open.add(connection)
    if (this.#discouraging) connection.discourageReuse()
    const transport = this.#transport(socket, peer, connection)
    this.#serving.set(connection, { peer, counts: transport.counts ?? socket })
    connection.attach(transport)
    if (this.#draining) connection.drain()
  }

  #http2(socket: ConnectedSocket, peer: Peer): void {
    // A destroyed socket emits no further events.
    if (socket.destroyed) return
    const session = new ServerSession(socket, peer, this.#settings.http)
    this.#open.add(session)
    this.#serving.set(session, { peer, counts: socket })
    if (this.#draining) session.drain()
  }

  bytes(socket: net.Socket, peer: Peer): void {
    const { relay } = this.#options
    if (relay === undefined) return void socket.destroy()
    const { limits, wheel, onClosed } = this.#settings.http
    const settings = { handler: relay, wheel, writeTimeoutMs: limits.writeTimeoutMs, onClosed }
    const connection = new RelayedSocket(peer, settings)
    this.#open.add(connection)
    connection.attach(this.#transport(socket, peer, connection))
  }

  #transport(socket: net.Socket, { secure }: Peer, owner: TransportOwner): Transport {
    const transports = secure ? STREAM_TRANSPORTS : this.#transports
    // Which server counts the connection makes no difference, because nothing waits for the end of a server.
    return transports.accept(socket, this.#servers[0]!, owner)
  }

  #over(connection: ServedConnection): void {
    this.#open.delete(connection)
    const serving = this.#serving.get(connection)
    if (serving !== undefined) this.#options.served?.(serving.peer, serving.counts)
    if (this.#open.size === 0) this.#emptied()
  }

  #settingsFrom(settings: ConnectionSettings): Settings {
    const { handler, admit = () => true, refused = () => {}, secured = () => {}, wheel = workerWheel } = this.#options
    const over = (connection: ServedConnection) => this.#over(connection)
    const takeHttp2 = (socket: ConnectedSocket, connection: ServerConnection) => {
      this.#http2(socket, connection.peer)
      // The connection continues as an HTTP/2 session.
      this.#serving.delete(connection)
      this.#over(connection)
    }
    return {
      http: {
        handler,
        limits: { ...DEFAULT_SERVER_LIMITS, ...settings.limits },
        wheel,
        onClosed: over,
        onHttp2: takeHttp2,
      },
      arrival: {
        proxyHeader: settings.proxyHeader,
        handshakeTimeoutMs: settings.handshakeTimeoutMs ?? HANDSHAKE_TIMEOUT_MS,
        admitsLate: settings.admitsLate === true,
        wheel,
        admit,
        refused,
        secured,
        over,
      },
      keepalive: settings.keepalive,
    }
  }
}
