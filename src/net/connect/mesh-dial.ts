import type { Destination, MeshTunnel } from '../destination.ts'
import type { ConnectFailure } from '../failure.ts'
import type { PodTunnels } from '../hbone/pod-tunnels.ts'
import type { TunnelRequest } from '../hbone/tunnel-request.ts'
import type { TunnelSocket } from '../hbone/tunnel-socket.ts'
import { WheelTimer } from '../timer-wheel.ts'
import type { ConnectedSocket } from '../transport/connected-socket.ts'
import { targetAuthority } from './connect-request.ts'
import { connectedTooLate, type DialContext, type Dialling, type DialOptions, UNUSABLE } from './dial.ts'
import { secureTunnel } from './secure-tunnel.ts'

export interface MeshDialOptions extends DialOptions {
  readonly podTunnels: PodTunnels
}

/**
 * Opens a connection to a pod of a mesh: a tunnel to its address, and TLS with the destination inside it, all within `connectTimeoutMs`. It never
 * connects in another way.
 */
export class MeshDial implements Dialling {
  readonly #destination: Destination
  readonly #context: DialContext
  readonly #options: MeshDialOptions
  readonly #place: string
  readonly #total: WheelTimer
  #request: TunnelRequest | undefined
  /** The tunnel. */
  #socket: TunnelSocket | undefined
  #over = false

  constructor(destination: Destination, tunnel: MeshTunnel, context: DialContext, options: MeshDialOptions) {
    const { host, connectTimeoutMs } = destination
    this.#destination = destination
    this.#context = context
    this.#options = options
    this.#place = targetAuthority({ host, port: tunnel.port })
    this.#total = new WheelTimer(() => this.#expire())
    options.wheel.arm(this.#total, connectTimeoutMs)
    const detail = options.refuse?.(host, destination.port) ?? options.refuse?.(host, tunnel.port)
    if (context.secureContext === null) process.nextTick(() => this.#fail(UNUSABLE))
    else if (detail !== undefined) process.nextTick(() => this.#fail({ code: 'address-not-allowed', detail }))
    else this.#open(tunnel)
  }

  cancel(): void {
    if (this.#over) return
    this.#stop(false)
    this.#options.gone?.()
  }

  #open({ port, identity }: MeshTunnel): void {
    const { host, connectTimeoutMs: timeoutMs } = this.#destination
    const { podTunnels, halfOpen = false } = this.#options
    this.#request = podTunnels.open(
      { host, port, identity },
      {
        authority: targetAuthority(this.#destination),
        halfOpen,
        timeoutMs,
        done: (socket, failure) => {
          this.#request = undefined
          if (socket === null) this.#fail(this.#ofTunnel(failure!))
          else this.#opened(socket)
        },
      },
    )
  }

  #opened(socket: TunnelSocket): void {
    this.#socket = socket
    socket.on('error', () => socket.destroy())
    if (this.#destination.tls === undefined) return this.#finish(socket)
    secureTunnel(socket, this.#destination, this.#context, {
      halfOpen: this.#options.halfOpen ?? false,
      done: (secured, failure) => (secured === null ? this.#fail(failure!) : this.#finish(secured)),
    })
  }

  /** Says that the failure is that of the tunnel, not of the server in the pod. */
  #ofTunnel({ code, detail }: ConnectFailure): ConnectFailure {
    return { code, detail: `mesh tunnel ${this.#place}${detail === undefined ? '' : `: ${detail}`}` }
  }

  #expire(): void {
    const { connectTimeoutMs } = this.#destination
    const failure = connectedTooLate(connectTimeoutMs)
    this.#fail(this.#socket === undefined ? this.#ofTunnel(failure) : failure, true)
  }

  #finish(socket: ConnectedSocket): void {
    this.#socket = undefined
    this.#stop(false)
    socket.once('close', () => this.#options.gone?.())
    this.#options.done(socket, null, undefined)
  }

  /** @param suspect the pod did not answer in time */
  #fail(failure: ConnectFailure, suspect = false): void {
    if (this.#over) return
    this.#stop(suspect)
    this.#options.gone?.()
    this.#options.done(null, failure, undefined)
  }

  /** Releases the timer and what is unfinished. */
  #stop(suspect: boolean): void {
    this.#over = true
    this.#options.wheel.remove(this.#total)
    this.#request?.cancel(suspect)
    this.#socket?.destroy()
  }
}
