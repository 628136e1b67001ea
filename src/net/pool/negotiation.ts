import type { TLSSocket } from 'node:tls'
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
import { NegotiatedStream } from './negotiated-stream.ts'

const H2 = 'h2'

/** The pools that a negotiation chooses between. */
export interface Pools {
  readonly http1: Http1Pool
  readonly http2: Http2Pool
  readonly connector: Connector
}

/**
 * Requests to one destination whose server chooses the protocol (RFC 7301). The first connection offers all protocols. While connections
 * of one version are open, further requests and connections use that version; without any, the protocol is negotiated again.
 */
export class Negotiation implements RoomSeeker {
  readonly #pools: Pools
  readonly #destination: Destination
  readonly #http1: Destination
  readonly #http2: Destination
  readonly #line: WaitingLine<NegotiatedStream>
  #dialling = false

  constructor(pools: Pools, destination: Destination) {
    const { connectTimeoutMs: timeoutMs } = destination
    const tooLate = () => (this.#dialling ? connectedTooLate(timeoutMs) : waitedTooLong(timeoutMs))
    this.#pools = pools
    this.#destination = destination
    this.#http1 = narrow(destination, 'http1', (protocol) => protocol !== H2)
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
    if (http2.isOpen(this.#http2.key))
      return http2.send(this.#http2, head, framing, responseTimeoutMs, handler, context)
    if (http1.isOpen(this.#http1.key))
      return http1.send(this.#http1, head, framing, responseTimeoutMs, handler, context)
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
    const { http1, http2, connector } = this.#pools
    if (!connector.reserve(this.#destination, this)) return
    this.#dialling = true
    const { lastArrival } = this.#line
    const context = dialContext(this.#destination)
    const done: DialOptions['done'] = (socket, failure, use) => {
      this.#dialling = false
      if (socket === null) {
        this.#line.failUpTo(lastArrival, failure!)
        this.roomToConnect()
      } else if ((socket as TLSSocket).alpnProtocol === H2) this.#use(http2, this.#http2, { context, socket, use })
      else this.#use(http1, this.#http1, { context, socket, use })
    }
    connector.dial(this.#destination, context, { done })
  }

  #use(pool: Http1Pool | Http2Pool, destination: Destination, adopted: AdoptedSocket): void {
    pool.adopt(destination, adopted)
    for (let stream = this.#line.take(); stream !== undefined; stream = this.#line.take()) {
      stream.sendTo(pool, destination)
    }
  }
}

/** The same destination, restricted to one version of HTTP. */
function narrow(destination: Destination, http: 'http1' | 'http2', keeps: (protocol: string) => boolean): Destination {
  const { key, tls } = destination
  if (tls === undefined) throw new Error('only TLS negotiates protocols')
  return { ...destination, key: `${key} ${http}`, http, tls: { ...tls, alpn: tls.alpn?.filter(keeps) } }
}
