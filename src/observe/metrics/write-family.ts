import { cellsOf, fullName, type Metric } from './metric.ts'
import { type FamilySeries, type MetricFamily, newestExemplar, sumCells } from './metric-family.ts'

/** `classic`: the Prometheus text format, version 0.0.4. `openmetrics`: OpenMetrics 1.0, which has units and exemplars. */
export type MetricsFormat = 'classic' | 'openmetrics'

/** Units that names of metrics end in, before the suffix of their type. */
const UNITS = ['seconds', 'bytes'] as const

/** The text of all series of a metric, with its description. */
export function writeFamily(family: MetricFamily, format: MetricsFormat): string {
  const { metric } = family
  let text = format === 'classic' ? describeClassic(metric) : describeOpen(metric)
  const sum = new Float64Array(cellsOf(metric))
  const writeSeries = metric.type === 'histogram' ? writeHistogram : writeNumber
  for (const series of family.series) {
    sumCells(sum, series)
    text += writeSeries(metric, series, sum, format)
  }
  return text
}

function describeClassic(metric: Metric): string {
  const name = fullName(metric)
  const type = metric.type === 'info' ? 'gauge' : metric.type
  return `# HELP ${name} ${metric.help}\n# TYPE ${name} ${type}\n`
}

function describeOpen(metric: Metric): string {
  const name = familyName(metric)
  const unit = unitOf(metric)
  const lines = `# TYPE ${name} ${metric.type}\n# HELP ${name} ${metric.help}\n`
  return unit === undefined ? lines : `${lines}# UNIT ${name} ${unit}\n`
}

export function unitOf(metric: Metric): (typeof UNITS)[number] | undefined {
  const name = familyName(metric)
  return UNITS.find((known) => name.endsWith(`_${known}`))
}

/** The name of a metric without the suffix of its type, which only its samples have. */
export function familyName(metric: Metric): string {
  return fullName(metric).replace(/_(?:total|info)$/, '')
}

function writeNumber(metric: Metric, series: FamilySeries, sum: Float64Array, format: MetricsFormat): string {
  const { labels } = series
  const exemplar = metric.type === 'counter' && format === 'openmetrics' ? exemplarText(series, 0) : ''
  return `${fullName(metric)}${labels === '' ? '' : `{${labels}}`} ${sum[0]}${exemplar}\n`
}

/** Each histogram has labels. */
function writeHistogram(metric: Metric, series: FamilySeries, sum: Float64Array, format: MetricsFormat): string {
  const name = fullName(metric)
  const bounds = metric.buckets!
  const { labels } = series
  const start = `${name}_bucket{${labels},le="`
  const isOpen = format === 'openmetrics'
  let text = ''
  let count = 0
  for (let i = 0; i <= bounds.length; i++) {
    count += sum[i]!
    const bound = i === bounds.length ? '+Inf' : isOpen ? canonical(bounds[i]!) : bounds[i]
    text += `${start}${bound}"} ${count}${isOpen ? exemplarText(series, i) : ''}\n`
  }
  return `${text}${name}_sum{${labels}} ${sum[bounds.length + 1]}\n${name}_count{${labels}} ${count}\n`
}

function exemplarText(series: FamilySeries, slot: number): string {
  const exemplar = newestExemplar(series, slot)
  if (exemplar === undefined) return ''
  const { traceId, spanId, value, timeMs } = exemplar
  return ` # {trace_id="${traceId}",span_id="${spanId}"} ${value} ${(timeMs / 1000).toFixed(3)}`
}

/** A bound as OpenMetrics 1.0 wants it ("Considerations: Canonical Numbers"): `1.0`, `5e-05`, `1.048576e+06`. */
function canonical(bound: number): string {
  const [digits, exponent] = bound.toExponential().split('e') as [string, string]
  const power = Number(exponent)
  if (power >= -4 && power < 6) return Number.isInteger(bound) ? `${bound}.0` : `${bound}`
  return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`
}
