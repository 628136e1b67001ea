import { expect, test } from 'vitest'
import { decodeOfficial } from '#test/support/otlp-definitions.ts'
import { Exemplar } from '../metrics/exemplar.ts'
import { workers } from '../metrics/testing.ts'
import { encodeMetric } from './encode-metric.ts'

const TIME = { startMs: 1_000_000, nowMs: 1_060_000.5 }
const START = '1000000000000'
const NOW = '1060000500000'
const EXEMPLAR = new Exemplar({ traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' }, 5000)

/** What a server reads, in the JSON form of protobuf. */
function read(reader: ReturnType<typeof workers>['reader'], name: string) {
  const all = [...reader.families([])].map((family) =>
    decodeOfficial('opentelemetry.proto.metrics.v1.Metric', encodeMetric(family, TIME)),
  )
  return all.find((metric) => metric.name === `gatewright_${name}`)
}

const text = (key: string, value: string) => ({ key, value: { stringValue: value } })

test('a counter of several workers is a cumulative sum, with the newest exemplar', () => {
  const { reader, writers } = workers(2)
  writers[0].series('retries', ['b', 'HTTP', 'GET', '200', '', 'x', 'g', 'l', 'r', '0']).add(2)
  writers[1]!.series('retries', ['b', 'HTTP', 'GET', '200', '', 'x', 'g', 'l', 'r', '0']).add(3, EXEMPLAR)
  const metric = read(reader, 'retries')
  expect(metric).toMatchObject({ description: 'Attempts after the first one.' })
  expect(metric).not.toHaveProperty('unit')
  expect(metric).toMatchObject({
    sum: {
      aggregationTemporality: 'AGGREGATION_TEMPORALITY_CUMULATIVE',
      isMonotonic: true,
      dataPoints: [
        {
          startTimeUnixNano: START,
          timeUnixNano: NOW,
          asDouble: 5,
          attributes: expect.arrayContaining([text('backend', 'b'), text('status', '200'), text('route', 'r')]),
          exemplars: [
            {
              timeUnixNano: '5000000000',
              asDouble: 3,
              traceId: Buffer.from('0af7651916cd43dd8448eb211c80319c', 'hex').toString('base64'),
              spanId: Buffer.from('b7ad6b7169203331', 'hex').toString('base64'),
            },
          ],
        },
      ],
    },
  })
})

test('a histogram has its buckets, its bounds, its sum and its unit', () => {
  const { reader, writers } = workers(1)
  const series = writers[0].series('upstreamConnects', ['tls'])
  series.observe(0.0001)
  series.observe(1e9, EXEMPLAR)
  const metric = read(reader, 'upstream_connect_duration_seconds')
  expect(metric).toMatchObject({ unit: 's' })
  const [point] = (metric!.histogram as { dataPoints: Record<string, unknown>[] }).dataPoints
  const counts = point!.bucketCounts as string[]
  const bounds = point!.explicitBounds as number[]
  expect(point).toMatchObject({
    startTimeUnixNano: START,
    timeUnixNano: NOW,
    count: '2',
    sum: 1e9 + 0.0001,
    attributes: [text('transport', 'tls')],
    exemplars: [{ asDouble: 1e9 }],
  })
  expect(counts).toHaveLength(bounds.length + 1)
  expect([counts[0], counts.at(-1), counts.slice(1, -1).filter((count) => count !== '0')]).toEqual(['1', '1', []])
  expect(bounds).toEqual([...bounds].sort((a, b) => a - b))
  expect(metric!.histogram).toMatchObject({ aggregationTemporality: 'AGGREGATION_TEMPORALITY_CUMULATIVE' })
})

test('a gauge and an info have a time and no start', () => {
  const { reader, writers } = workers(1)
  writers[0].series('guardHeldBytes', []).set(7)
  const metric = read(reader, 'guardrail_held_bytes')
  expect(metric).toMatchObject({ unit: 'By' })
  expect(metric!.gauge).toEqual({ dataPoints: [{ timeUnixNano: NOW, asDouble: 7 }] })
})

test('counts beyond 32 bits', () => {
  const { reader, writers } = workers(1)
  const series = writers[0].series('upstreamConnects', ['tls'])
  for (let i = 0; i < 3; i++) series.observe(0)
  const [family] = [...reader.families([])]
  for (const { parts } of family!.series) for (const { cells, offset } of parts) cells[offset] = 2 ** 33 + 5
  const { dataPoints } = read(reader, 'upstream_connect_duration_seconds')!.histogram as never as {
    dataPoints: { count: string; bucketCounts: string[] }[]
  }
  expect([dataPoints[0]!.count, dataPoints[0]!.bucketCounts[0]]).toEqual(['8589934597', '8589934597'])
})
