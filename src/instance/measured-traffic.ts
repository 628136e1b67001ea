import { reportTraffic, type TrafficReport } from '#admin/traffic-report.ts'
import { clock } from '#base/clock.ts'
import { METRICS } from '#observe/metrics/metrics.ts'
import type { MetricsReader } from '#observe/metrics/metrics-reader.ts'

/** The requests since the gateway started, for `/traffic`. */
export class MeasuredTraffic {
  readonly #metrics: MetricsReader
  readonly #startTimeMs = clock.now()
  readonly #startMonotonicMs = clock.monotonic()

  constructor(metrics: MetricsReader) {
    this.#metrics = metrics
  }

  report(): TrafficReport {
    const inFlight = [...this.#metrics.read('requestsInFlight')].reduce((sum, { cells }) => sum + cells[0]!, 0)
    const uptimeMs = clock.monotonic() - this.#startMonotonicMs
    const moment = { timeMs: clock.now(), startTimeMs: this.#startTimeMs, uptimeMs, inFlight }
    return reportTraffic(this.#metrics.read('duration'), METRICS.duration.buckets, moment)
  }
}
