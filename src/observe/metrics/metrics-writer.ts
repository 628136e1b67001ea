import { cutText } from '#base/cut-text.ts'
import { ChosenValues } from './chosen-values.ts'
import { EXEMPLAR_CELLS, type Exemplar, exemplarWords } from './exemplar.ts'
import { cellsOf, exemplarsOf, type Metric } from './metric.ts'
import { METRICS, type MetricId } from './metrics.ts'
import { type SeriesLabels, seriesKey } from './series-key.ts'

const PAGE_CELLS = 8192
/** Further series of a metric share one series with the label value `overflow` (decision A-113). */
export const MAX_SERIES = 10_000
const OVERFLOW = 'overflow'
/** Longer label values are truncated: clients choose some of them (names of models and tools, headers). */
const MAX_VALUE_LENGTH = 256

/** A new page or series of a worker, for the reader in the main thread. */
export interface MetricsUpdate {
  /** A new page of cells; pages are numbered from 0 in order of arrival. */
  readonly page?: SharedArrayBuffer
  readonly series?: SeriesAddress
  readonly exemplars?: ExemplarsAddress
}

export interface SeriesAddress extends SeriesLabels {
  readonly page: number
  readonly offset: number
}

/** Where the exemplars of a series are; it has them from its first traced request on. */
export interface ExemplarsAddress {
  /** Of the series, among those of the worker in order of arrival. */
  readonly index: number
  readonly page: number
  readonly offset: number
}

/** One series. Adding to it is one or two array writes in memory that only this worker writes. */
export class Series {
  readonly #cells: Float64Array<SharedArrayBuffer>
  readonly #offset: number
  readonly #buckets: readonly number[] | undefined
  readonly #createExemplars: () => Int32Array
  #exemplars: Int32Array | undefined

  constructor(
    cells: Float64Array<SharedArrayBuffer>,
    offset: number,
    { buckets }: Metric,
    createExemplars: () => Int32Array,
  ) {
    this.#cells = cells
    this.#offset = offset
    this.#buckets = buckets
    this.#createExemplars = createExemplars
  }

  /** Counters. @param exemplar set if the request is traced */
  add(amount: number, exemplar?: Exemplar): void {
    this.#cells[this.#offset]! += amount
    if (exemplar !== undefined) this.#keep(exemplar, 0, amount)
  }

  /** Gauges; only one thread may write each of them. */
  set(value: number): void {
    this.#cells[this.#offset] = value
  }

  /** Histograms. @param exemplar set if the request is traced */
  observe(value: number, exemplar?: Exemplar): void {
    const buckets = this.#buckets!
    let bucket = 0
    while (bucket < buckets.length && value > buckets[bucket]!) bucket++
    this.#cells[this.#offset + bucket]! += 1
    this.#cells[this.#offset + buckets.length + 1]! += value
    if (exemplar !== undefined) this.#keep(exemplar, bucket, value)
  }

  #keep(exemplar: Exemplar, slot: number, value: number): void {
    this.#exemplars ??= this.#createExemplars()
    exemplar.write(this.#exemplars, slot, value)
  }
}

/** Creates the series of one worker. Look up a series once and keep it: the hot path only adds. */
export class MetricsWriter {
  readonly #publish: (update: MetricsUpdate) => void
  readonly #series = new Map<string, Series>()
  /** Most requests need the same series of a metric as the request before: comparing its values costs less than forming its key. */
  readonly #latest = new Map<MetricId, Latest>()
  readonly #chosen = new ChosenValues((label, place) => this.series('foldedValues', [label, ...place]).add(1))
  readonly #counts = new Map<MetricId, number>()
  #cells = new Float64Array(new SharedArrayBuffer(0))
  #page = -1
  #used = 0
  /** Number of series. */
  #created = 0

  constructor(publish: (update: MetricsUpdate) => void) {
    this.#publish = publish
  }

  series(metric: MetricId, values: readonly string[], customNames: readonly string[] = []): Series {
    const latest = this.#latest.get(metric)
    if (latest !== undefined && isSame(latest.values, values) && isSame(latest.customNames, customNames)) {
      return latest.series
    }
    if (values.some(isLong)) return this.series(metric, values.map(cutShort), customNames)
    const key = seriesKey({ metric, values, customNames })
    let series = this.#series.get(key)
    if (series === undefined) {
      // Each folded value counts, so the series is not the latest one of these values.
      const folded = this.#fold(metric, values, customNames)
      if (folded !== values) return this.series(metric, folded, customNames)
      this.#counts.set(metric, (this.#counts.get(metric) ?? 0) + 1)
      series = this.#create(metric, values, customNames)
      this.#series.set(key, series)
    }
    this.#latest.set(metric, { values, customNames, series })
    return series
  }

  /** @returns the same array if the values may have a series of their own */
  #fold(metric: MetricId, values: readonly string[], customNames: readonly string[]): readonly string[] {
    const folded = this.#chosen.fold(METRICS[metric], values, customNames)
    if (folded !== values || (this.#counts.get(metric) ?? 0) < MAX_SERIES || values.every(isOverflow)) return folded
    // Replaces all values, because a client may have chosen any of them.
    return values.map(() => OVERFLOW)
  }

  #create(id: MetricId, values: readonly string[], customNames: readonly string[]): Series {
    const metric: Metric = METRICS[id]
    const offset = this.#allocate(cellsOf(metric))
    const index = this.#created++
    this.#publish({ series: { metric: id, values, customNames, page: this.#page, offset } })
    return new Series(this.#cells, offset, metric, () => this.#createExemplars(index, metric))
  }

  #createExemplars(index: number, metric: Metric): Int32Array {
    const count = exemplarsOf(metric)
    const offset = this.#allocate(count * EXEMPLAR_CELLS)
    this.#publish({ exemplars: { index, page: this.#page, offset } })
    return exemplarWords(this.#cells, offset, count)
  }

  /** @returns the offset of free cells in the current page */
  #allocate(size: number): number {
    if (this.#used + size > this.#cells.length) {
      const page = new SharedArrayBuffer(PAGE_CELLS * Float64Array.BYTES_PER_ELEMENT)
      this.#cells = new Float64Array(page)
      this.#page++
      this.#used = 0
      this.#publish({ page })
    }
    const offset = this.#used
    this.#used += size
    return offset
  }
}

interface Latest {
  readonly values: readonly string[]
  readonly customNames: readonly string[]
  readonly series: Series
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  if (some === others) return true
  if (some.length !== others.length) return false
  for (let at = 0; at < some.length; at++) if (some[at] !== others[at]) return false
  return true
}

function isOverflow(value: string): boolean {
  return value === OVERFLOW
}

function isLong(value: string): boolean {
  return value.length > MAX_VALUE_LENGTH
}

function cutShort(value: string): string {
  return cutText(value, MAX_VALUE_LENGTH)
}
