import { type Exchange, NOWHERE } from '#exchange/exchange.ts'
import type { ObserveSettings } from '../observer.ts'
import { customNames, customValues, routeLabels, unknownIfEmpty } from './labels.ts'
import type { MetricsWriter } from './metrics-writer.ts'

/** Counts the attempts to which no response came, by their cause, of which there is a fixed number. */
export function countUpstreamFailures(
  writer: MetricsWriter,
  exchange: Exchange,
  settings: ObserveSettings | undefined,
): void {
  const place = exchange.place ?? NOWHERE
  for (const { failure } of exchange.attempts ?? []) {
    if (failure === undefined) continue
    const labels = [unknownIfEmpty(place.backend), failure, ...routeLabels(place), ...customValues(exchange, settings)]
    writer.series('upstreamFailures', labels, customNames(settings)).add(1)
  }
}
