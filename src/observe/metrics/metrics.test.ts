import { expect, test } from 'vitest'
import { verifies } from '#test/support/verifies.ts'
import { METRICS } from './metrics.ts'
import { MetricsReader } from './metrics-reader.ts'
import { MetricsWriter } from './metrics-writer.ts'

function workers(count: number) {
  const reader = new MetricsReader()
  const writers = Array.from({ length: count }, (_, i) => new MetricsWriter((news) => reader.hear(`w${i + 1}`, news)))
  /** The lines of one metric, without the names of others. */
  const lines = (name: string) =>
    reader
      .text()
      .split('\n')
      .filter((line) => line.startsWith(`gatewright_${name}`))
  return { reader, writers: writers as [MetricsWriter, ...MetricsWriter[]], lines }
}

const REQUEST = ['b', 'http', 'GET', '200', 'Upstream', 'g', 'l', 'r', 'rule']
const BUILT_IN =
  'backend="b",protocol="http",method="GET",status="200",reason="Upstream",gateway="g",listener="l",route="r",route_rule="rule"'

test('nothing observed: no metric', () => {
  expect(workers(1).reader.text().trim()).toBe('')
})

test('a counter with its help and type', () => {
  const { reader, writers } = workers(1)
  writers[0].series('wireRefusals', ['malformed-request']).add(2)
  expect(reader.text()).toBe(
    '# HELP gatewright_wire_refusals_total Messages that were refused before they became requests.\n' +
      '# TYPE gatewright_wire_refusals_total counter\n' +
      'gatewright_wire_refusals_total{code="malformed-request"} 2\n',
  )
})

test('the same labels are the same series, over all workers; others are another one', () => {
  const { writers, lines } = workers(2)
  const [one, two] = writers
  const series = one.series('wireRefusals', ['a'])
  expect(one.series('wireRefusals', ['a'])).toBe(series)
  series.add(1)
  series.add(1)
  two!.series('wireRefusals', ['a']).add(3)
  two!.series('wireRefusals', ['b']).add(1)
  expect(lines('wire')).toEqual([
    'gatewright_wire_refusals_total{code="a"} 5',
    'gatewright_wire_refusals_total{code="b"} 1',
  ])
})

test('what a worker that has ended counted stays', () => {
  const { reader, writers, lines } = workers(1)
  writers[0].series('deniedConnections', []).add(4)
  const successor = new MetricsWriter((news) => reader.hear('w2', news))
  successor.series('deniedConnections', []).add(1)
  expect(lines('denied')).toEqual(['gatewright_denied_connections_total{} 5'])
})

test('a histogram: cumulative buckets, bounds included, sum and count', () => {
  const { writers, lines } = workers(2)
  for (const value of [1, 4, 4.5]) writers[0].series('tokens', ['input', ...Array(8).fill('x')]).observe(value)
  writers[1]!.series('tokens', ['input', ...Array(8).fill('x')]).observe(1e12)
  const values = lines('gen_ai').map((line) =>
    /(_bucket|_sum|_count)\{.*?(?:,le="([^"]+)")?\} (.+)$/.exec(line)!.slice(1),
  )
  expect(values.slice(0, 4)).toEqual([
    ['_bucket', '1', '1'],
    ['_bucket', '4', '2'],
    ['_bucket', '16', '3'],
    ['_bucket', '64', '3'],
  ])
  expect(values.slice(-4)).toEqual([
    ['_bucket', '67108864', '3'],
    ['_bucket', '+Inf', '4'],
    ['_sum', undefined, '1000000000009.5'],
    ['_count', undefined, '4'],
  ])
})

test.each([
  ['plain', 'plain'],
  ['say "hi"', 'say \\"hi\\"'],
  ['back\\slash', 'back\\\\slash'],
  ['two\nlines', 'two\\nlines'],
  ['', ''],
])('label value %j is written as %s', (value, written) => {
  const { writers, lines } = workers(1)
  writers[0].series('wireRefusals', [value]).add(1)
  expect(lines('wire')).toEqual([`gatewright_wire_refusals_total{code="${written}"} 1`])
})

verifies(
  'frontend.metrics/all-metrics',
  'custom labels stand behind the built-in ones, in every series of the metric',
  () => {
    const { writers, lines } = workers(2)
    writers[0].series('requests', [...REQUEST, 'gold', 'eu'], ['tier', 'region']).add(1)
    writers[1]!.series('requests', [...REQUEST, 'acme'], ['customer']).add(2)
    writers[1]!.series('requests', REQUEST).add(3)
    const series = (labels: string, count: number) => `gatewright_requests_total{${BUILT_IN},${labels}} ${count}`
    expect(lines('requests')).toEqual([
      series('customer="unknown",region="eu",tier="gold"', 1),
      series('customer="acme",region="unknown",tier="unknown"', 2),
      series('customer="unknown",region="unknown",tier="unknown"', 3),
    ])
  },
)

test('more series than a page of memory holds', () => {
  const { writers, lines } = workers(1)
  for (let i = 0; i < 3000; i++) writers[0].series('duration', [`b${i}`, ...REQUEST.slice(1)]).observe(i / 1000)
  const counts = lines('request_duration_seconds_count')
  expect(counts).toHaveLength(3000)
  expect(counts.every((line) => line.endsWith(' 1'))).toBe(true)
  expect(lines('request_duration_seconds_sum').at(-1)).toMatch(/backend="b2999".* 2\.999$/)
})

verifies('frontend.metrics/cardinality', 'beyond 10,000 series of a metric all new ones are one', () => {
  const { writers, lines } = workers(1)
  for (let i = 0; i < 10_200; i++) writers[0].series('wireRefusals', [`c${i}`]).add(1)
  writers[0].series('wireRefusals', ['c0']).add(1)
  writers[0].series('deniedConnections', []).add(1)
  const series = lines('wire')
  expect(series).toHaveLength(10_001)
  expect(series[0]).toBe('gatewright_wire_refusals_total{code="c0"} 2')
  expect(series.at(-1)).toBe('gatewright_wire_refusals_total{code="overflow"} 200')
  expect(lines('denied')).toEqual(['gatewright_denied_connections_total{} 1'])
})

test('a client that calls itself overflow makes no room for more', () => {
  const { writers, lines } = workers(1)
  const rest = Array(6).fill('x')
  for (let i = 0; i < 10_200; i++) writers[0].series('mcpRequests', ['overflow', `${i}`, ...rest]).add(1)
  expect(lines('mcp')).toHaveLength(10_001)
})

test('a long label value is cut', () => {
  const { writers, lines } = workers(1)
  for (const end of ['x', 'y']) writers[0].series('wireRefusals', [`${'v'.repeat(10_000)}${end}`]).add(1)
  expect(lines('wire')).toEqual([`gatewright_wire_refusals_total{code="${'v'.repeat(255)}\u2026"} 2`])
})

test.each(Object.values(METRICS))('$name: a name, help and buckets as Prometheus wants them', (metric) => {
  const { name, help, type, labels } = metric
  expect(name).toMatch(/^[a-z][a-z_]*$/)
  expect(name.endsWith('_total')).toBe(type === 'counter')
  expect(help).not.toMatch(/[\n\\]/)
  for (const label of labels) expect(label).toMatch(/^[a-z][a-z_]*$/)
  expect(new Set(labels).size).toBe(labels.length)
  const buckets: readonly number[] = 'buckets' in metric ? metric.buckets : []
  expect(buckets).toEqual([...new Set(buckets)].sort((a, b) => a - b))
  expect(buckets.length > 0).toBe(type === 'histogram')
})
