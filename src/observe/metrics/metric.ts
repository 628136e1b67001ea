/** The definition of a metric; `metrics.ts` lists all metrics. */
export interface Metric {
  /** Without the prefix; counters end in `_total`, and an info in `_info`. */
  readonly name: string
  /** `process` for the metrics that the client libraries of Prometheus have; the default is `gatewright`. */
  readonly prefix?: 'process' | 'gatewright'
  readonly help: string
  /** An info is always 1. In the classic text format it is a gauge. */
  readonly type: 'counter' | 'gauge' | 'histogram' | 'info'
  readonly labels: readonly string[]
  /** The series of a worker that has ended are forgotten: they are about the worker itself. Those of gauges always are. */
  readonly endsWithWorker?: true
  /** It also has the custom labels of the listener (decision A-113). */
  readonly hasCustomLabels?: true
  /** Labels whose values clients or backends choose. Custom labels always count among these. */
  readonly chosenByPeers?: readonly string[]
  /** Upper bounds of a histogram, ascending, without the last, infinite one. */
  readonly buckets?: readonly number[]
}

export function fullName({ prefix = 'gatewright', name }: Metric): string {
  return `${prefix}_${name}`
}

/**
 * Number of 64-bit cells in a series of a metric. A counter or gauge has one; a histogram has its buckets, the infinite one, and the sum.
 */
export function cellsOf(metric: Metric): number {
  return metric.type !== 'histogram' ? 1 : metric.buckets!.length + 2
}

/** Number of exemplars of a series: one for each bucket, the infinite one included, or for the counter. */
export function exemplarsOf(metric: Metric): number {
  return metric.type !== 'histogram' ? 1 : metric.buckets!.length + 1
}
