import type { LiveEndpoint } from '#engine/backend/live-backend.ts'
import type { Place } from '#engine/backend/place.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { ClientStream, RelayedConnection } from '#net/stream.ts'
import type { ObservedRelay, ObserveSettings } from '#observe/observer.ts'
import type { Reached } from '#observe/passage.ts'
import { connectionExchange } from './connection-exchange.ts'
import type { ProxyContext } from './proxy-context.ts'

/** One relayed connection: its exchange for log expressions, and the streams on both sides. */
export class RelayInFlight implements ObservedRelay {
  readonly context: ProxyContext
  readonly connection: RelayedConnection
  readonly exchange: Exchange
  readonly status = 0
  readonly decisionNumber: number
  settings: ObserveSettings | undefined
  protocol: 'tcp' | 'tls' = 'tcp'
  /** Where the connection was routed. */
  reached: Reached = {}
  upstream: ClientStream | undefined
  receivedBytes = 0
  sentBytes = 0
  #endpoint: LiveEndpoint | undefined
  #place: Place | undefined
  /** The connection counts as in flight at its endpoint. */
  #occupied = false

  constructor(context: ProxyContext, connection: RelayedConnection) {
    this.context = context
    this.connection = connection
    this.decisionNumber = context.decisionIds.next()
    this.exchange = connectionExchange(context, connection.peer)
    this.exchange.startMonotonicMs = context.now()
  }

  get decisionId(): string {
    return this.context.decisionIds.idOf(this.decisionNumber)
  }

  get endpointLabel(): string | undefined {
    return this.#place?.label
  }

  get endpointSection(): undefined {
    return undefined
  }

  /** Called when connecting to the endpoint begins. */
  occupyEndpoint(endpoint: LiveEndpoint, place: Place): void {
    this.#endpoint = endpoint
    this.#place = place
    this.#occupied = true
    endpoint.health.begin()
    this.exchange.sentMonotonicMs = this.context.now()
  }

  releaseEndpoint(): void {
    if (!this.#occupied) return
    this.#occupied = false
    this.#endpoint?.health.end()
  }

  /** For a relayed connection, connecting is the whole attempt: health uses only whether it succeeded, and its latency. */
  recordHealthy(): void {
    const { exchange, context } = this
    exchange.answeredMonotonicMs = context.now()
    this.#endpoint?.health.recordHealthy(exchange.answeredMonotonicMs - exchange.sentMonotonicMs)
  }

  recordUnhealthy(): void {
    this.exchange.answeredMonotonicMs = this.context.now()
    this.#endpoint?.health.recordUnhealthy('no response')
  }
}
