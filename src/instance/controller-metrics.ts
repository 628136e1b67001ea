import type { SecretHider } from '#base/known-secrets.ts'
import type { ApiRequest } from '#cluster/api-request.ts'
import { MetricsReader } from '#observe/metrics/metrics-reader.ts'
import { MetricsWriter } from '#observe/metrics/metrics-writer.ts'
import { measureRuntime } from '#workers/runtime-metrics.ts'

/** What a controller counts and measures. */
export class ControllerMetrics {
  readonly reader: MetricsReader
  readonly #writer: MetricsWriter
  readonly #runtime: { cancel(): void }

  constructor(secrets: SecretHider) {
    this.reader = new MetricsReader({ hide: (text) => secrets.hide(text), folded: () => {}, firstFolded: () => {} })
    this.#writer = new MetricsWriter((update) => this.reader.add('main', update))
    this.#runtime = measureRuntime(this.#writer, 'main')
  }

  asked({ verb, resource, code }: ApiRequest): void {
    this.#writer.series('apiRequests', [verb, resource, code]).add(1)
  }

  reconciled(part: 'translation' | 'deployment', outcome: 'success' | 'failure', ms: number): void {
    this.#writer.series('reconciliations', [part, outcome]).observe(ms / 1000)
  }

  close(): void {
    this.#runtime.cancel()
  }
}
