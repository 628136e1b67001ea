import type { Ended } from '../ended.ts'
import { labelReader } from './labels.ts'
import { PROCESSING_FIELDS } from './metrics.ts'
import type { MetricsWriter, Series } from './metrics-writer.ts'

const readLabels = labelReader(PROCESSING_FIELDS)

/** Measures what the gateway and the backend take of forwarded requests with the same labels. Its series are created when they are needed. */
export class ForwardingMetrics {
  readonly #writer: MetricsWriter
  #request: Series | undefined
  #response: Series | undefined
  #upstream: Series | undefined

  constructor(writer: MetricsWriter) {
    this.#writer = writer
  }

  record(ended: Ended): void {
    const { exchange, exemplar, durationMs } = ended
    const { startMonotonicMs, sentMonotonicMs, answeredMonotonicMs, respondedMonotonicMs, attempts } = exchange
    if (sentMonotonicMs === 0) return
    this.#request ??= this.#processing('requestProcessing', ended)
    this.#request.observe((sentMonotonicMs - startMonotonicMs) / 1000, exemplar)
    if (respondedMonotonicMs !== 0) {
      this.#response ??= this.#processing('responseProcessing', ended)
      this.#response.observe((respondedMonotonicMs - answeredMonotonicMs) / 1000, exemplar)
    }
    this.#upstream ??= this.#upstreamOf(ended)
    if (attempts === undefined) {
      this.#upstream.observe((durationMs - (sentMonotonicMs - startMonotonicMs)) / 1000, exemplar)
      return
    }
    for (const { sentMs, answeredMs, status } of attempts) {
      if (sentMs === undefined || answeredMs === undefined) continue
      // The gateway does not read the rest of a response that it does not use.
      const isLast = status !== 0 && attempts.at(-1)!.sentMs === sentMs
      this.#upstream.observe(((isLast ? durationMs : answeredMs) - sentMs) / 1000, exemplar)
    }
  }

  #processing(metric: 'requestProcessing' | 'responseProcessing', ended: Ended): Series {
    return this.#writer.series(metric, [...readLabels(ended), ...ended.customValues], ended.customNames)
  }

  #upstreamOf(ended: Ended): Series {
    const subtype = ended.exchange.names?.protocol === 'llm' ? 'Llm' : 'Http'
    return this.#writer.series('upstreamCalls', ['Primary', subtype, ...ended.customValues], ended.customNames)
  }
}
