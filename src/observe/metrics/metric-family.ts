import { type ReadExemplar, readExemplar } from './exemplar.ts'
import { cellsOf, type Metric } from './metric.ts'

/** The labels of a series. */
export interface FamilyLabels {
  /** Values of the metric's labels, then of custom labels. */
  readonly values: readonly string[]
  readonly customNames: readonly string[]
}

/** The numbers of a series in the memory of one worker. */
export interface Part {
  readonly cells: Float64Array
  readonly offset: number
  /** Set when its first exemplar is written. */
  exemplars?: Int32Array
}

/** One series, summed over all workers. */
export interface FamilySeries extends FamilyLabels {
  /** All labels as both text formats write them. */
  labels: string
  /** Counts of ended workers. */
  ended: Float64Array | undefined
  readonly parts: Set<Part>
}

/** All series of one metric. Their labels are formatted once, so a scrape only sums and writes numbers. */
export class MetricFamily {
  readonly metric: Metric
  readonly #series = new Map<string, FamilySeries>()
  /** All series of a metric have the same label names: the union over Gateways (decision A-113). */
  #customNames: readonly string[] = []

  constructor(metric: Metric) {
    this.metric = metric
  }

  get size(): number {
    return this.#series.size
  }

  get series(): Iterable<FamilySeries> {
    return this.#series.values()
  }

  has(labels: FamilyLabels): boolean {
    return this.#series.has(formatLabels(this.metric, this.#customNames, labels))
  }

  /** @returns the series with these labels, which is created if it is new */
  take({ values, customNames }: FamilyLabels): FamilySeries {
    if (customNames.some((name) => !this.#customNames.includes(name))) this.#addNames(customNames)
    const labels = formatLabels(this.metric, this.#customNames, { values, customNames })
    let series = this.#series.get(labels)
    if (series === undefined) {
      series = { values, customNames, labels, ended: undefined, parts: new Set() }
      this.#series.set(labels, series)
    }
    return series
  }

  /** The worker of this part has ended. What all workers count together keeps its counts, so that it never decreases. */
  end(series: FamilySeries, part: Part): void {
    series.parts.delete(part)
    if (this.metric.type !== 'gauge' && this.metric.endsWithWorker !== true) {
      series.ended ??= new Float64Array(cellsOf(this.metric))
      addCells(series.ended, part)
    } else if (series.parts.size === 0) this.#series.delete(series.labels)
  }

  /** New names do not merge series: those that were equal get the same value. */
  #addNames(names: readonly string[]): void {
    this.#customNames = [...new Set([...this.#customNames, ...names])].sort()
    const all = [...this.#series.values()]
    this.#series.clear()
    for (const series of all) {
      series.labels = formatLabels(this.metric, this.#customNames, series)
      this.#series.set(series.labels, series)
    }
  }
}

/** Writes the sum over all workers into `sum`, which has the cells of the metric. */
export function sumCells(sum: Float64Array, { ended, parts }: FamilySeries): void {
  if (ended === undefined) sum.fill(0)
  else sum.set(ended)
  for (const part of parts) addCells(sum, part)
}

/** @param slot index of the bucket; 0 for a counter. @returns the newest exemplar of all running workers */
export function newestExemplar({ parts }: FamilySeries, slot: number): ReadExemplar | undefined {
  let newest: ReadExemplar | undefined
  for (const { exemplars } of parts) {
    const newer = exemplars && readExemplar(exemplars, slot, newest?.timeMs)
    newest = newer ?? newest
  }
  return newest
}

function addCells(sum: Float64Array, { cells, offset }: Part): void {
  for (let i = 0; i < sum.length; i++) sum[i]! += cells[offset + i]!
}

function formatLabels(metric: Metric, custom: readonly string[], { values, customNames }: FamilyLabels): string {
  const builtIn = metric.labels.map((name, i) => label(name, values[i]!))
  const added = custom.map((name) => {
    const at = customNames.indexOf(name)
    return label(name, at < 0 ? 'unknown' : values[metric.labels.length + at]!)
  })
  return [...builtIn, ...added].join(',')
}

function label(name: string, value: string): string {
  const escaped = value.replace(/[\\"\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`))
  return `${name}="${escaped}"`
}
