import { expect, test } from 'vitest'
import { observeCall, observeCallouts } from './call-metrics.ts'
import { METRICS } from './metrics.ts'
import { MetricsWriter } from './metrics-writer.ts'
import { workers } from './testing.ts'

const REQUEST = ['b', 'http', 'GET', '200', 'Upstream', '127.0.0.1:80', 'g', 'l', 'r', 'rule']
const BUILT_IN =
  'backend="b",protocol="http",method="GET",status="200",reason="Upstream",bind="127.0.0.1:80",gateway="g",listener="l",route="r",route_rule="rule"'

test('nothing observed: no metric', () => {
  expect(workers(1).reader.text().trim()).toBe('')
})

test('a counter with its help and type', () => {
  const { reader, writers } = workers(1)
  writers[0].series('wireRefusals', ['malformed-request']).add(2)
  expect(reader.text()).toBe(
    '# HELP gatewright_wire_refusals_total Requests that the HTTP parser refused, and HTTP/2 connections that failed.\n' +
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

test('values with line breaks do not run into each other', () => {
  const { reader, writers, lines } = workers(1)
  writers[0].series('keySetFetches', ['a\nb', 'c', 'd']).add(1)
  writers[0].series('keySetFetches', ['a', 'b\nc', 'd']).add(2)
  const both = [
    'gatewright_key_set_fetches_total{backend="a\\nb",path="c",outcome="d"} 1',
    'gatewright_key_set_fetches_total{backend="a",path="b\\nc",outcome="d"} 2',
  ]
  expect(lines('key_set')).toEqual(both)
  reader.ended('w1')
  expect(lines('key_set')).toEqual(both)
})

test('requests in flight of a worker that ended are not in flight any more', () => {
  const { reader, writers, lines } = workers(2)
  for (const writer of writers) writer.series('requestsInFlight', []).add(2)
  writers[0].series('requestsInFlight', []).add(-1)
  expect(lines('requests_in_flight')).toEqual(['gatewright_requests_in_flight 3'])
  reader.ended('w2')
  expect(lines('requests_in_flight')).toEqual(['gatewright_requests_in_flight 1'])
})

test('what a worker measures of itself ends with it', () => {
  const { reader, writers, lines } = workers(2)
  for (const [at, writer] of writers.entries()) writer.series('eventLoopDelay', [`w${at + 1}`]).observe(0.1)
  reader.ended('w1')
  expect(lines('event_loop_delay_seconds_count')).toEqual(['gatewright_event_loop_delay_seconds_count{worker="w2"} 1'])
  reader.ended('w2')
  expect(reader.text()).toBe('')
})

test('values read at the scrape, with the prefix of their metric', () => {
  const { reader } = workers(0)
  const samples = [
    { metric: 'processOpenFiles', value: 12, values: [] },
    { metric: 'endpoints', value: 3, values: ['serving'] },
  ] as const
  expect(reader.text(samples)).toBe(
    '# HELP gatewright_endpoints Endpoints of all backends, by state: serving or evicted.\n' +
      '# TYPE gatewright_endpoints gauge\n' +
      'gatewright_endpoints{state="serving"} 3\n' +
      '# HELP process_open_fds Open file descriptors of the process. Linux only.\n' +
      '# TYPE process_open_fds gauge\n' +
      'process_open_fds 12\n',
  )
})

test('counts of ended workers are kept as one sum, without their pages', () => {
  const { reader, lines } = workers(0)
  const tokens = ['input', ...Array<string>(9).fill('x')]
  for (let i = 1; i <= 500; i++) {
    const writer = new MetricsWriter((update) => reader.add(`w${i}`, update))
    const refusals = writer.series('wireRefusals', [`code ${i % 3}`])
    refusals.add(2)
    writer.series('tokens', tokens).observe(3)
    reader.ended(`w${i}`)
    expect(lines('wire').reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)).toBe(2 * i)
    // Its page is not read any more.
    refusals.add(1_000_000)
  }
  expect(lines('wire').map((line) => line.split(' ').at(-1))).toEqual(['334', '334', '332'])
  expect(lines('gen_ai_client_token_usage_sum')[0]).toMatch(/ 1500$/)
  expect(lines('gen_ai_client_token_usage_count')[0]).toMatch(/ 500$/)
})

test('a replaced worker adds to the counts of its predecessors', () => {
  const { reader, writers, lines } = workers(1)
  writers[0].series('deniedConnections', []).add(4)
  reader.ended('w1')
  const successor = new MetricsWriter((update) => reader.add('w2', update)).series('deniedConnections', [])
  successor.add(1)
  expect(lines('denied')).toEqual(['gatewright_denied_connections_total 5'])
  successor.add(1)
  expect(lines('denied')).toEqual(['gatewright_denied_connections_total 6'])
})

test('a worker that ended before it counted anything leaves nothing', () => {
  const { reader } = workers(0)
  reader.ended('w9')
  expect(reader.text().trim()).toBe('')
})

test('a histogram: cumulative buckets, bounds included, sum and count', () => {
  const { writers, lines } = workers(2)
  for (const value of [1, 4, 4.5]) writers[0].series('tokens', ['input', ...Array(9).fill('x')]).observe(value)
  writers[1]!.series('tokens', ['input', ...Array(9).fill('x')]).observe(1e12)
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

test('custom labels follow the built-in ones, in every series of the metric', () => {
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
})

test('a call of the gateway: by why its answer is not whole, else by its gRPC status or the class of its status', () => {
  const { writers, lines } = workers(1)
  const none = { status: undefined, grpcStatus: undefined, failure: undefined, span: undefined, of: undefined }
  const call = { purpose: 'mcp', backend: 'default/b', durationMs: 2000, ...none } as const
  observeCall(writers[0], { ...call, status: 204 })
  observeCall(writers[0], { ...call, status: 503 })
  observeCall(writers[0], { ...call, status: 200, failure: 'reset' })
  observeCall(writers[0], { ...call, failure: 'no-endpoint' })
  observeCall(writers[0], { ...call, status: 200, grpcStatus: 'UNAVAILABLE' })
  expect(lines('call_duration_seconds_sum')).toEqual(
    ['2xx', '5xx', 'reset', 'no-endpoint', 'UNAVAILABLE'].map(
      (outcome) => `gatewright_call_duration_seconds_sum{purpose="mcp",backend="default/b",outcome="${outcome}"} 2`,
    ),
  )
})

test('a decision of a server that a policy asked: by policy, server and verdict, and whether it was cached', () => {
  const { writers, lines } = workers(1)
  const one = { policy: 'extAuth', backend: 'default/b', startMs: 0, durationMs: 2, status: 'OK', detail: 'a' } as const
  const custom = { customNames: [], customValues: [], exemplar: undefined }
  observeCallouts(writers[0], [{ ...one, verdict: 'allowed', cached: false }], custom)
  const others = [
    { ...one, verdict: 'allowed', cached: true, detail: 'b' },
    { ...one, verdict: 'allowed', cached: true },
    { ...one, policy: 'rateLimit', verdict: 'failed', cached: false },
  ] as const
  observeCallouts(writers[0], others, custom)
  const series = (policy: string, verdict: string, cached: boolean, count: number) =>
    `gatewright_callouts_total{policy="${policy}",backend="default/b",verdict="${verdict}",cached="${cached}"} ${count}`
  expect(lines('callouts_total')).toEqual([
    series('extAuth', 'allowed', false, 1),
    series('extAuth', 'allowed', true, 2),
    series('rateLimit', 'failed', false, 1),
  ])
})

test('a gauge shows the last value', () => {
  const { reader, writers } = workers(1)
  const gauge = writers[0].series('keySetFetched', ['default/b', '/keys'])
  gauge.set(1_800_000_000.5)
  gauge.set(1_800_000_300.5)
  expect(reader.text()).toContain(
    '# TYPE gatewright_key_set_fetched_timestamp_seconds gauge\n' +
      'gatewright_key_set_fetched_timestamp_seconds{backend="default/b",path="/keys"} 1800000300.5\n',
  )
})

test('more series than a page of memory holds', () => {
  const { writers, lines } = workers(1)
  for (let i = 0; i < 3000; i++) writers[0].series('duration', [`b${i}`, ...REQUEST.slice(1)]).observe(i / 1000)
  const counts = lines('request_duration_seconds_count')
  expect(counts).toHaveLength(3000)
  expect(counts.every((line) => line.endsWith(' 1'))).toBe(true)
  expect(lines('request_duration_seconds_sum').at(-1)).toMatch(/backend="b2999".* 2\.999$/)
})

test('beyond 10,000 series of a metric all new ones are one', () => {
  const { writers, lines } = workers(1)
  for (let i = 0; i < 10_200; i++) writers[0].series('wireRefusals', [`c${i}`]).add(1)
  writers[0].series('wireRefusals', ['c0']).add(1)
  writers[0].series('deniedConnections', []).add(1)
  const series = lines('wire')
  expect(series).toHaveLength(10_001)
  expect(series[0]).toBe('gatewright_wire_refusals_total{code="c0"} 2')
  expect(series.at(-1)).toBe('gatewright_wire_refusals_total{code="overflow"} 200')
  expect(lines('denied')).toEqual(['gatewright_denied_connections_total 1'])
})

test('the same number holds for all workers together', () => {
  const { writers, lines } = workers(3)
  for (const [at, writer] of writers.entries()) {
    for (let i = 0; i < 5000; i++) writer.series('wireRefusals', [`c${at}-${i}`]).add(1)
  }
  expect(lines('wire')).toHaveLength(10_001)
  expect(lines('wire').at(-1)).toBe('gatewright_wire_refusals_total{code="overflow"} 5000')
  writers[2]!.series('wireRefusals', ['c0-7']).add(1)
  expect(lines('wire')[7], 'what another worker counts already still has its series').toMatch(/"c0-7"\} 2$/)
})

/** Labels of an LLM call of a model. */
const llm = (model: string, rule = 'rule') => ['chat', 'openai', model, model, '127.0.0.1:80', 'g', 'l', 'r', rule]
const MODEL = /gen_ai_request_model="([^"]*)"/

test('the 201st model of a rule is `other`, in every metric', () => {
  const { writers, lines, folded, firstFolded } = workers(1)
  const [writer] = writers
  for (let i = 0; i < 20_000; i++) {
    writer.series('llmDuration', llm(`m${i}`)).observe(1)
    writer.series('tokens', ['input', ...llm(`m${i}`)]).observe(1)
  }
  writer.series('llmDuration', llm('m7')).observe(1)
  for (const metric of ['gen_ai_server_request_duration_count', 'gen_ai_client_token_usage_count']) {
    const models = lines(metric).map((line) => MODEL.exec(line)![1])
    expect(models).toEqual([...Array.from({ length: 200 }, (_, i) => `m${i}`), 'other'])
  }
  expect(lines('gen_ai_server_request_duration_count').at(-1)).toMatch(/response_model="other".* 19800$/)
  expect(lines('gen_ai_server_request_duration_count')[7]).toMatch(/"m7".* 2$/)
  expect(lines('folded')).toEqual(
    ['gen_ai_request_model', 'gen_ai_response_model'].map(
      (label) =>
        `gatewright_folded_label_values_total{label="${label}",gateway="g",listener="l",route="r",route_rule="rule"} 39600`,
    ),
  )
  expect(firstFolded).toEqual(['gen_ai_request_model g l r rule', 'gen_ai_response_model g l r rule'])
  expect(folded, 'the worker did').toEqual([])
})

test('a folded value counts each time, also when it follows itself', () => {
  const { writers, lines } = workers(1)
  const [writer] = writers
  for (let i = 0; i <= 200; i++) writer.series('llmDuration', llm(`m${i}`)).observe(1)
  writer.series('llmDuration', llm('m200')).observe(1)
  expect(lines('folded')[0]).toMatch(/ 2$/)
})

test('the series of the request before serves only the same values and the same names', () => {
  const { writers, lines } = workers(1)
  const [writer] = writers
  const label = (name: string, value: string) => writer.series('requests', [...REQUEST, value], [name]).add(1)
  label('name', 'a')
  label('name', 'a')
  label('name', 'b')
  label('name', 'a')
  label('other', 'a')
  writer.series('requests', REQUEST).add(1)
  label('name', 'a')
  expect(lines('requests')).toEqual(
    [
      'name="a",other="unknown"} 4',
      'name="b",other="unknown"} 1',
      'name="unknown",other="a"} 1',
      'name="unknown",other="unknown"} 1',
    ].map((end) => `gatewright_requests_total{${BUILT_IN},${end}`),
  )
})

test('secrets are removed from values that peers choose', () => {
  const { writers, lines } = workers(1)
  writers[0]
    .series('mcpRequests', ['tools/call', 'tool', 's', 'say hunter22', '127.0.0.1:80', 'g', 'l', 'r', 'rule'])
    .add(1)
  writers[0].series('requests', [...REQUEST, 'hunter22'], ['user']).add(1)
  expect(lines('mcp')[0]).toContain('resource="say <redacted>"')
  expect(lines('requests')[0]).toContain('user="<redacted>"')
})

test('each rule has its own 200', () => {
  const { writers, lines } = workers(1)
  for (const rule of ['a', 'b'])
    for (let i = 0; i < 200; i++) writers[0].series('llmDuration', llm(`m${i}`, rule)).observe(1)
  expect(lines('gen_ai_server_request_duration_count')).toHaveLength(400)
  expect(lines('folded')).toEqual([])
})

test('a label that two workers fold is reported once', () => {
  const { writers, firstFolded } = workers(2)
  for (const writer of writers) for (let i = 0; i < 202; i++) writer.series('llmDuration', llm(`m${i}`)).observe(1)
  expect(firstFolded).toEqual(['gen_ai_request_model g l r rule', 'gen_ai_response_model g l r rule'])
})

test('the bound holds for the sum of all workers, and no count of a worker is lost', () => {
  const { writers, lines, folded, firstFolded } = workers(3)
  for (const [at, writer] of writers.entries()) {
    for (let i = 0; i < 150; i++) writer.series('llmDuration', llm(`m${at}-${i}`)).observe(1)
  }
  const counts = lines('gen_ai_server_request_duration_count')
  expect(counts).toHaveLength(201)
  expect(counts.at(-1)).toMatch(/gen_ai_request_model="other",gen_ai_response_model="other".* 250$/)
  expect(folded.filter((label) => label === 'gen_ai_request_model')).toHaveLength(250)
  // The receiver of this event counts it in a series, which causes the log message.
  expect(firstFolded).toEqual([])
})

test.each([
  ['resource', (i: number) => ['tools/call', 'tool', 's', `t${i}`, '127.0.0.1:80', 'g', 'l', 'r', 'rule'], []],
  ['user', (i: number) => ['tools/call', 'tool', 's', 't', '127.0.0.1:80', 'g', 'l', 'r', 'rule', `u${i}`], ['user']],
] as const)('label %s is folded, others are not', (label, values, custom) => {
  const { writers, lines } = workers(2)
  for (const writer of writers) for (let i = 0; i < 300; i++) writer.series('mcpRequests', values(i), custom).add(1)
  expect(lines('mcp')).toHaveLength(201)
  expect(lines('mcp').filter((line) => line.includes(`${label}="other"`))).toEqual([expect.stringMatching(/ 200$/)])
})

test.each(['other', 'unknown', 'overflow'])('the value %s takes no room', (value) => {
  const { writers, lines } = workers(1)
  for (let i = 0; i < 200; i++) writers[0].series('llmDuration', llm(`m${i}`)).observe(1)
  writers[0].series('llmDuration', llm(value)).observe(1)
  expect(lines('gen_ai_server_request_duration_count')).toHaveLength(201)
  expect(lines('folded')).toEqual([])
})

test('a long label value is cut', () => {
  const { writers, lines } = workers(1)
  for (const end of ['x', 'y']) writers[0].series('wireRefusals', [`${'v'.repeat(10_000)}${end}`]).add(1)
  expect(lines('wire')).toEqual([`gatewright_wire_refusals_total{code="${'v'.repeat(255)}\u2026"} 2`])
})

test.each(Object.values(METRICS))('$name: a name, help and buckets as Prometheus wants them', (metric) => {
  const { name, help, type, labels } = metric
  expect(name).toMatch(/^[a-z][a-z0-9_]*$/)
  expect(name.endsWith('_total')).toBe(type === 'counter')
  expect(name.endsWith('_info')).toBe(type === 'info')
  expect(help).not.toMatch(/[\n\\"]/)
  for (const label of labels) expect(label).toMatch(/^[a-z][a-z0-9_]*$/)
  expect(new Set(labels).size).toBe(labels.length)
  const buckets: readonly number[] = 'buckets' in metric ? metric.buckets : []
  expect(buckets).toEqual([...new Set(buckets)].sort((a, b) => a - b))
  expect(buckets.length > 0).toBe(type === 'histogram')
  expect(type !== 'histogram' || labels.length > 0).toBe(true)
})
