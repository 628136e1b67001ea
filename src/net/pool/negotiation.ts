import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { Dial, type DialContext, dialContext } from '../connect/dial.ts'
import type { Destination } from '../destination.ts'
import type { ConnectFailure } from '../failure.ts'
import type { Head } from '../http/head.ts'
import type { Http1Pool } from '../http1/client-pool.ts'
import type { Http2Pool } from '../http2/client-pool.ts'
import type { ClientHandler, ClientStream, Framing } from '../stream.ts'
import type { TimerWheel } from '../timer-wheel.ts'
import { NegotiatedStream } from './negotiated-stream.ts'

const H2 = 'h2'

/** The pools that a negotiation chooses between. */
export interface Pools {
  readonly http1: Http1Pool
  readonly http2: Http2Pool
  readonly wheel: TimerWheel
}

/**
 * Requests to one destination whose server chooses the protocol (RFC 7301). The first connection offers all; while connections of
 * one version are open, further requests and connections are of that version; without any the server is asked again.
 */
export class Negotiation {
  readonly #pools: Pools
  readonly #destination: Destination
  readonly #http1: Destination
  readonly #http2: Destination
  #waiting: NegotiatedStream[] = []

  constructor(pools: Pools, destination: Destination) {
    this.#pools = pools
    this.#destination = destination
    this.#http1 = narrow(destination, 'http1', (protocol) => protocol !== H2)
    this.#http2 = narrow(destination, 'http2', (protocol) => protocol === H2)
  }

  send(
    head: Head,
    framing: Framing,
    responseTimeoutMs: number,
    handler: ClientHandler,
    context: unknown,
  ): ClientStream {
    const { http1, http2, wheel } = this.#pools
    if (http2.isOpen(this.#http2.key))
      return http2.send(this.#http2, head, framing, responseTimeoutMs, handler, context)
    if (http1.isOpen(this.#http1.key))
      return http1.send(this.#http1, head, framing, responseTimeoutMs, handler, context)
    const stream = new NegotiatedStream({ head: head.clone(), framing: { ...framing }, handler, context, wheel })
    if (responseTimeoutMs > 0) wheel.arm(stream.timer, responseTimeoutMs)
    this.#waiting.push(stream)
    if (this.#waiting.length === 1) this.#dial()
    return stream
  }

  #dial(): void {
    const { http1, http2, wheel } = this.#pools
    const context = dialContext(this.#destination)
    const done = (socket: Socket | null, failure: ConnectFailure | null) => {
      if (socket === null) this.#failAll(failure!)
      else if ((socket as TLSSocket).alpnProtocol === H2) this.#use(http2, this.#http2, context, socket)
      else this.#use(http1, this.#http1, context, socket)
    }
    new Dial(this.#destination, context, { wheel, done })
  }

  #use(pool: Http1Pool | Http2Pool, destination: Destination, context: DialContext, socket: Socket): void {
    pool.adopt(destination, context, socket)
    for (const stream of this.#take()) stream.sendTo(pool, destination)
  }

  #failAll(failure: ConnectFailure): void {
    for (const stream of this.#take()) stream.failUnsent(failure)
  }

  #take(): NegotiatedStream[] {
    const waiting = this.#waiting
    this.#waiting = []
    return waiting
  }
}

/** The same destination where only one version of HTTP is left to choose. */
function narrow(destination: Destination, http: 'http1' | 'http2', keeps: (protocol: string) => boolean): Destination {
  const { key, tls } = destination
  if (tls === undefined) throw new Error('only TLS negotiates protocols')
  return { ...destination, key: `${key} ${http}`, http, tls: { ...tls, alpn: tls.alpn?.filter(keeps) } }
}
