/** The measurements of the clients. */
export interface LoadResult {
  readonly count: number
  readonly perSecond: number
  readonly p50Us: number
  readonly p99Us: number
  readonly errors: number
  /** CPU time of the load generator. */
  readonly cpuNs: number
}
