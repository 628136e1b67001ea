import { expect, test } from 'vitest'
import { Exemplar } from './exemplar.ts'
import { METRICS } from './metrics.ts'
import { workers } from './testing.ts'
import { familyName } from './write-family.ts'

/** OpenMetrics 1.0 and exemplars. */

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'
const exemplarAt = (timeMs: number, spanId = SPAN) => new Exemplar({ traceId: TRACE, spanId }, timeMs)
const BIND = ['127.0.0.1:80', 'g', 'l', 'http']

test('nothing observed: only the end', () => {
  expect(workers(1).reader.text([], 'openmetrics')).toBe('# EOF\n')
})

test('a counter: the suffix belongs to its samples; a gauge; an info', () => {
  const { reader, writers } = workers(1)
  writers[0].series('sentBytes', BIND).add(7)
  const samples = [
    { metric: 'buildInfo', value: 1, values: ['1.2.3', '26'] },
    { metric: 'processOpenFiles', value: 12, values: [] },
  ] as const
  expect(reader.text(samples, 'openmetrics')).toBe(
    [
      '# TYPE gatewright_downstream_sent_bytes counter',
      `# HELP gatewright_downstream_sent_bytes ${METRICS.sentBytes.help}`,
      '# UNIT gatewright_downstream_sent_bytes bytes',
      'gatewright_downstream_sent_bytes_total{bind="127.0.0.1:80",gateway="g",listener="l",protocol="http"} 7',
      '# TYPE gatewright_build info',
      `# HELP gatewright_build ${METRICS.buildInfo.help}`,
      'gatewright_build_info{tag="1.2.3",node_version="26"} 1',
      '# TYPE process_open_fds gauge',
      `# HELP process_open_fds ${METRICS.processOpenFiles.help}`,
      'process_open_fds 12',
      '# EOF',
      '',
    ].join('\n'),
  )
  expect(reader.text(samples)).toContain('# TYPE gatewright_build_info gauge\n')
})

test.each([
  ['gen_ai_client_token_usage', 'tokens', ['1.0', '4.0', '1024.0', '262144.0', '1.048576e+06', '6.7108864e+07']],
  ['tls_handshake_duration_seconds', 'handshakes', ['0.0005', '0.108', '2.71', '8.0']],
  ['request_processing_seconds', 'requestProcessing', ['5e-05', '0.0001', '0.25']],
] as const)('bounds of %s are canonical numbers', (name, metric, bounds) => {
  const { writers, lines } = workers(1)
  writers[0].series(metric, Array(METRICS[metric].labels.length).fill('x')).observe(1)
  const written = lines(`${name}_bucket`, 'openmetrics').map((line) => /,le="([^"]*)"/.exec(line)![1])
  expect(written.at(-1)).toBe('+Inf')
  expect(written).toEqual(expect.arrayContaining([...bounds]))
})

test('a histogram has its unit', () => {
  const { reader, writers } = workers(1)
  writers[0].series('handshakes', BIND).observe(1)
  expect(reader.text([], 'openmetrics')).toMatch(
    /^# TYPE gatewright_tls_handshake_duration_seconds histogram\n# HELP .*\n# UNIT gatewright_tls_handshake_duration_seconds seconds\n/,
  )
})

test('names of families and of their samples are unique', () => {
  const names = Object.values(METRICS).flatMap((metric) => {
    const name = familyName(metric)
    if (metric.type === 'counter') return [name, `${name}_total`, `${name}_created`]
    if (metric.type === 'info') return [name, `${name}_info`]
    return metric.type === 'gauge'
      ? [name]
      : ['', '_bucket', '_sum', '_count', '_created'].map((end) => `${name}${end}`)
  })
  expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([])
})

test('a bucket has the exemplar of the newest traced value in it', () => {
  const { writers, lines } = workers(1)
  const series = writers[0].series('handshakes', BIND)
  series.observe(0.001, exemplarAt(1_800_000_000_123))
  series.observe(0.0012, exemplarAt(1_800_000_001_000, '00000000000000ff'))
  series.observe(9, exemplarAt(1_800_000_002_000.25))
  series.observe(0.3)
  const exemplars = lines('tls_handshake_duration_seconds_bucket', 'openmetrics').map((line) =>
    line.slice(line.indexOf('}') + 1),
  )
  expect(exemplars).toEqual([
    ' 0',
    ` 2 # {trace_id="${TRACE}",span_id="00000000000000ff"} 0.0012 1800000001.000`,
    ...Array(4).fill(' 2'),
    ' 3',
    ' 3',
    ' 3',
    ' 3',
    ` 4 # {trace_id="${TRACE}",span_id="${SPAN}"} 9 1800000002.000`,
  ])
})

test('a counter has the exemplar of the newest traced increment, of all running workers', () => {
  const { reader, writers, lines } = workers(3)
  const [first, second, third] = writers.map((writer) => writer.series('connections', BIND))
  third!.add(1)
  second!.add(2, exemplarAt(2000))
  first!.add(3, exemplarAt(1000))
  expect(lines('downstream_connections', 'openmetrics')).toEqual([
    expect.stringMatching(/ 6 # \{trace_id="0af7.*",span_id=".*"\} 2 2\.000$/),
  ])
  reader.ended('w2')
  expect(lines('downstream_connections', 'openmetrics')).toEqual([expect.stringMatching(/ 6 # .* 3 1\.000$/)])
})

test('the classic format has no exemplars', () => {
  const { writers, lines } = workers(1)
  writers[0].series('connections', BIND).add(1, exemplarAt(1000))
  writers[0].series('handshakes', BIND).observe(1, exemplarAt(1000))
  expect([...lines('downstream_connections'), ...lines('tls_')].filter((line) => line.includes(' # '))).toEqual([])
})

test('a gauge has no exemplar', () => {
  const { writers, lines } = workers(1)
  writers[0].series('requestsInFlight', []).add(1, exemplarAt(1000))
  expect(lines('requests_in_flight', 'openmetrics')).toEqual(['gatewright_requests_in_flight 1'])
})

test('exemplars of more series than a page of memory holds', () => {
  const { writers, lines } = workers(1)
  for (let i = 0; i < 400; i++) {
    const series = writers[0].series('handshakes', [`${i}`, ...BIND.slice(1)])
    series.observe(i, exemplarAt(i * 1000))
    series.observe(0)
  }
  const infinite = lines('tls_handshake_duration_seconds_bucket', 'openmetrics').filter((line) =>
    line.includes('le="+Inf"'),
  )
  expect(infinite).toHaveLength(400)
  expect(infinite[399]).toMatch(/^.*bind="399".* 2 # \{.*\} 399 399\.000$/)
})
