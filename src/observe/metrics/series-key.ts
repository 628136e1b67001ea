import type { MetricId } from './metrics.ts'

/** What identifies a series. */
export interface SeriesLabels {
  readonly metric: MetricId
  /** Values of the metric's labels, then of custom labels. */
  readonly values: readonly string[]
  readonly customNames: readonly string[]
}

/** Different series never have the same key, whatever characters their values have. */
export function seriesKey({ metric, values, customNames }: SeriesLabels): string {
  return `${metric} ${customNames.length} ${valuesKey(customNames)}${valuesKey(values)}`
}

/** Different lists never have the same key: each value is preceded by its length. */
export function valuesKey(values: readonly string[]): string {
  let key = ''
  for (const value of values) key += `${value.length}:${value}`
  return key
}
