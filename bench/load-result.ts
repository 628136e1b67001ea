/** What the clients saw. */
export interface LoadResult {
  readonly count: number
  readonly perSecond: number
  readonly p50Us: number
  readonly p99Us: number
  readonly errors: number
  /** CPU time that the load itself took. */
  readonly cpuNs: number
}
