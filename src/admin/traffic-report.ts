/** The numbers of one series of `request_duration_seconds`, by label, with the count of each bucket and the sum of all. */
export interface DurationSeries {
  readonly labels: Readonly<Record<string, string>>
  /** Requests in each bucket, and the sum of their seconds last. */
  readonly cells: ArrayLike<number>
}

/** Requests since the gateway started, as in `/traffic`. */
export interface TrafficReport {
  /** RFC 3339. */
  readonly time: string
  /** When the gateway started. If it differs from that of an earlier report, all counts were reset in between. */
  readonly startTime: string
  /** Time since then by a clock that is never set, so that rates are right. */
  readonly uptimeSeconds: number
  /** Requests and relayed connections in flight. */
  readonly inFlight: number
  /** Upper bounds of the buckets in seconds, without the infinite one. */
  readonly bounds: readonly number[]
  readonly routes: readonly TrafficReportRow[]
  readonly backends: readonly TrafficReportRow[]
}

/** The requests of one route or backend. */
export interface TrafficReportRow {
  /** `<namespace>/<name>`; empty: requests without one. */
  readonly name: string
  readonly requests: number
  /** Of those: with a status from 500, or without a response. */
  readonly errors: number
  /** Of those: with a status from 400 to 499. */
  readonly clientErrors: number
  /** Sum of their durations. */
  readonly seconds: number
  /** Requests by duration: those up to each bound, and the rest. */
  readonly buckets: readonly number[]
}

interface Sum {
  requests: number
  errors: number
  clientErrors: number
  seconds: number
  readonly buckets: number[]
}

/** When a report is made. */
export interface TrafficMoment {
  /** Since the epoch. */
  readonly timeMs: number
  readonly startTimeMs: number
  readonly uptimeMs: number
  readonly inFlight: number
}

/** Sums series by route and by backend. @param bounds of the buckets, without the infinite one */
export function reportTraffic(
  series: Iterable<DurationSeries>,
  bounds: readonly number[],
  { timeMs, startTimeMs, uptimeMs, inFlight }: TrafficMoment,
): TrafficReport {
  const routes = new Map<string, Sum>()
  const backends = new Map<string, Sum>()
  for (const { labels, cells } of series) {
    const { route = '', backend = '', status = '', reason = '' } = labels
    for (const sum of [sumOf(routes, route), sumOf(backends, backend)]) {
      let requests = 0
      for (let i = 0; i <= bounds.length; i++) {
        requests += cells[i]!
        sum.buckets[i] = (sum.buckets[i] ?? 0) + cells[i]!
      }
      sum.requests += requests
      sum.seconds += cells[bounds.length + 1]!
      if (isError(Number(status), reason)) sum.errors += requests
      else if (Number(status) >= 400) sum.clientErrors += requests
    }
  }
  return {
    time: new Date(timeMs).toISOString(),
    startTime: new Date(startTimeMs).toISOString(),
    uptimeSeconds: uptimeMs / 1000,
    inFlight,
    bounds,
    routes: rowsOf(routes),
    backends: rowsOf(backends),
  }
}

/** A relayed connection has no status, and is no error if nothing went wrong. */
function isError(status: number, reason: string): boolean {
  return status >= 500 || ((Number.isNaN(status) || status === 0) && reason !== 'Upstream')
}

function sumOf(sums: Map<string, Sum>, label: string): Sum {
  const name = label === 'unknown' ? '' : label
  const known = sums.get(name)
  if (known !== undefined) return known
  const sum: Sum = { requests: 0, errors: 0, clientErrors: 0, seconds: 0, buckets: [] }
  sums.set(name, sum)
  return sum
}

function rowsOf(sums: ReadonlyMap<string, Sum>): TrafficReportRow[] {
  return [...sums].map(([name, sum]) => ({ name, ...sum })).toSorted((a, b) => b.requests - a.requests)
}
