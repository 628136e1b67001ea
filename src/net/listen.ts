import net from 'node:net'
import tls from 'node:tls'
import { ServerConnection, type ServerSettings } from './http1/server-connection.ts'
import { DEFAULT_SERVER_LIMITS, type ServerLimits } from './limits.ts'
import type { Peer, StreamHandler, TcpKeepalive } from './stream.ts'
import { type TimerWheel, workerWheel } from './timer-wheel.ts'
import { type AcceptTransport, acceptData, chooseAccept } from './transport-onread.ts'

/** What new connections go by; may change while the listener is open. */
export interface ConnectionSettings {
  /** What is left out has its default. */
  readonly limits?: Partial<ServerLimits>
  /** TCP keepalive; undefined: none (decision A-41). */
  readonly keepalive?: TcpKeepalive | undefined
}

export interface ListenOptions extends ConnectionSettings {
  /** IP address to bind. */
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** Several workers listen on the same port, and the kernel spreads connections over them. */
  readonly reusePort?: boolean
  readonly handler: StreamHandler
  readonly tls?: ListenTls
  /** Asked for every connection before a byte is read, under TLS before the handshake; false closes it without an answer. */
  readonly admit?: (peer: Peer) => boolean
  /** Clock of all time limits; default: the worker's. */
  readonly wheel?: TimerWheel
}

export interface ListenTls {
  /** The certificate for a server name ('' when the client sent none); undefined refuses the handshake. */
  contextFor(serverName: string): tls.SecureContext | undefined
}

export interface Listener {
  readonly port: number
  /** Connections that are open now. */
  readonly connections: number
  /** Settings of connections from now on; those that are open keep theirs. */
  configure(settings: ConnectionSettings): void
  /**
   * Stops accepting, closes idle connections, lets requests in flight end with `connection: close`, and cuts what is left after
   * `drainMs`. Resolves when no connection is left.
   */
  close(options?: { readonly drainMs?: number }): Promise<void>
}

/** Why a listener could not start. */
export class ListenError extends Error {
  override readonly name = 'ListenError'
  readonly code: 'address-in-use' | 'address-not-available' | 'not-permitted' | 'failed'
  readonly host: string
  readonly port: number

  constructor(host: string, port: number, cause: NodeJS.ErrnoException) {
    const code = LISTEN_ERRORS[cause.code ?? ''] ?? 'failed'
    super(`cannot listen on ${net.isIPv6(host) ? `[${host}]` : host}:${port}: ${code.replaceAll('-', ' ')}`, { cause })
    this.code = code
    this.host = host
    this.port = port
  }
}

const LISTEN_ERRORS: Readonly<Record<string, ListenError['code']>> = {
  EADDRINUSE: 'address-in-use',
  EADDRNOTAVAIL: 'address-not-available',
  EACCES: 'not-permitted',
}

/** Where several threads can listen on one port, each with a socket of its own (`SO_REUSEPORT` with balancing). */
export const CAN_SHARE_PORTS: boolean = ['linux', 'freebsd', 'aix', 'sunos'].includes(process.platform)

const BACKLOG = 4096
const HANDSHAKE_TIMEOUT_MS = 15_000

/** Serves HTTP/1 on one address and port. Rejects with a `ListenError`. */
export async function listen(options: ListenOptions): Promise<Listener> {
  const accept = options.tls === undefined ? await chooseAccept() : acceptData
  const listener = new SocketListener(options, accept)
  await listener.start()
  return listener
}

class SocketListener implements Listener {
  readonly #options: ListenOptions
  readonly #server: net.Server
  #settings: ServerSettings
  #keepalive: TcpKeepalive | undefined
  readonly #open = new Set<ServerConnection>()
  #closed: Promise<void> | undefined
  #emptied: () => void = () => {}

