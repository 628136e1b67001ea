import { ChosenValues } from './chosen-values.ts'
import { cellsOf, fullName, type Metric } from './metric.ts'
import { METRICS, type MetricId } from './metrics.ts'
import { MAX_SERIES, type MetricsUpdate, type SeriesAddress } from './metrics-writer.ts'
import { seriesKey } from './series-key.ts'

/** The numbers of a series, and the labels with which they are shown. */
interface Known extends Omit<SeriesAddress, 'page'> {
  readonly cells: Float64Array
}

/** A value that is read at each scrape. */
export interface Sample {
  readonly metric: MetricId
  readonly values: readonly string[]
  readonly value: number
}

/** The numbers of a running worker. */
interface Running {
  readonly pages: Float64Array[]
  readonly series: Known[]
}

export interface MetricsReaderEvents {
  /** Removes secrets from values that peers choose. */
  hide(text: string): string
  /** A value that has its own series in a worker is counted as `other`, because all workers together have too many. */
  folded(label: string, place: readonly string[]): void
  /** The same, in a worker or here, for the first time at this place. */
  firstFolded(label: string, place: readonly string[]): void
}

/**
 * Sums the numbers of all workers at each scrape. The counts of ended workers are kept in one sum, so that counters never decrease, and
 * their pages are freed; their gauges are forgotten. Each worker bounds its label values and series; here the same bounds apply to the sum.
 */
export class MetricsReader {
  readonly #events: MetricsReaderEvents
  readonly #chosen: ChosenValues
  readonly #labelSets = new Map<MetricId, Set<string>>()
  readonly #running = new Map<string, Running>()
  /** The sums of all ended workers, by metric and labels. */
  readonly #ended = new Map<string, Known>()

  constructor(events: MetricsReaderEvents) {
    this.#events = events
    this.#chosen = new ChosenValues(events.folded)
  }

  add(worker: string, update: MetricsUpdate): void {
    const running = this.#running.get(worker) ?? { pages: [], series: [] }
    this.#running.set(worker, running)
    const { pages } = running
    if (update.page !== undefined) pages.push(new Float64Array(update.page))
    if (update.series === undefined) return
    const { metric, values } = update.series
    if (metric === 'foldedValues' && !this.#labelSets.get(metric)?.has(seriesKey(update.series))) {
      const [label, ...place] = values
      this.#events.firstFolded(label!, place)
    }
    const { customNames, page, offset } = update.series
    running.series.push({ metric, customNames, offset, values: this.#bounded(update.series), cells: pages[page]! })
  }

  /** The worker has sent and counted its last numbers. */
  ended(worker: string): void {
    for (const series of this.#running.get(worker)?.series ?? []) {
      const { metric, values, customNames } = series
      if (METRICS[metric].type === 'gauge') continue
      const key = seriesKey(series)
      const size = cellsOf(METRICS[metric])
      const sum = this.#ended.get(key) ?? { metric, values, customNames, offset: 0, cells: new Float64Array(size) }
      this.#ended.set(key, sum)
      addCells(sum.cells, series)
    }
    this.#running.delete(worker)
  }

  /** The values of a series within the bounds of the scrape (decision A-113). */
  #bounded(series: SeriesAddress): readonly string[] {
    const { metric, customNames } = series
    const info: Metric = METRICS[metric]
    const isChosen = info.chosenByPeers !== undefined || customNames.length > 0
    const shown = isChosen ? series.values.map(this.#events.hide) : series.values
    const values = this.#chosen.fold(info, shown, customNames)
    const key = seriesKey({ metric, values, customNames })
    const known = this.#labelSets.get(metric) ?? new Set()
    this.#labelSets.set(metric, known)
    if (!known.has(key) && known.size >= MAX_SERIES) return values.map(() => 'overflow')
    known.add(key)
    return values
  }

  /** The series of one metric: their own labels by name, and their numbers. Series with the same labels may come several times. */
  *read(id: MetricId): Generator<{ readonly labels: Readonly<Record<string, string>>; readonly cells: Float64Array }> {
    const { labels }: Metric = METRICS[id]
    const size = cellsOf(METRICS[id])
    for (const known of [this.#ended.values(), ...[...this.#running.values()].map(({ series }) => series)]) {
      for (const { metric, values, offset, cells } of known) {
        if (metric !== id) continue
        const named = Object.fromEntries(labels.map((name, i) => [name, values[i]!]))
        yield { labels: named, cells: cells.subarray(offset, offset + size) }
      }
    }
  }

  /** Prometheus text, version 0.0.4. @param samples values of metrics that no worker counts */
  text(samples: readonly Sample[] = []): string {
    const lines: string[] = []
    const known = [
      ...this.#ended.values(),
      ...[...this.#running.values()].flatMap(({ series }) => series),
      ...samples.map(asSeries),
    ]
    for (const id of Object.keys(METRICS) as MetricId[]) {
      const metric: Metric = METRICS[id]
      const sums = sumByLabels(
        known.filter((series) => series.metric === id),
        metric,
      )
      if (sums.length === 0) continue
      const name = fullName(metric)
      lines.push(`# HELP ${name} ${metric.help}`, `# TYPE ${name} ${metric.type}`)
      for (const { labels, cells } of sums) writeSeries(lines, metric, labels, cells)
    }
    return `${lines.join('\n')}\n`
  }
}

function asSeries({ metric, values, value }: Sample): Known {
  return { metric, values, customNames: [], offset: 0, cells: Float64Array.of(value) }
}

function sumByLabels(series: readonly Known[], metric: Metric): { labels: string; cells: Float64Array }[] {
  // All series of a metric have the same label names: the union over Gateways (decision A-113).
  const custom = [...new Set(series.flatMap(({ customNames }) => customNames))].sort()
  const sums = new Map<string, { labels: string; cells: Float64Array }>()
  for (const one of series) {
    const labels = formatLabels(metric, custom, one)
    const sum = sums.get(labels) ?? { labels, cells: new Float64Array(cellsOf(metric)) }
    sums.set(labels, sum)
    addCells(sum.cells, one)
  }
  return [...sums.values()]
}

function addCells(sum: Float64Array, { cells, offset }: Known): void {
  for (let i = 0; i < sum.length; i++) sum[i]! += cells[offset + i]!
}

function writeSeries(lines: string[], metric: Metric, labels: string, cells: Float64Array): void {
  const name = fullName(metric)
  if (metric.type !== 'histogram') {
    lines.push(`${name}${labels === '' ? '' : `{${labels}}`} ${cells[0]}`)
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

function formatLabels(metric: Metric, custom: readonly string[], series: Known): string {
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
