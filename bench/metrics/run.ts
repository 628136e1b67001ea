import { Ended } from '#observe/ended.ts'
import { Exemplar } from '#observe/metrics/exemplar.ts'
import { METRICS } from '#observe/metrics/metrics.ts'
import { MetricsReader } from '#observe/metrics/metrics-reader.ts'
import { MetricsWriter, type Series } from '#observe/metrics/metrics-writer.ts'
import { RequestMetrics } from '#observe/metrics/request-metrics.ts'
import type { MetricsFormat } from '#observe/metrics/write-family.ts'
import { observed } from '#observe/testing.ts'

/**
 * What metrics cost: updates of a counter and a histogram, the metrics of one forwarded request, and scrapes by number of series, before and
 * after traffic. Processor time of one thread, the median of some rounds. Exit status 1 if an update of a counter takes 50 ns or more.
 */

const ROUNDS = 9
const UPDATES = 2_000_000
const COUNTER_BAR_NS = 50
const WORKERS = 2

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!
}

/** Milliseconds of processor time of this thread. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** A round is longer than the ticks in which systems count processor time. */
const ROUND_MS = 100

/** Milliseconds of one run: the median over the rounds, after one that warms up. */
function time(run: () => void): number {
  const warmMs = performance.now()
  run()
  const runs = Math.ceil(ROUND_MS / Math.max(0.01, performance.now() - warmMs))
  return median(
    Array.from({ length: ROUNDS }, () => {
      const startMs = cpuMs()
      for (let i = 0; i < runs; i++) run()
      return (cpuMs() - startMs) / runs
    }),
  )
}

function nsPer(update: (i: number) => void): number {
  return (
    (time(() => {
      for (let i = 0; i < UPDATES; i++) update(i)
    }) *
      1_000_000) /
    UPDATES
  )
}

function startWorkers(): { readonly reader: MetricsReader; readonly writers: readonly MetricsWriter[] } {
  const reader = new MetricsReader({ hide: (text) => text, folded: () => {}, firstFolded: () => {} })
  const writers = Array.from({ length: WORKERS }, (_, i) => new MetricsWriter((update) => reader.add(`w${i}`, update)))
  return { reader, writers }
}

/** As the server for scrapes does. @returns the bytes */
function scrape(reader: MetricsReader, format: MetricsFormat): number {
  return Buffer.from(reader.text([], format)).length
}

const place = (i: number) => ['127.0.0.1:8080', 'default/main', 'http', `default/route-${i}`, 'rule 0']
const requestLabels = (i: number) => [`default/backend-${i}`, 'http', 'GET', '200', 'Upstream', ...place(i)]

const [writer] = startWorkers().writers
const counter = writer!.series('requests', requestLabels(0))
const histogram = writer!.series('duration', requestLabels(0))
const exemplar = new Exemplar({ traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' }, Date.now())
const metrics = new RequestMetrics(writer!)
const request = observed({ noted: { sentMonotonicMs: 10, answeredMonotonicMs: 11, respondedMonotonicMs: 11.1 } })

const counterNs = nsPer(() => counter.add(1))
const updates: readonly (readonly [name: string, ns: number])[] = [
  ['counter', counterNs],
  ['histogram', nsPer((i) => histogram.observe((i % 100) / 100))],
  ['histogram, traced', nsPer((i) => histogram.observe((i % 100) / 100, exemplar))],
  [
    'forwarded request, all of its metrics',
    nsPer((i) => metrics.record(new Ended(request, i, i % 100, undefined), 32)),
  ],
]
console.log('Updates, ns:')
for (const [name, ns] of updates) console.log(`  ${name.padEnd(40)} ${ns.toFixed(1).padStart(8)}`)

console.log(`\nScrapes of ${WORKERS} workers, ms:`)
console.log('  series                      text MB  classic  OpenMetrics  OpenMetrics after 1 million traced updates')
for (const metric of ['requests', 'duration'] as const) {
  for (const count of [100, 1000, 10_000]) {
    const { reader, writers } = startWorkers()
    const series = writers.flatMap((each) =>
      Array.from({ length: count }, (_, i) => each.series(metric, requestLabels(i))),
    )
    const update = (one: Series, value: number) =>
      metric === 'requests' ? one.add(1, exemplar) : one.observe(value, exemplar)
    for (const one of series) update(one, 0.1)
    const classicMs = time(() => scrape(reader, 'classic'))
    const openMs = time(() => scrape(reader, 'openmetrics'))
    for (let i = 0; i < 1_000_000; i++) update(series[i % series.length]!, 0.1)
    const laterMs = time(() => scrape(reader, 'openmetrics'))
    const name = `${count} of a ${METRICS[metric].type}`
    const megabytes = scrape(reader, 'classic') / 1e6
    console.log(
      `  ${name.padEnd(26)} ${megabytes.toFixed(2).padStart(8)} ${classicMs.toFixed(2).padStart(8)} ${openMs.toFixed(2).padStart(12)} ${laterMs.toFixed(2).padStart(12)}`,
    )
  }
}

if (counterNs >= COUNTER_BAR_NS) {
  console.error(`an update of a counter takes ${counterNs.toFixed(1)} ns; the bar is ${COUNTER_BAR_NS}`)
  process.exitCode = 1
}