  constructor(options: ListenOptions, accept: AcceptTransport) {
    this.#options = options
    this.#keepalive = options.keepalive
    this.#settings = {
      handler: options.handler,
      limits: { ...DEFAULT_SERVER_LIMITS, ...options.limits },
      wheel: options.wheel ?? workerWheel,
      onClosed: (connection) => {
        this.#open.delete(connection)
        if (this.#open.size === 0) this.#emptied()
      },
    }
    const serve = (socket: net.Socket) => this.#serve(socket, accept)
    const { tls: secured } = options
    this.#server =
      secured === undefined ? plainServer(serve) : tlsServer(secured, (socket) => this.#admits(socket), serve)
  }

  get port(): number {
    return (this.#server.address() as net.AddressInfo).port
  }

  get connections(): number {
    return this.#open.size
  }

  configure({ limits, keepalive }: ConnectionSettings): void {
    this.#settings = { ...this.#settings, limits: { ...DEFAULT_SERVER_LIMITS, ...limits } }
    this.#keepalive = keepalive
  }

  start(): Promise<void> {
    const { host, port, reusePort = false } = this.#options
    return new Promise((resolve, reject) => {
      const fail = (cause: NodeJS.ErrnoException) => reject(new ListenError(host, port, cause))
      this.#server.once('error', fail)
      this.#server.listen({ host, port, reusePort, backlog: BACKLOG }, () => {
        this.#server.off('error', fail)
        resolve()
      })
    })
  }

  close({ drainMs = 0 }: { readonly drainMs?: number } = {}): Promise<void> {
    this.#closed ??= this.#drain(drainMs)
    return this.#closed
  }

  async #drain(drainMs: number): Promise<void> {
    this.#server.close()
    for (const connection of [...this.#open]) connection.drain()
    const cut = setTimeout(() => this.#cut(), drainMs)
    if (this.#open.size > 0) {
      await new Promise<void>((resolve) => {
        this.#emptied = resolve
      })
    }
    clearTimeout(cut)
  }

  #cut(): void {
    for (const connection of [...this.#open]) connection.abort()
  }

  #admits(socket: net.Socket): boolean {
    const peer = peerOf(socket)
    return peer !== undefined && this.#options.admit?.(peer) !== false
  }

  #serve(socket: net.Socket, accept: AcceptTransport): void {
    const peer = peerOf(socket)
    // Gone before it was looked at.
    if (peer === undefined) return void socket.destroy()
    if (this.#options.tls === undefined && this.#options.admit?.(peer) === false) return void socket.destroy()
    const keepalive = this.#keepalive
    if (keepalive !== undefined) {
      socket.setKeepAlive(true, keepalive.timeMs, keepalive.intervalMs, keepalive.retries)
    }
    const connection = new ServerConnection(peer, this.#settings)
    this.#open.add(connection)
    connection.attach(accept(socket, this.#server, connection))
  }
}

function plainServer(serve: (socket: net.Socket) => void): net.Server {
  return net.createServer({ pauseOnConnect: true, noDelay: true, allowHalfOpen: true }, serve)
}

/** Each accepted socket is wrapped on its own: what comes before the handshake can be read first. */
function tlsServer(
  settings: ListenTls,
  admits: (socket: net.Socket) => boolean,
  serve: (socket: net.Socket) => void,
): net.Server {
  return net.createServer({ noDelay: true, allowHalfOpen: true }, (accepted) => {
    if (!admits(accepted)) return void accepted.destroy()
    const secured = new tls.TLSSocket(accepted, serverTlsOptions(settings))
    const giveUp = () => secured.destroy()
    const timeout = setTimeout(giveUp, HANDSHAKE_TIMEOUT_MS).unref()
    accepted.on('error', giveUp)
    // A failed handshake has closed its connection; there is nobody to answer.
    secured.on('error', giveUp)
    secured.on('close', () => clearTimeout(timeout))
    secured.on('secure', () => {
      clearTimeout(timeout)
      serve(secured)
    })
  })
}

function serverTlsOptions({ contextFor }: ListenTls): tls.TLSSocketOptions {
  const unnamed = contextFor('')
  return {
    isServer: true,
    ALPNProtocols: ['http/1.1'],
    ...(unnamed === undefined ? {} : { secureContext: unnamed }),
    SNICallback: (serverName, done) => {
      const context = contextFor(serverName)
      if (context === undefined) done(new Error('no certificate for the server name'))
      else done(null, context)
    },
  }
}

function peerOf(socket: net.Socket): Peer | undefined {
  const { remoteAddress, remotePort, localAddress, localPort } = socket
  if (remoteAddress === undefined || remotePort === undefined) return undefined
  const encrypted = socket instanceof tls.TLSSocket ? socket : undefined
  return {
    remoteAddress,
    remotePort,
    localAddress: localAddress ?? '',
    localPort: localPort ?? 0,
    secure: encrypted !== undefined,
    serverName: typeof encrypted?.servername === 'string' ? encrypted.servername : undefined,
  }
}
