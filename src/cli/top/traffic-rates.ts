import type { TrafficReport, TrafficReportRow } from '#admin/traffic-report.ts'

/** What happened between two reports. */
export interface TrafficRates {
  readonly time: string
  readonly seconds: number
  readonly inFlight: number
  readonly routes: readonly RateRow[]
  readonly backends: readonly RateRow[]
}

/** The requests of one route or backend in that time. */
export interface RateRow {
  readonly name: string
  readonly perSecond: number
  /** Share of errors and of client errors, 0 to 1. */
  readonly errorRatio: number
  readonly clientErrorRatio: number
  /** Durations in milliseconds, estimated from buckets; undefined: there was no request. */
  readonly p50Ms: number | undefined
  readonly p99Ms: number | undefined
}

/**
 * Rates between two reports, those with the most requests first.
 * @returns undefined: the gateway was restarted between them, so they count from different times
 */
export function trafficRates(before: TrafficReport, after: TrafficReport): TrafficRates | undefined {
  if (before.startTime !== after.startTime) return undefined
  const seconds = Math.max(after.uptimeSeconds - before.uptimeSeconds, 0.001)
  const rowsOf = (kind: 'routes' | 'backends') => {
    const known = new Map(before[kind].map((row) => [row.name, row]))
    return after[kind]
      .map((row) => rateOf(known.get(row.name), row, { seconds, bounds: after.bounds }))
      .toSorted((a, b) => b.perSecond - a.perSecond)
  }
  return { time: after.time, seconds, inFlight: after.inFlight, routes: rowsOf('routes'), backends: rowsOf('backends') }
}

function rateOf(
  known: TrafficReportRow | undefined,
  after: TrafficReportRow,
  { seconds, bounds }: { readonly seconds: number; readonly bounds: readonly number[] },
): RateRow {
  const requests = after.requests - (known?.requests ?? 0)
  const buckets = after.buckets.map((count, i) => count - (known?.buckets[i] ?? 0))
  const ratio = (name: 'errors' | 'clientErrors') =>
    requests === 0 ? 0 : (after[name] - (known?.[name] ?? 0)) / requests
  return {
    name: after.name,
    perSecond: requests / seconds,
    errorRatio: ratio('errors'),
    clientErrorRatio: ratio('clientErrors'),
    p50Ms: quantileMs(buckets, bounds, 0.5),
    p99Ms: quantileMs(buckets, bounds, 0.99),
  }
}

/** Interpolates within the bucket, as `histogram_quantile` of Prometheus does. Durations beyond the last bound count as that bound. */
function quantileMs(buckets: readonly number[], bounds: readonly number[], quantile: number): number | undefined {
  const total = buckets.reduce((sum, count) => sum + count, 0)
  if (total === 0) return undefined
  const rank = quantile * total
  let below = 0
  for (const [i, count] of buckets.entries()) {
    if (below + count < rank || count === 0) {
      below += count
      continue
    }
    const upper = bounds[i] ?? bounds.at(-1)!
    const lower = i === 0 ? 0 : bounds[i - 1]!
    // In full microseconds.
    return Math.round(1_000_000 * (lower + (upper - lower) * ((rank - below) / count))) / 1000
  }
  return 1000 * bounds.at(-1)!
}
