import type { ConnectTransport } from '#net/connect/pool-settings.ts'
import type { Ended } from '../ended.ts'
import { labelReader } from './labels.ts'
import { ROUTE_FIELDS } from './metrics.ts'
import type { MetricsWriter } from './metrics-writer.ts'

const readBackend = labelReader(['backend'])
const readPlace = labelReader(ROUTE_FIELDS)

/** Counts the attempts without a response by cause. The set of causes is fixed. */
export function countUpstreamFailures(writer: MetricsWriter, ended: Ended): void {
  const failures = (ended.exchange.attempts ?? []).flatMap(({ failure }) => failure ?? [])
  if (failures.length === 0) return
  const backend = readBackend(ended)
  const others = [...readPlace(ended), ...ended.customValues]
  for (const failure of failures) {
    writer.series('upstreamFailures', [...backend, failure, ...others], ended.customNames).add(1, ended.exemplar)
  }
}

/** Measures an opened connection to an upstream server. */
export function observeConnect(writer: MetricsWriter, transport: ConnectTransport, durationMs: number): void {
  writer.series('upstreamConnects', [transport]).observe(durationMs / 1000)
}
