import { NO_PLAN_NAMES } from '#exchange/exchange.ts'
import type { Ended } from '../ended.ts'
import type { ObservedRelay } from '../observer.ts'
import { countConnection } from './connection-metrics.ts'
import { labelReader } from './labels.ts'
import { REQUEST_FIELDS } from './metrics.ts'
import type { MetricsWriter } from './metrics-writer.ts'
import { countUpstreamFailures } from './upstream-metrics.ts'

const readLabels = labelReader(REQUEST_FIELDS)

/** Counts relayed connections. They are not requests, but use the metrics of requests. */
export class RelayMetrics {
  readonly #writer: MetricsWriter

  constructor(writer: MetricsWriter) {
    this.#writer = writer
  }

  record(ended: Ended, { exchange, protocol, receivedBytes, sentBytes }: ObservedRelay): void {
    const { gateway, listener } = exchange.names ?? NO_PLAN_NAMES
    countConnection(this.#writer, { peer: exchange.peer, gateway, listener, protocol }, receivedBytes, sentBytes)
    countUpstreamFailures(this.#writer, ended)
    const labels = [...readLabels(ended), ...ended.customValues]
    this.#writer.series('duration', labels, ended.customNames).observe(ended.durationMs / 1000)
  }
}
