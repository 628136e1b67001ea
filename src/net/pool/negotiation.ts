import type { TLSSocket } from 'node:tls'
import { clock } from '#base/clock.ts'
import type { RoomSeeker } from '../connect/connection-budget.ts'
import type { Connector } from '../connect/connector.ts'
import { connectedTooLate, type DialOptions, dialContext } from '../connect/dial.ts'
import type { AdoptedSocket } from '../connect/grouped-pool.ts'
import { tooManyWaiting, WaitingLine, waitedTooLong } from '../connect/waiting-line.ts'
import { DEFAULT_BOUNDS, type Destination } from '../destination.ts'
import type { Head } from '../http/head.ts'
import type { Http1Pool } from '../http1/client-pool.ts'
import type { Http2Pool } from '../http2/client-pool.ts'
import type { ClientHandler, ClientStream, Framing } from '../stream.ts'
import { WheelTimer } from '../timer-wheel.ts'
import { NegotiatedStream } from './negotiated-stream.ts'

const H2 = 'h2'

/** The pools that a negotiation chooses between. */
export interface Pools {
  readonly http1: Http1Pool
  readonly http2: Http2Pool
  readonly connector: Connector
}

/** How long a plaintext server that did not answer in HTTP/2 gets HTTP/1.1 without being asked again. */
const REMEMBERED_MS = 60_000

/**
 * Requests to one destination whose server chooses the protocol. Under TLS the first connection offers all protocols (RFC 7301); without TLS it
 * begins HTTP/2 with prior knowledge and waits for the SETTINGS of the server (RFC 9113, 3.4) before it sends a request, so that a server
 * that does not speak HTTP/2 never gets a request twice. While connections of one version are open, further requests and connections use that
 * version; without any, the protocol is negotiated again.
 */
export class Negotiation implements RoomSeeker {
  readonly #pools: Pools
  readonly #destination: Destination
  readonly #http1: Destination
  readonly #http2: Destination
  readonly #line: WaitingLine<NegotiatedStream>
  /** Until the server has chosen. */
  #dialling = false
  /** Of a plaintext server: until then it gets HTTP/1.1. */
  #http1UntilMs = 0

  constructor(pools: Pools, destination: Destination) {
    const { connectTimeoutMs: timeoutMs } = destination
    const tooLate = () => (this.#dialling ? connectedTooLate(timeoutMs) : waitedTooLong(timeoutMs))
    this.#pools = pools
    this.#destination = destination
    this.#http1 = destination.http1 ?? narrow(destination, 'http1', (protocol) => protocol !== H2)
    this.#http2 = narrow(destination, 'http2', (protocol) => protocol === H2)
    this.#line = new WaitingLine({ wheel: pools.connector.wheel, timeoutMs, tooLate })
  }

  send(
    head: Head,
    framing: Framing,
    responseTimeoutMs: number,
    handler: ClientHandler,
    context: unknown,
  ): ClientStream {
    const { http1, http2, connector } = this.#pools
    if (!this.#dialling && http2.isOpen(this.#http2.key))
      return http2.send(this.#http2, head, framing, responseTimeoutMs, handler, context)
    if (this.#choseHttp1) return http1.send(this.#http1, head, framing, responseTimeoutMs, handler, context)
    const { wheel } = connector
    const line = this.#line
    const stream = new NegotiatedStream({
      head: head.clone(),
      framing: { ...framing },
      handler,
      context,
      responseTimeoutMs,
      wheel,
      line,
      isDialling: () => this.#dialling,
    })
    const { maxWaiting } = this.#destination.bounds ?? DEFAULT_BOUNDS
    if (line.size >= maxWaiting) process.nextTick(() => stream.failUnsent(tooManyWaiting(maxWaiting)))
    else {
      line.add(stream)
      this.roomToConnect()
    }
    return stream
  }

  roomToConnect(): void {
    if (this.#dialling || this.#line.size === 0) return
    const { connector } = this.#pools
    if (!connector.reserve(this.#destination, this)) return
    this.#dialling = true
    const { lastArrival } = this.#line
    const context = dialContext(this.#destination)
    const done: DialOptions['done'] = (socket, failure, use) => {
      if (socket !== null) return this.#choose({ context, socket, use })
      this.#dialling = false
      this.#line.failUpTo(lastArrival, failure!)
      this.roomToConnect()
    }
    connector.dial(this.#destination, context, { done })
  }

  get #choseHttp1(): boolean {
    if (this.#destination.tls === undefined) return clock.monotonic() < this.#http1UntilMs
    return this.#pools.http1.isOpen(this.#http1.key)
  }

  #choose(adopted: AdoptedSocket): void {
    const { http1, http2 } = this.#pools
    if (this.#destination.tls === undefined) return this.#tryHttp2(adopted)
    const isHttp2 = (adopted.socket as TLSSocket).alpnProtocol === H2
    const [pool, destination] = isHttp2 ? ([http2, this.#http2] as const) : ([http1, this.#http1] as const)
    pool.adopt(destination, adopted)
    this.#use(pool, destination)
  }

  /** A server that stays silent for half of the connect timeout does not speak HTTP/2. */
  #tryHttp2(adopted: AdoptedSocket): void {
    const { http1, http2, connector } = this.#pools
    const silence = new WheelTimer(() => adopted.socket.destroy())
    const settled = (speaks: boolean) => {
      connector.wheel.remove(silence)
      if (speaks) return this.#use(http2, this.#http2)
      this.#http1UntilMs = clock.monotonic() + REMEMBERED_MS
      this.#use(http1, this.#http1)
    }
    connector.wheel.arm(silence, this.#destination.connectTimeoutMs / 2)
    http2.adopt(this.#http2, { ...adopted, settled })
  }

  #use(pool: Http1Pool | Http2Pool, destination: Destination): void {
    this.#dialling = false
    for (let stream = this.#line.take(); stream !== undefined; stream = this.#line.take()) {
      stream.sendTo(pool, destination)
    }
  }
}

/** The same destination, restricted to one version of HTTP. */
function narrow(destination: Destination, http: 'http1' | 'http2', keeps: (protocol: string) => boolean): Destination {
  const { key, tls } = destination
  const alone: Destination = { ...destination, key: `${key} ${http}`, http }
  return tls === undefined ? alone : { ...alone, tls: { ...tls, alpn: tls.alpn?.filter(keeps) } }
}
