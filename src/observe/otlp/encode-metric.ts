import { Writer } from '#base/protobuf/writer.ts'
import type { ReadExemplar } from '../metrics/exemplar.ts'
import { cellsOf } from '../metrics/metric.ts'
import { type FamilySeries, type MetricFamily, newestExemplar, sumCells } from '../metrics/metric-family.ts'
import { familyName, unitOf } from '../metrics/write-family.ts'
import { writeAttribute } from './write-attribute.ts'
import { writeTime } from './write-time.ts'

// Messages of OTLP (opentelemetry/proto/metrics/v1/metrics.proto): tags of their fields.
const METRIC = { name: 0x0a, description: 0x12, unit: 0x1a, gauge: 0x2a, sum: 0x3a, histogram: 0x4a }
/** The same in `Gauge`, `Sum` and `Histogram`. */
const POINTS = 0x0a
const TEMPORALITY = 0x10
const CUMULATIVE = 2
const MONOTONIC = 0x18
/** The same in both kinds of points. */
const START = 0x11
const TIME = 0x19
const NUMBER = { value: 0x21, exemplars: 0x2a, attributes: 0x3a }
const HISTOGRAM = { count: 0x21, sum: 0x29, counts: 0x32, bounds: 0x3a, exemplars: 0x42, attributes: 0x4a }
const EXEMPLAR = { time: 0x11, value: 0x19, spanId: 0x22, traceId: 0x2a }

const HALF = 2 ** 32
/** Units of the Unified Code for Units of Measure, as OpenTelemetry writes them. */
const UNITS = { seconds: 's', bytes: 'By' } as const

/** When the counts began, and the time of the export; both since the epoch. */
export interface CountedTime {
  readonly startMs: number
  readonly nowMs: number
}

/** All series of a metric as message `Metric`, cumulative since the start. An info is a gauge. */
export function encodeMetric(family: MetricFamily, time: CountedTime): Uint8Array {
  const { metric } = family
  const out = new Writer()
  out.varint(METRIC.name)
  out.text(familyName(metric))
  out.varint(METRIC.description)
  out.text(metric.help)
  const unit = unitOf(metric)
  if (unit !== undefined) {
    out.varint(METRIC.unit)
    out.text(UNITS[unit])
  }
  const isSum = metric.type === 'counter'
  const isHistogram = metric.type === 'histogram'
  out.varint(isSum ? METRIC.sum : isHistogram ? METRIC.histogram : METRIC.gauge)
  const data = out.begin()
  const cells = new Float64Array(cellsOf(metric))
  for (const series of family.series) {
    sumCells(cells, series)
    out.varint(POINTS)
    const point = out.begin()
    if (metric.type !== 'gauge' && metric.type !== 'info') writeTime(out, START, time.startMs)
    writeTime(out, TIME, time.nowMs)
    if (isHistogram) writeHistogram(out, family, series, cells)
    else writeNumber(out, family, series, cells[0]!)
    out.end(point)
  }
  if (isSum || isHistogram) {
    out.varint(TEMPORALITY)
    out.varint(CUMULATIVE)
  }
  if (isSum) {
    out.varint(MONOTONIC)
    out.varint(1)
  }
  out.end(data)
  return out.written.slice()
}

function writeNumber(out: Writer, family: MetricFamily, series: FamilySeries, value: number): void {
  out.varint(NUMBER.value)
  out.double(value)
  writeLabels(out, NUMBER.attributes, family, series)
  if (family.metric.type === 'counter') writeExemplar(out, NUMBER.exemplars, newestExemplar(series, 0))
}

/** @param cells the counts of the buckets, and the sum */
function writeHistogram(out: Writer, family: MetricFamily, series: FamilySeries, cells: Float64Array): void {
  const bounds = family.metric.buckets!
  const counts = cells.subarray(0, bounds.length + 1)
  out.varint(HISTOGRAM.count)
  writeCount(
    out,
    counts.reduce((sum, count) => sum + count, 0),
  )
  out.varint(HISTOGRAM.sum)
  out.double(cells[bounds.length + 1]!)
  out.varint(HISTOGRAM.counts)
  const ofCounts = out.begin()
  for (const count of counts) writeCount(out, count)
  out.end(ofCounts)
  out.varint(HISTOGRAM.bounds)
  const ofBounds = out.begin()
  for (const bound of bounds) out.double(bound)
  out.end(ofBounds)
  writeLabels(out, HISTOGRAM.attributes, family, series)
  for (let slot = 0; slot < counts.length; slot++) {
    writeExemplar(out, HISTOGRAM.exemplars, newestExemplar(series, slot))
  }
}

function writeCount(out: Writer, count: number): void {
  out.fixed64(count % HALF, Math.floor(count / HALF))
}

function writeLabels(out: Writer, tag: number, { metric }: MetricFamily, { values, customNames }: FamilySeries): void {
  const names = [...metric.labels, ...customNames]
  for (const [index, name] of names.entries()) writeAttribute(out, tag, name, values[index]!)
}

function writeExemplar(out: Writer, tag: number, exemplar: ReadExemplar | undefined): void {
  if (exemplar === undefined) return
  out.varint(tag)
  const start = out.begin()
  writeTime(out, EXEMPLAR.time, exemplar.timeMs)
  out.varint(EXEMPLAR.value)
  out.double(exemplar.value)
  out.varint(EXEMPLAR.spanId)
  out.hex(exemplar.spanId)
  out.varint(EXEMPLAR.traceId)
  out.hex(exemplar.traceId)
  out.end(start)
}
