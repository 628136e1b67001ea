import type { Ended } from '../ended.ts'
import { customNames, customValues, labelReader } from './labels.ts'
import { PLACE_FIELDS } from './metrics.ts'
import type { MetricsWriter } from './metrics-writer.ts'

const readBackend = labelReader(['backend'])
const readPlace = labelReader(PLACE_FIELDS)

/** Counts the attempts without a response by cause. The set of causes is fixed. */
export function countUpstreamFailures(writer: MetricsWriter, ended: Ended): void {
  const { exchange, request } = ended
  for (const { failure } of exchange.attempts ?? []) {
    if (failure === undefined) continue
    const labels = [...readBackend(ended), failure, ...readPlace(ended), ...customValues(exchange, request.settings)]
    writer.series('upstreamFailures', labels, customNames(request.settings)).add(1)
  }
}
