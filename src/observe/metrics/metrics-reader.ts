import { cellsOf, type Metric } from './metric.ts'
import { METRICS, type MetricId } from './metrics.ts'
import type { MetricsNews, SeriesPlace } from './metrics-writer.ts'

const PREFIX = 'gatewright_'

interface Known extends SeriesPlace {
  readonly cells: Float64Array
}

/**
 * Sums the numbers of all workers when somebody scrapes. Pages of workers that have ended stay, so counters never go back.
 */
export class MetricsReader {
  readonly #pages = new Map<string, Float64Array[]>()
  readonly #series: Known[] = []

  hear(worker: string, news: MetricsNews): void {
    let pages = this.#pages.get(worker)
    if (pages === undefined) {
      pages = []
      this.#pages.set(worker, pages)
    }
    if (news.page !== undefined) pages.push(new Float64Array(news.page))
    if (news.series !== undefined) this.#series.push({ ...news.series, cells: pages[news.series.page]! })
  }

  /** Prometheus text, version 0.0.4. */
  text(): string {
    const lines: string[] = []
    for (const id of Object.keys(METRICS) as MetricId[]) {
      const metric: Metric = METRICS[id]
      const sums = this.#sum(id, metric)
      if (sums.length === 0) continue
      lines.push(`# HELP ${PREFIX}${metric.name} ${metric.help}`, `# TYPE ${PREFIX}${metric.name} ${metric.type}`)
      for (const { labels, cells } of sums) writeSeries(lines, metric, labels, cells)
    }
    return `${lines.join('\n')}\n`
  }

  #sum(id: MetricId, metric: Metric): { labels: string; cells: Float64Array }[] {
    const known = this.#series.filter((series) => series.metric === id)
    // All series of a metric carry the same label names: the union over Gateways (decision A-113).
    const custom = [...new Set(known.flatMap((series) => series.customNames))].sort()
    const sums = new Map<string, { labels: string; cells: Float64Array }>()
    const size = cellsOf(metric)
    for (const series of known) {
      const labels = formatLabels(metric, custom, series)
      let sum = sums.get(labels)
      if (sum === undefined) {
        sum = { labels, cells: new Float64Array(size) }
        sums.set(labels, sum)
      }
      for (let i = 0; i < size; i++) sum.cells[i]! += series.cells[series.offset + i]!
    }
    return [...sums.values()]
  }
}

function writeSeries(lines: string[], metric: Metric, labels: string, cells: Float64Array): void {
  const name = PREFIX + metric.name
  if (metric.type === 'counter') {
    lines.push(`${name}{${labels}} ${cells[0]}`)
    return
  }
  const buckets = metric.buckets!
  let count = 0
  for (let i = 0; i <= buckets.length; i++) {
    count += cells[i]!
    lines.push(`${name}_bucket{${labels},le="${i < buckets.length ? buckets[i] : '+Inf'}"} ${count}`)
  }
  lines.push(`${name}_sum{${labels}} ${cells[buckets.length + 1]}`, `${name}_count{${labels}} ${count}`)
}

function formatLabels(metric: Metric, custom: readonly string[], series: SeriesPlace): string {
  const builtIn = metric.labels.map((name, i) => label(name, series.values[i]!))
  const added = custom.map((name) => {
    const at = series.customNames.indexOf(name)
    return label(name, at < 0 ? 'unknown' : series.values[metric.labels.length + at]!)
  })
  return [...builtIn, ...added].join(',')
}

function label(name: string, value: string): string {
  const escaped = value.replace(/[\\"\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`))
  return `${name}="${escaped}"`
}
