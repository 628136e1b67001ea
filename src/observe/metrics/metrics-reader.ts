import { ChosenValues } from './chosen-values.ts'
import { exemplarWords } from './exemplar.ts'
import { cellsOf, exemplarsOf, type Metric } from './metric.ts'
import { type FamilyLabels, type FamilySeries, MetricFamily, type Part, sumCells } from './metric-family.ts'
import { METRICS, type MetricId } from './metrics.ts'
import { type ExemplarsAddress, MAX_SERIES, type MetricsUpdate, type SeriesAddress } from './metrics-writer.ts'
import { type MetricsFormat, writeFamily } from './write-family.ts'

const METRIC_IDS = Object.keys(METRICS) as MetricId[]

/** A value that is read at each scrape. */
export interface Sample {
  readonly metric: MetricId
  readonly values: readonly string[]
  readonly value: number
}

/** The numbers of a running worker. */
interface Running {
  readonly pages: Float64Array<SharedArrayBuffer>[]
  /** In the order in which the worker created them. */
  readonly series: { readonly metric: MetricId; readonly series: FamilySeries; readonly part: Part }[]
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
 * their pages are freed; their gauges and exemplars are forgotten. Each worker bounds its label values and series; here the same bounds apply
 * to the sum. The time of a scrape depends only on the number of series (docs/decisions/0242-metrics.md).
 */
export class MetricsReader {
  readonly #events: MetricsReaderEvents
  readonly #chosen: ChosenValues
  readonly #families = new Map<MetricId, MetricFamily>()
  readonly #running = new Map<string, Running>()

  constructor(events: MetricsReaderEvents) {
    this.#events = events
    this.#chosen = new ChosenValues(events.folded)
  }

  add(worker: string, update: MetricsUpdate): void {
    const running = this.#running.get(worker) ?? { pages: [], series: [] }
    this.#running.set(worker, running)
    if (update.page !== undefined) running.pages.push(new Float64Array(update.page))
    if (update.series !== undefined) this.#addSeries(running, update.series)
    if (update.exemplars !== undefined) addExemplars(running, update.exemplars)
  }

  #addSeries({ pages, series: known }: Running, address: SeriesAddress): void {
    const { metric, values, page, offset } = address
    const family = this.#family(metric)
    if (metric === 'foldedValues' && !family.has(address)) {
      const [label, ...place] = values
      this.#events.firstFolded(label!, place)
    }
    const series = family.take(this.#bounded(family, address))
    const part: Part = { cells: pages[page]!, offset }
    series.parts.add(part)
    known.push({ metric, series, part })
  }

  #family(metric: MetricId): MetricFamily {
    let family = this.#families.get(metric)
    if (family === undefined) {
      family = new MetricFamily(METRICS[metric])
      this.#families.set(metric, family)
    }
    return family
  }

  /** The worker has sent and counted its last numbers. */
  ended(worker: string): void {
    for (const { metric, series, part } of this.#running.get(worker)?.series ?? []) {
      this.#family(metric).end(series, part)
    }
    this.#running.delete(worker)
  }

  /** The labels of a series within the bounds of the scrape (decision A-113). */
  #bounded(family: MetricFamily, { values: given, customNames }: FamilyLabels): FamilyLabels {
    const { metric } = family
    const isChosen = metric.chosenByPeers !== undefined || customNames.length > 0
    const shown = isChosen ? given.map(this.#events.hide) : given
    const values = this.#chosen.fold(metric, shown, customNames)
    const isFull = family.size >= MAX_SERIES && !family.has({ values, customNames })
    return { customNames, values: isFull ? values.map(() => 'overflow') : values }
  }

  /** The series of one metric: their own labels by name, and their numbers. */
  *read(id: MetricId): Generator<{ readonly labels: Readonly<Record<string, string>>; readonly cells: Float64Array }> {
    const { labels }: Metric = METRICS[id]
    for (const series of this.#families.get(id)?.series ?? []) {
      const cells = new Float64Array(cellsOf(METRICS[id]))
      sumCells(cells, series)
      yield { labels: Object.fromEntries(labels.map((name, i) => [name, series.values[i]!])), cells }
    }
  }

  /** All metrics as text. @param samples values of metrics that no worker counts */
  text(samples: readonly Sample[] = [], format: MetricsFormat = 'classic'): string {
    let text = ''
    for (const family of this.families(samples)) text += writeFamily(family, format)
    return format === 'classic' ? text : `${text}# EOF\n`
  }

  /** All metrics that have series. @param samples values of metrics that no worker counts */
  *families(samples: readonly Sample[]): Generator<MetricFamily> {
    const sampled = familiesOf(samples)
    for (const id of METRIC_IDS) {
      const family = this.#families.get(id) ?? sampled.get(id)
      if (family !== undefined && family.size > 0) yield family
    }
  }
}

function addExemplars({ pages, series }: Running, { index, page, offset }: ExemplarsAddress): void {
  const { metric, part } = series[index]!
  part.exemplars = exemplarWords(pages[page]!, offset, exemplarsOf(METRICS[metric]))
}

function familiesOf(samples: readonly Sample[]): ReadonlyMap<MetricId, MetricFamily> {
  const families = new Map<MetricId, MetricFamily>()
  for (const { metric, values, value } of samples) {
    const family = families.get(metric) ?? new MetricFamily(METRICS[metric])
    families.set(metric, family)
    family.take({ values, customNames: [] }).parts.add({ cells: Float64Array.of(value), offset: 0 })
  }
  return families
}
