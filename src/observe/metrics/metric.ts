/** What a metric is; the list of all of them is `metrics.ts`. */
export interface Metric {
  /** Without the prefix `gatewright_`; counters end in `_total`. */
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly labels: readonly string[]
  /** Those of them whose values clients or backends choose. Custom labels always count among these. */
  readonly chosenByPeers?: readonly string[]
  /** Upper bounds of a histogram, ascending; the last, infinite one is implied. */
  readonly buckets?: readonly number[]
}

/** 64-bit cells that one series of a metric takes: a counter or gauge one; a histogram its buckets, the infinite one, and the sum. */
export function cellsOf(metric: Metric): number {
  return metric.type !== 'histogram' ? 1 : metric.buckets!.length + 2
}
