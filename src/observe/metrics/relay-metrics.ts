import { NOWHERE } from '#exchange/exchange.ts'
import type { ObservedRelay } from '../observer.ts'
import { countConnection } from './connection-metrics.ts'
import { customNames, customValues, routeLabels, unknownIfEmpty } from './labels.ts'
import type { MetricsWriter } from './metrics-writer.ts'
import { countUpstreamFailures } from './upstream-metrics.ts'

/** Counts relayed connections; they are no requests, but their time counts like that of one. */
export class RelayMetrics {
  readonly #writer: MetricsWriter

  constructor(writer: MetricsWriter) {
    this.#writer = writer
  }

  record(relay: ObservedRelay, durationMs: number): void {
    const { exchange, settings, protocol, receivedBytes, sentBytes } = relay
    const place = exchange.place ?? NOWHERE
    const { gateway, listener } = place
    countConnection(this.#writer, { peer: exchange.peer, gateway, listener, protocol }, receivedBytes, sentBytes)
    const likeRequest = [
      unknownIfEmpty(place.backend),
      'tcp',
      'unknown',
      'unknown',
      exchange.reason,
      ...routeLabels(place),
      ...customValues(exchange, settings),
    ]
    countUpstreamFailures(this.#writer, exchange, settings)
    this.#writer.series('duration', likeRequest, customNames(settings)).observe(durationMs / 1000)
  }
}
