import { clock } from '#base/clock.ts'
import type { MetricsWriter, Series } from '#observe/metrics/metrics-writer.ts'

/** Counts how often the objects were read, and with which outcome. */
export class ReloadMetrics {
  readonly #successes: Series
  readonly #failures: Series
  readonly #lastSuccessful: Series
  readonly #lastSuccess: Series

  constructor(metrics: MetricsWriter) {
    this.#successes = metrics.series('configReloads', ['success'])
    this.#failures = metrics.series('configReloads', ['failure'])
    this.#lastSuccessful = metrics.series('configReloadSuccessful', [])
    this.#lastSuccess = metrics.series('configReloadSuccess', [])
  }

  /** @param successful no file has errors */
  count(successful: boolean): void {
    const outcome = successful ? this.#successes : this.#failures
    outcome.add(1)
    this.#lastSuccessful.set(successful ? 1 : 0)
    if (successful) this.#lastSuccess.set(clock.now() / 1000)
  }
}
