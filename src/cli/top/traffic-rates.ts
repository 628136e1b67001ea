import type { TrafficReport, TrafficReportRow } from '#admin/traffic-report.ts'

/** What happened between two reports. */
export interface TrafficRates {
  readonly time: string
  readonly seconds: number
  readonly inFlight: number
  readonly routes: readonly RateRow[]
  readonly backends: readonly RateRow[]
  /** The pods whose requests these are; undefined: there is only one gateway. */
  readonly pods?: readonly string[]
}

/** Two reports of one gateway. */
export interface ReportPair {
  readonly before: TrafficReport
  readonly after: TrafficReport
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
 * Rates between two reports of one gateway, or of all pods together; those with the most requests first.
 * @returns undefined: all were restarted between them, so they count from different times
 */
export function trafficRates(pairs: readonly ReportPair[]): TrafficRates | undefined {
  const same = pairs.filter(({ before, after }) => before.startTime === after.startTime)
  const [first] = same
  if (first === undefined) return undefined
  const { time, bounds } = first.after
  const rowsOf = (kind: 'routes' | 'backends') => {
    const deltas = Map.groupBy(
      same.flatMap((pair) => deltasOf(pair, kind)),
      ({ name }) => name,
    )
    return [...deltas].map(([name, each]) => rateOf(name, each, bounds)).toSorted((a, b) => b.perSecond - a.perSecond)
  }
  return {
    time,
    seconds: secondsBetween(first),
    inFlight: same.reduce((sum, { after }) => sum + after.inFlight, 0),
    routes: rowsOf('routes'),
    backends: rowsOf('backends'),
  }
}

/** What one gateway did for a route or backend in the time between its reports. */
interface Delta extends Omit<TrafficReportRow, 'seconds'> {
  readonly perSecond: number
}

function secondsBetween({ before, after }: ReportPair): number {
  return Math.max(after.uptimeSeconds - before.uptimeSeconds, 0.001)
}

function deltasOf(pair: ReportPair, kind: 'routes' | 'backends'): readonly Delta[] {
  const known = new Map(pair.before[kind].map((row) => [row.name, row]))
  return pair.after[kind].map((row) => {
    const past = known.get(row.name)
    const requests = row.requests - (past?.requests ?? 0)
    return {
      name: row.name,
      requests,
      errors: row.errors - (past?.errors ?? 0),
      clientErrors: row.clientErrors - (past?.clientErrors ?? 0),
      buckets: row.buckets.map((count, i) => count - (past?.buckets[i] ?? 0)),
      perSecond: requests / secondsBetween(pair),
    }
  })
}

function rateOf(name: string, deltas: readonly Delta[], bounds: readonly number[]): RateRow {
  const sum = (of: (delta: Delta) => number) => deltas.reduce((total, delta) => total + of(delta), 0)
  const requests = sum((delta) => delta.requests)
  const buckets = deltas[0]!.buckets.map((_, i) => sum((delta) => delta.buckets[i] ?? 0))
  const ratio = (count: 'errors' | 'clientErrors') => (requests === 0 ? 0 : sum((delta) => delta[count]) / requests)
  return {
    name,
    perSecond: sum((delta) => delta.perSecond),
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
