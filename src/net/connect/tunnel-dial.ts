import type { Destination, ProxyTunnel } from '../destination.ts'
import type { ConnectFailure } from '../failure.ts'
import { WheelTimer } from '../timer-wheel.ts'
import type { ConnectedSocket } from '../transport/connected-socket.ts'
import { type ConnectAnswer, connectRequest, readConnectAnswer } from './connect-request.ts'
import { connectedTooLate, contextOf, type DialContext, type Dialling, UNUSABLE } from './dial.ts'
import { dialEndpoint } from './dial-endpoint.ts'
import type { MeshDialOptions } from './mesh-dial.ts'
import type { NameUse } from './names.ts'
import { secureTunnel } from './secure-tunnel.ts'

/** The index of the proxy server for the next connection; they take turns. */
let turn = 0

/**
 * Opens a connection through a proxy server: connects to the server, asks it for a tunnel if the mode is `connect`, and performs the TLS
 * handshake with the destination, all within `connectTimeoutMs` of the destination (decisions A-105, A-107). The proxy server resolves the name
 * of the destination.
 */
export class TunnelDial implements Dialling {
  readonly #destination: Destination
  readonly #context: DialContext
  readonly #options: MeshDialOptions
  readonly #tunnel: ProxyTunnel
  /** Proxy servers that were not tried yet. */
  readonly #proxies: Destination[]
  readonly #total: WheelTimer
  #dial: Dialling | undefined
  /** The connection to the proxy server. */
  #socket: ConnectedSocket | undefined
  #over = false

  constructor(destination: Destination, tunnel: ProxyTunnel, context: DialContext, options: MeshDialOptions) {
    const { proxies } = tunnel
    const first = turn++ % proxies.length
    this.#destination = destination
    this.#context = context
    this.#options = options
    this.#tunnel = tunnel
    this.#proxies = [...proxies.slice(first), ...proxies.slice(0, first)]
    this.#total = new WheelTimer(() => this.#fail(connectedTooLate(destination.connectTimeoutMs)))
    options.wheel.arm(this.#total, destination.connectTimeoutMs)
    const { host, port } = destination
    const detail = options.refuse?.(host, port)
    if (context.secureContext === null) process.nextTick(() => this.#fail(UNUSABLE))
    else if (detail !== undefined) process.nextTick(() => this.#fail({ code: 'address-not-allowed', detail }))
    else this.#connect()
  }

  cancel(): void {
    if (this.#over) return
    this.#stop()
    this.#options.gone?.()
  }

  #connect(): void {
    const { wheel, names, podTunnels, refuse, halfOpen = false } = this.#options
    const proxy = this.#proxies.shift()!
    this.#dial = dialEndpoint(proxy, contextOf(proxy), {
      wheel,
      names,
      podTunnels,
      halfOpen,
      refuse,
      done: (socket, failure, use) => {
        this.#dial = undefined
        if (socket !== null) return this.#connected(socket, use)
        if (this.#proxies.length > 0) return this.#connect()
        const { code, detail } = failure!
        const place = proxy.unixPath ?? `${proxy.host}:${proxy.port}`
        this.#fail({ code, detail: `proxy server ${place}${detail === undefined ? '' : `: ${detail}`}` })
      },
    })
  }

  #connected(socket: ConnectedSocket, use: NameUse | undefined): void {
    this.#socket = socket
    socket.on('error', () => socket.destroy())
    if (this.#tunnel.mode === 'forward') return this.#finish(socket, use)
    const closed = () => this.#fail({ code: 'tunnel-failed', detail: 'the proxy server closed the connection' })
    let received: Buffer = Buffer.alloc(0)
    const onData = (bytes: Buffer) => {
      received = Buffer.concat([received, bytes])
      const answer = readConnectAnswer(received)
      if (answer === undefined) return
      socket.off('data', onData)
      socket.off('close', closed)
      socket.off('end', closed)
      this.#answered(answer, use)
    }
    socket.on('data', onData)
    socket.once('close', closed)
    socket.once('end', closed)
    socket.write(connectRequest(this.#destination, this.#tunnel.authorization), 'latin1')
  }

  #answered(answer: ConnectAnswer, use: NameUse | undefined): void {
    if ('code' in answer) return this.#fail(answer)
    const socket = this.#socket!
    if (this.#destination.tls !== undefined) {
      if (answer.rest.length === 0) return this.#shake(socket, use)
      const detail = 'the proxy server sent bytes before the TLS handshake'
      return this.#fail({ code: 'tunnel-failed', detail })
    }
    // Until its reader is there. The rest are the first bytes of a server that sends first.
    socket.pause()
    if (answer.rest.length > 0) socket.unshift(answer.rest)
    this.#finish(socket, use)
  }

  #shake(socket: ConnectedSocket, use: NameUse | undefined): void {
    secureTunnel(socket, this.#destination, this.#context, {
      halfOpen: this.#options.halfOpen ?? false,
      done: (secured, failure) => (secured === null ? this.#fail(failure!) : this.#finish(secured, use)),
    })
  }

  #finish(socket: ConnectedSocket, use: NameUse | undefined): void {
    this.#socket = undefined
    this.#stop()
    socket.once('close', () => this.#options.gone?.())
    this.#options.done(socket, null, use)
  }

  #fail(failure: ConnectFailure): void {
    if (this.#over) return
    this.#stop()
    this.#options.gone?.()
    this.#options.done(null, failure, undefined)
  }

  /** Releases the timer and what is unfinished. */
  #stop(): void {
    this.#over = true
    this.#options.wheel.remove(this.#total)
    this.#dial?.cancel()
    this.#socket?.destroy()
  }
}
