import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { clock } from '#base/clock.ts'
import type { Callout } from '#exchange/exchange.ts'
import { followUp } from '#exchange/follow-up.ts'
import type { LlmPrices } from '#exchange/llm-prices.ts'
import { NO_MCP } from '#exchange/mcp-facts.ts'
import { RequestCalls } from '#exchange/request-calls.ts'
import { RequestSpan } from '#exchange/request-span.ts'
import { NO_STEPS } from '#exchange/run-context.ts'
import { verifies } from '#test/support/verifies.ts'
import { DecisionIds } from './decision-ids.ts'
import { Ended } from './ended.ts'
import { ENDED, type Group } from './fields.ts'
import { AccessLog } from './log/access-log.ts'
import { JSON_LINE } from './log/field-line.ts'
import type { Metric } from './metrics/metric.ts'
import { METRICS, type MetricId } from './metrics/metrics.ts'
import { MetricsReader } from './metrics/metrics-reader.ts'
import { MetricsWriter } from './metrics/metrics-writer.ts'
import type { IncomingConnection } from './observer.ts'
import { RequestObserver } from './request-observer.ts'
import { type ObservedInputs, observed, observedRelay, PEER, PLACE, settingsOf } from './testing.ts'

/** Prices under which each call costs the same. */
const PRICES: LlmPrices = {
  costOf: () => ({ input: 1_500_000, output: 250_000, cacheRead: 3, cacheWrite: undefined, total: 1_750_003 }),
  ratesOf: () => undefined,
}

const ids = new DecisionIds()
const { now, monotonic } = clock
let elapsed = 0

beforeEach(() => {
  elapsed = 0
  clock.now = () => 1_800_000_000_000
  clock.monotonic = () => elapsed
})
afterEach(() => {
  clock.now = now
  clock.monotonic = monotonic
})

function observer() {
  const lines: Record<string, unknown>[] = []
  const bugs: unknown[][] = []
  const reader = new MetricsReader({ hide: (text) => text, folded: () => {}, firstFolded: () => {} })
  const observer = new RequestObserver(
    'w1',
    ids,
    new AccessLog(JSON_LINE, (line) => lines.push(JSON.parse(line))),
    new MetricsWriter((update) => reader.add('w1', update)),
    (...bug) => bugs.push(bug),
  )
  const end = (inputs: ObservedInputs = {}, sentBytes = 0, broken?: string) => {
    elapsed = 0
    const request = observed(inputs)
    elapsed = 250
    observer.ended(request, sentBytes, broken)
  }
  /** Values by metric, of those that have one series; histograms by their count and sum. */
  const metrics = () =>
    Object.fromEntries(
      reader
        .text()
        .split('\n')
        .filter((line) => line.startsWith('gatewright_') && !line.includes('_bucket{'))
        .map((line) => [/^gatewright_(\w+)/.exec(line)![1], Number(line.slice(line.lastIndexOf(' ')))]),
    )
  return { observer, lines, bugs, reader, end, metrics }
}

test('a request whose work goes on after its response is observed once, at the end of that work, with its outcome', async () => {
  const { observer: it, lines, metrics } = observer()
  const request = observed({ status: 202, mcp: { method: 'tools/call', sessionId: 's' } })
  const { exchange } = request
  const work = followUp(exchange)
  const done = Promise.withResolvers<void>()
  exchange.workAfterResponse = { exchange: work, ended: done.promise }
  it.ended(request, 10, undefined)
  await Promise.resolve()
  expect([lines, it.records.list(), metrics()]).toEqual([[], [], {}])

  elapsed = 900
  work.mcp = { ...NO_MCP, method: 'tools/call', target: 'a', resourceType: 'tool', name: 'add', errorCode: -32_602 }
  work.attempts = [{ endpoint: 'a', status: 200, failure: undefined, sentMs: 100, endedMs: 800 }]
  work.refusal = 'mcp-tool-changed'
  done.resolve()
  await done.promise
  await Promise.resolve()
  expect(lines).toMatchObject([
    { 'http.status': 202, duration: 900, code: 'mcp-tool-changed', 'mcp.target': 'a', 'mcp.error.code': -32_602 },
  ])
  expect(it.records.list()).toMatchObject([{ code: 'mcp-tool-changed', durationMs: 900, mcp: { target: 'a' } }])
  expect(metrics()).toMatchObject({ requests_total: 1, mcp_requests_total: 1, mcp_target_duration_seconds_sum: 0.7 })
})

test('unsolicited responses from targets are counted and noted', () => {
  const { observer: it, lines, end, reader } = observer()
  const strayAnswers = new Map([
    ['a', 2],
    ['b', 1],
  ])
  end({ mcp: { method: 'tools/list', strayAnswers } }, 0, 'client connection ended: reset')
  const told = 'unsolicited responses from targets were dropped: 2 from a, 1 from b; client connection ended: reset'
  expect(lines).toMatchObject([{ error: told }])
  expect(it.records.list()).toMatchObject([{ detail: told }])
  expect(reader.text()).toMatch(/^gatewright_mcp_stray_answers_total\{server="a",.*\} 2$/m)
  expect(reader.text()).toMatch(/^gatewright_mcp_stray_answers_total\{server="b",.*\} 1$/m)
})

test('targets that failed without failing the request are noted', () => {
  const { observer: it, lines, end } = observer()
  end({
    mcp: { method: 'tools/list', toleratedFailures: ['connection-refused from target a', 'status 500 from target b'] },
  })
  const error =
    'targets failed, and others served the request: connection-refused from target a, status 500 from target b'
  expect(lines).toMatchObject([{ 'http.status': 200, error }])
  expect(it.records.list()).toMatchObject([{ detail: error }])
})

verifies('service/metrics', 'a request: line, metrics and record', () => {
  const { observer: it, lines, end, metrics, reader } = observer()
  end({ endpointLabel: 'e:1', status: 201 }, 1234)
  expect(lines).toMatchObject([{ 'http.status': 201, duration: 250 }])
  expect(metrics()).toEqual({
    requests_total: 1,
    request_duration_seconds_count: 1,
    request_duration_seconds_sum: 0.25,
    response_bytes_total: 1234,
  })
  expect(reader.text()).toContain(
    'gatewright_requests_total{backend="default/b",protocol="http",method="GET",status="201",reason="Upstream",' +
      'bind="127.0.0.1:8080",gateway="default/main",listener="http",route="default/r",route_rule="first"} 1',
  )
  expect(it.records.list()).toEqual([
    {
      id: ids.idOf(7),
      worker: 'w1',
      time: 1_800_000_000_000,
      method: 'GET',
      authority: 'example.com',
      target: '/path',
      gateway: 'default/main',
      listener: 'http',
      route: 'default/r',
      rule: 'first',
      backend: 'default/b',
      endpoint: 'e:1',
      section: '',
      status: 201,
      client: '192.0.2.7:40000',
      consumer: '',
      traceId: '',
      code: '',
      detail: '',
      reason: 'Upstream',
      policies: [],
      durationMs: 250,
      attempts: [],
      callouts: [],
      guardChecks: [],
      provider: '',
      requestModel: '',
      responseModel: '',
      inputTokens: 0,
      outputTokens: 0,
      translation: undefined,
      removedFields: [],
      misread: undefined,
      errorType: undefined,
    },
  ])
})

test('callouts are in the record; one without an answer that failed open is noted', () => {
  const { observer: it, lines, end } = observer()
  const one = {
    policy: 'extAuth',
    backend: 'default/authz',
    cached: false,
    startMs: 1,
    durationMs: 7,
    status: 'OK',
    detail: undefined,
  } as const
  const allowed: Callout = { ...one, verdict: 'allowed' }
  const failed: Callout = { ...one, verdict: 'failed', detail: 'timeout' }
  end({ callouts: [allowed] })
  expect(lines.at(-1)).not.toHaveProperty('error')
  end({ callouts: [allowed, failed] })
  expect(lines.at(-1)).toMatchObject({ error: 'extAuth had no answer of default/authz: timeout' })
  expect(it.records.list()).toMatchObject([{ callouts: [allowed] }, { callouts: [allowed, failed] }])
})

test('the record of a request has its times after it was received', () => {
  const { observer: it } = observer()
  const request = observed()
  const { exchange } = request
  exchange.sentMonotonicMs = exchange.startMonotonicMs + 2
  exchange.answeredMonotonicMs = exchange.startMonotonicMs + 200
  elapsed = 250
  it.ended(request, 0, undefined)
  expect(it.records.list()).toMatchObject([{ sentMs: 2, answeredMs: 200, durationMs: 250 }])
})

test('a relayed connection: a line without a request, no count among requests, but its time and its bytes', () => {
  const { observer: it, lines, metrics, reader } = observer()
  const relay = observedRelay({ endpointLabel: 'e:1', receivedBytes: 10, sentBytes: 2000 })
  elapsed = 250
  it.relayEnded(relay, undefined)
  expect(lines).toEqual([
    {
      level: 'info',
      time: '2027-01-15T08:00:00.000Z',
      scope: 'request',
      gateway: 'default/main',
      listener: 'http',
      route_rule: 'first',
      route: 'default/r',
      endpoint: 'e:1',
      'src.addr': '192.0.2.7:40000',
      'tls.sni': 'db.example.com',
      protocol: 'tcp',
      duration: 250,
    },
  ])
  expect(metrics()).toEqual({
    request_duration_seconds_count: 1,
    request_duration_seconds_sum: 0.25,
    downstream_connections_total: 1,
    downstream_received_bytes_total: 10,
    downstream_sent_bytes_total: 2000,
  })
  expect(reader.text()).toContain(
    'downstream_connections_total{bind="127.0.0.1:8080",gateway="default/main",listener="http",protocol="tls"} 1',
  )
  expect(it.records.list()).toMatchObject([
    { method: '', authority: 'db.example.com', target: '', status: 0, code: '', detail: '', endpoint: 'e:1' },
  ])
})

test('a relayed connection that was refused, or that broke', () => {
  const { observer: it, lines } = observer()
  const noted = {
    refusal: 'upstream-failed',
    refusalDetail: 'connect-failed at e:1',
    reason: 'UpstreamFailure',
  } as const
  it.relayEnded(observedRelay({ noted }), 'connection ended: cancelled')
  it.relayEnded(observedRelay(), 'connection ended: reset')
  expect(lines).toMatchObject([
    { error: 'upstream call failed: connect-failed at e:1', reason: 'UpstreamFailure', code: 'upstream-failed' },
    { error: 'connection ended: reset' },
  ])
  expect(it.records.list().map(({ code, detail }) => [code, detail])).toContainEqual([
    'upstream-failed',
    'connect-failed at e:1',
  ])
})

test('log expressions of a connection can read the client, but no request', () => {
  const { observer: it, lines } = observer()
  const add = { from: 'source.address', name: 'destination.hostname', path: 'request.path', code: 'response.code' }
  it.relayEnded(observedRelay({ settings: settingsOf({ add }) }), undefined)
  it.relayEnded(observedRelay({ settings: settingsOf({ filter: 'request.method == "GET"' }) }), undefined)
  expect(lines).toMatchObject([{ from: '192.0.2.7', name: 'db.example.com', path: '' }])
  expect(lines[0]).not.toHaveProperty('code')
})

test('a refusal: details for operators that the client does not get', () => {
  const { observer: it, lines, end } = observer()
  const noted = { refusal: 'upstream-failed', refusalDetail: 'reset at e:1', reason: 'UpstreamFailure' } as const
  end({ noted, status: 503 })
  expect(lines).toMatchObject([{ error: 'upstream call failed: reset at e:1', code: 'upstream-failed' }])
  expect(it.records.list()).toMatchObject([
    { code: 'upstream-failed', detail: 'reset at e:1', reason: 'UpstreamFailure', status: 503 },
  ])
  end({ noted: { refusal: 'rate-limited', reason: 'RateLimit' }, status: 429 })
  expect(lines[1]).toMatchObject({ error: 'rate limit exceeded' })
})

test('log and record have the cause of a stream that broke after its head, although nothing was refused', () => {
  const { observer: it, lines, end } = observer()
  end({ noted: { refusalDetail: 'the target sent an invalid message: not-json' } })
  expect(lines).toMatchObject([{ 'http.status': 200, error: 'the target sent an invalid message: not-json' }])
  expect(it.records.list()).toMatchObject([{ detail: 'the target sent an invalid message: not-json' }])
})

test('a client that left', () => {
  const { observer: it, lines, end } = observer()
  end({ status: 0 }, 0, 'client connection ended: reset')
  expect(lines).toMatchObject([{ error: 'client connection ended: reset' }])
  expect(lines[0]).not.toHaveProperty('http.status')
  expect(it.records.list()).toMatchObject([{ status: 0, detail: 'client connection ended: reset' }])
})

test('records hold no credentials of the query', () => {
  const { observer: it } = observer()
  const request = observed({ line: 'GET /a?key=s3cret' })
  request.exchange.redactQueryParameter('key')
  it.ended(request, 0, undefined)
  expect(it.records.list()[0]!.target).toBe('/a?key=<redacted>')
})

test('an unknown method, a request that met no listener: labels stay few', () => {
  const { end, reader } = observer()
  end({ line: 'BREW /', place: null, status: 404 })
  expect(reader.text()).toContain(
    'requests_total{backend="unknown",protocol="unknown",method="other",status="404",reason="Upstream",' +
      'bind="127.0.0.1:8080",gateway="unknown",listener="unknown",route="unknown",route_rule="unknown"} 1',
  )
})

test('the same place with another method, status or reason is another series', () => {
  const { end, reader } = observer()
  end()
  end({ line: 'PUT /' })
  end({ status: 500 })
  end({ noted: { reason: 'DirectResponse' } })
  end()
  const counts = reader.text().match(/requests_total\{.*\} \d+/g)
  expect(counts?.map((line) => line.slice(line.lastIndexOf(' ') + 1))).toEqual(['2', '1', '1', '1'])
})

test('retries are counted', () => {
  const { end, metrics, observer: it } = observer()
  const attempts = [503, 503, 200].map((status) => ({ endpoint: 'e', status, failure: undefined }))
  end({ noted: { attempts, retries: 2 } })
  end({ noted: { attempts: attempts.slice(0, 1) } })
  expect(metrics().retries_total).toBe(2)
  expect(
    it.records
      .list()
      .map((record) => record.attempts.length)
      .sort(),
  ).toEqual([1, 3])
})

test('line, record and metrics have the failures of attempts and the resent requests', () => {
  const { end, lines, reader, observer: it } = observer()
  const attempts = [
    { endpoint: 'e', status: 0, failure: 'reset', maybeProcessed: true, replayed: 'stale-connection' as const },
    { endpoint: 'e', status: 0, failure: 'connection-refused', detail: 'connect ECONNREFUSED', maybeProcessed: false },
  ]
  end({ noted: { attempts, retries: 1 } })
  end({ noted: { attempts: attempts.slice(1) } })
  expect(lines).toMatchObject([
    {
      'retry.attempt': 1,
      'retry.replayed': 'stale-connection',
      'retry.maybe_processed': 'true',
      'upstream.failure': 'connection-refused',
    },
    { 'upstream.failure': 'connection-refused' },
  ])
  expect(lines[1]).not.toHaveProperty(['retry.maybe_processed'])
  expect(it.records.list().map((record) => record.attempts)).toContainEqual(attempts)
  const place = 'bind="127.0.0.1:8080",gateway="default/main",listener="http",route="default/r",route_rule="first"'
  const failures = reader.text().match(/upstream_failures_total\{.*/g)
  expect(failures?.sort()).toEqual([
    `upstream_failures_total{backend="default/b",failure="connection-refused",${place}} 2`,
    `upstream_failures_total{backend="default/b",failure="reset",${place}} 1`,
  ])
})

test('LLM requests: tokens by type, duration, first token, time per token', () => {
  const { end, reader, observer: it } = observer()
  const llm = { operation: 'chat' as const, provider: 'one', knownModel: 'm', inputTokens: 10, outputTokens: 20 }
  const cached = { cachedInputTokens: 4, cacheCreationInputTokens: 3 }
  end({ llm: { ...llm, ...cached, requestModel: 'm', timeToFirstTokenMs: 40 }, place: { ...PLACE, protocol: 'llm' } })
  const labels =
    'gen_ai_operation_name="chat",gen_ai_system="one",gen_ai_request_model="m",gen_ai_response_model="unknown"'
  const text = reader.text()
  const sum = (name: string, more = '') =>
    Number(new RegExp(`gatewright_${name}_sum\\{${more}${labels},.*\\} (.*)`).exec(text)?.[1])
  expect(sum('gen_ai_client_token_usage', 'gen_ai_token_type="input",')).toBe(10)
  expect(sum('gen_ai_client_token_usage', 'gen_ai_token_type="output",')).toBe(20)
  expect(sum('gen_ai_client_token_usage', 'gen_ai_token_type="input_cache_read",')).toBe(4)
  expect(sum('gen_ai_client_token_usage', 'gen_ai_token_type="input_cache_write",')).toBe(3)
  expect(sum('gen_ai_server_request_duration')).toBe(0.25)
  expect(sum('gen_ai_server_time_to_first_token')).toBe(0.04)
  // 20 tokens in 0.25 s - 0.04 s.
  expect(sum('gen_ai_server_time_per_output_token')).toBe(0.0105)
  const bounds = (name: string) =>
    [...text.matchAll(new RegExp(`${name}_bucket.*le="([^"]*)"`, 'g'))].map(([, le]) => le)
  expect(bounds('gen_ai_server_time_per_output_token').join(' ')).toBe(
    '0.001 0.01 0.025 0.05 0.075 0.1 0.15 0.2 0.3 0.4 0.5 0.75 1 2.5 +Inf',
  )
  expect(it.records.list()).toMatchObject([{ inputTokens: 10, outputTokens: 20 }])
})

test('a stream that failed after its head: the type of the error in log, record and metrics', () => {
  const { observer: it, lines, end, reader } = observer()
  for (const errorType of ['overloaded_error', 'throttlingException', 'a type that a provider invents']) {
    end({
      llm: { provider: 'one', errorType },
      noted: { reason: 'UpstreamFailure' },
      place: { ...PLACE, protocol: 'llm' },
    })
  }
  expect(lines[0]).toMatchObject({ 'error.type': 'overloaded_error', reason: 'UpstreamFailure', 'http.status': 200 })
  const kept = { errorType: 'overloaded_error', reason: 'UpstreamFailure', status: 200 }
  expect(it.records.list()).toContainEqual(expect.objectContaining(kept))
  const place = 'bind="127.0.0.1:8080",gateway="default/main",listener="http",route="default/r",route_rule="first"'
  expect(
    reader
      .text()
      .match(/stream_errors_total\{.*/g)
      ?.sort(),
  ).toEqual([
    `stream_errors_total{error_type="other",gen_ai_system="one",backend="default/b",${place}} 1`,
    `stream_errors_total{error_type="overloaded_error",gen_ai_system="one",backend="default/b",${place}} 1`,
    `stream_errors_total{error_type="throttlingException",gen_ai_system="one",backend="default/b",${place}} 1`,
  ])
})

test('the cost of an LLM call in dollars, in the log and as a counter', () => {
  const { lines, end, reader } = observer()
  const llm = { operation: 'chat', provider: 'openai', requestModel: 'gpt-5', knownModel: 'gpt-5' } as const
  const context = { ...NO_STEPS, prices: PRICES }
  for (let i = 0; i < 2; i++) end({ llm, noted: { context } })
  end({ llm })
  const costs = lines.map((line) => Object.entries(line).filter(([name]) => name.includes('.cost.')))
  const both = [
    ['gatewright.ai.usage.cost.input', 0.0015],
    ['gatewright.ai.usage.cost.output', 0.00025],
    ['gatewright.ai.usage.cost.cache_read', 3e-9],
    ['gatewright.ai.usage.cost.total', 0.001750003],
  ]
  expect(costs).toEqual([both, both, []])
  expect(reader.text().match(/^gatewright_gen_ai_client_cost_usd_total\{.*/gm)).toEqual([
    'gatewright_gen_ai_client_cost_usd_total{gen_ai_operation_name="chat",gen_ai_system="openai",gen_ai_request_model="gpt-5",gen_ai_response_model="unknown",bind="127.0.0.1:8080",gateway="default/main",listener="http",route="default/r",route_rule="first"} 0.003500006',
  ])
})

test('a lookup of prices is counted by what it found', () => {
  const { end, reader } = observer()
  const found = (total: number | undefined): LlmPrices => ({
    costOf: () => ({ input: 1, output: undefined, cacheRead: undefined, cacheWrite: undefined, total }),
    ratesOf: () => undefined,
  })
  const llm = { operation: 'chat', provider: 'openai', requestModel: 'm', knownModel: 'm' } as const
  end({ llm })
  for (const total of [1, 2, undefined]) end({ llm, noted: { context: { ...NO_STEPS, prices: found(total) } } })
  const lookups = reader.text().matchAll(/^gatewright_cost_catalog_lookups_total\{outcome="(\w+)",.*\} (\d)$/gm)
  expect([...lookups].map(([, ...one]) => one)).toEqual([
    ['unknown', '1'],
    ['found', '2'],
    ['incomplete', '1'],
  ])
})

/** Counts and sums of the histograms of forwarded requests, by metric and kind. */
function forwarding(text: string): Record<string, number> {
  const lines = text.matchAll(
    /^gatewright_(re\w+_processing|upstream_call_duration)_seconds_(sum|count)\{(.*?)\} (.*)$/gm,
  )
  return Object.fromEntries(
    [...lines].map(([, name, what, labels, value]) => {
      const kind = /kind="(\w+)",subtype="(\w+)"/.exec(labels!)?.slice(1) ?? []
      return [[name, ...kind, what].join(' '), Number(value)]
    }),
  )
}

test('a forwarded request: what the gateway and the backend took of its 200 ms', () => {
  const { end, reader } = observer()
  end({
    noted: { startMonotonicMs: 50, sentMonotonicMs: 60, answeredMonotonicMs: 150, respondedMonotonicMs: 180 },
  })
  expect(forwarding(reader.text())).toEqual({
    'request_processing sum': 0.01,
    'request_processing count': 1,
    'response_processing sum': 0.03,
    'response_processing count': 1,
    'upstream_call_duration Primary Http sum': 0.19,
    'upstream_call_duration Primary Http count': 1,
  })
  const labels = '{backend="default/b",bind="127.0.0.1:8080",gateway="default/main",listener="http",route="default/r",'
  expect(reader.text()).toContain(`gatewright_request_processing_seconds_sum${labels}route_rule="first"} 0.01`)
})

test('each attempt that was sent counts: failed ones to their failure, the last one to the end of its response', () => {
  const { end, reader } = observer()
  const at = { endpoint: 'e', failure: undefined }
  const attempts = [
    { ...at, status: 0, failure: 'llm-model-unsupported' },
    { ...at, status: 0, failure: 'connection-refused', sentMs: 10, answeredMs: 20 },
    { ...at, status: 503, sentMs: 30, answeredMs: 70 },
    { ...at, status: 200, sentMs: 100, answeredMs: 120 },
  ]
  const place = { ...PLACE, protocol: 'llm' }
  end({ place, noted: { attempts, sentMonotonicMs: 10, answeredMonotonicMs: 120 } })
  expect(forwarding(reader.text())).toEqual({
    'request_processing sum': 0.01,
    'request_processing count': 1,
    'upstream_call_duration Primary Llm sum': 0.2,
    'upstream_call_duration Primary Llm count': 3,
  })
})

test('a last attempt that failed counts to its failure, and one that the client did not wait for does not count', () => {
  const { end, reader } = observer()
  const at = { endpoint: 'e', failure: 'reset', status: 0 }
  const attempts = [
    { ...at, sentMs: 10 },
    { ...at, sentMs: 30, answeredMs: 70 },
  ]
  end({ noted: { attempts, sentMonotonicMs: 10, answeredMonotonicMs: 70 } })
  expect(forwarding(reader.text())).toMatchObject({
    'upstream_call_duration Primary Http sum': 0.04,
    'upstream_call_duration Primary Http count': 1,
  })
})

test('a request that was not sent has none of it', () => {
  const { end, reader } = observer()
  end({ noted: { refusal: 'route-not-found' } })
  expect(forwarding(reader.text())).toEqual({})
})

test.each([
  ['authorization', 'Policy ExtAuthz'],
  ['processing', 'Policy ExtProc'],
  ['rate-limit', 'Policy RateLimit'],
  ['guard', 'Policy Guardrail'],
  ['sign-in', 'Policy Oidc'],
  ['key-set', 'Policy KeySet'],
  ['mcp', 'Primary Mcp'],
  ['models', 'Primary Llm'],
  ['mirror', 'Mirror Http'],
  ['telemetry', undefined],
] as const)('a call for %s is an upstream call: %s', (purpose, kind) => {
  const { observer: it, reader } = observer()
  const call = { backend: 'default/b', status: 200, durationMs: 2000, of: undefined, span: undefined } as const
  it.callEnded({ ...call, purpose, grpcStatus: undefined, failure: undefined })
  const name = `upstream_call_duration ${kind}`
  expect(forwarding(reader.text())).toEqual(kind === undefined ? {} : { [`${name} sum`]: 2, [`${name} count`]: 1 })
})

test('requests of a place are counted for each bind', () => {
  const { end, reader } = observer()
  const binds = [
    ['127.0.0.1', 8080],
    ['::1', 8080],
    ['127.0.0.1', 8081],
  ] as const
  const llm = { operation: 'chat', provider: 'one', requestModel: 'm', knownModel: 'm' } as const
  for (let i = 0; i < 2; i++) {
    for (const [localAddress, localPort] of binds) end({ peer: { ...PEER, localAddress, localPort }, llm })
  }
  for (const metric of ['requests_total', 'gen_ai_server_request_duration_count']) {
    const counts = reader.text().matchAll(new RegExp(`^gatewright_${metric}\\{.*bind="([^"]*)".*\\} (\\d)$`, 'gm'))
    expect([...counts].map(([, ...one]) => one)).toEqual([
      ['127.0.0.1:8080', '2'],
      ['[::1]:8080', '2'],
      ['127.0.0.1:8081', '2'],
    ])
  }
})

test('an opened connection to a server is measured by its transport', () => {
  const { observer: it, reader } = observer()
  it.upstreamConnected('tls', 10)
  it.upstreamConnected('tls', 20)
  it.upstreamConnected('plaintext', 1)
  expect(reader.text().match(/upstream_connect_duration_seconds_(?:sum|count).*/g)).toEqual([
    'upstream_connect_duration_seconds_sum{transport="tls"} 0.03',
    'upstream_connect_duration_seconds_count{transport="tls"} 2',
    'upstream_connect_duration_seconds_sum{transport="plaintext"} 0.001',
    'upstream_connect_duration_seconds_count{transport="plaintext"} 1',
  ])
})

test('a TLS handshake of a client is measured by its listener', () => {
  const { observer: it, reader } = observer()
  it.handshakeEnded({ peer: PEER, gateway: 'default/main', listener: 'tls', protocol: 'http' }, 20)
  expect(reader.text()).toContain(
    'tls_handshake_duration_seconds_sum{bind="127.0.0.1:8080",gateway="default/main",listener="tls",protocol="http"} 0.02\n',
  )
})

test('a request model has its own series only if configuration, the catalogue or a response names it', () => {
  const { end, reader } = observer()
  const call = { operation: 'chat', provider: 'one' } as const
  for (let i = 0; i < 300; i++) end({ status: 404, llm: { ...call, requestModel: `invented-${i}` } })
  end({ status: 429, llm: { ...call, requestModel: 'own' } })
  end({ llm: { ...call, requestModel: 'own', responseModel: 'own' } })
  // Known from now on.
  end({ status: 429, llm: { ...call, requestModel: 'own' } })
  end({ llm: { ...call, requestModel: 'fast', knownModel: 'fast', responseModel: 'fast-1' } })
  end({ llm: { ...call, requestModel: 'gpt-4o-2024-08-06', knownModel: 'gpt-4o' } })
  end({ llm: { ...call, requestModel: '' } })
  const counts = reader
    .text()
    .matchAll(/request_duration_count\{.*request_model="([^"]*)",gen_ai_response_model="([^"]*)".* (\d+)/g)
  expect([...counts].map(([, ...found]) => found.join(' '))).toEqual([
    'other unknown 301',
    'own own 1',
    'own unknown 1',
    'fast fast-1 1',
    'gpt-4o unknown 1',
    'unknown unknown 1',
  ])
  expect(reader.text()).not.toContain('folded')
})

test('a provider that confirms every name: 200 names have their own series', () => {
  const { end, reader } = observer()
  const long = 'm'.repeat(257)
  end({ llm: { requestModel: long, responseModel: long } })
  for (let i = 0; i < 300; i++) end({ llm: { requestModel: `invented-${i}`, responseModel: `invented-${i}` } })
  end({ status: 429, llm: { requestModel: 'invented-299' } })
  expect(reader.text().match(/request_duration_count\{/g)).toHaveLength(203)
  expect(reader.text()).toMatch(/request_model="other",gen_ai_response_model="unknown".* 1\n/)
  expect(reader.text()).toMatch(/request_model="other",gen_ai_response_model="m{255}…".* 1\n/)
})

test.each(['operation', 'provider', 'knownModel', 'responseModel'] as const)(
  'LLM requests of one place that differ in %s are different series',
  (field) => {
    const { end, reader } = observer()
    const models = { requestModel: 'm', knownModel: 'm', responseModel: 'n' }
    const llm = { operation: 'chat', provider: 'one', ...models, inputTokens: 10 } as const
    const other = { ...llm, [field]: field === 'operation' ? 'embeddings' : 'else', inputTokens: 7 }
    for (const call of [llm, llm, other, llm]) end({ llm: call })
    const sums = reader.text().match(/client_token_usage_sum\{.*/g)
    expect(sums?.map((line) => line.slice(line.lastIndexOf(' ') + 1)).sort()).toEqual(['30', '7'])
  },
)

test('an LLM request without token counts has no token metric', () => {
  const { end, metrics } = observer()
  end({ llm: {} })
  expect(Object.keys(metrics())).not.toContain('gen_ai_client_token_usage_count')
})

test('MCP messages; a label takes no name that a client made up', () => {
  const { end, reader } = observer()
  end({ mcp: { method: 'tools/call', resourceType: 'tool', target: 't', name: 'n' } })
  end({ mcp: { method: undefined } })
  end({ mcp: { method: 'made/up' } })
  end({ mcp: { method: 'server/discover' } })
  end({ mcp: { method: 'tasks/get', resourceType: 'task', target: 't', name: 'task-1' } })
  end({ mcp: { method: 'tools/call', resourceType: 'tool', target: 't', name: 'made_up', errorCode: -32602 } })
  const place = 'bind="127.0.0.1:8080",gateway="default/main",listener="http",route="default/r",route_rule="first"'
  expect(
    reader
      .text()
      .match(/mcp_requests_total\{.*/g)
      ?.sort(),
  ).toEqual([
    `mcp_requests_total{method="other",resource_type="unknown",server="unknown",resource="unknown",${place}} 1`,
    `mcp_requests_total{method="server/discover",resource_type="unknown",server="unknown",resource="unknown",${place}} 1`,
    `mcp_requests_total{method="tasks/get",resource_type="task",server="t",resource="unknown",${place}} 1`,
    `mcp_requests_total{method="tools/call",resource_type="tool",server="t",resource="n",${place}} 1`,
    `mcp_requests_total{method="tools/call",resource_type="tool",server="t",resource="unknown",${place}} 1`,
  ])
})

test('requests to A2A agents; a label takes no name that a client made up', () => {
  const { end, reader } = observer()
  end({ noted: { a2a: { method: 'SendMessage', outcome: 'success', taskState: 'completed', taskId: 't' } } })
  end({ noted: { a2a: { method: 'agent-card' } } })
  end({ noted: { a2a: { method: 'made/up', outcome: 'error', errorCode: -32_601 } } })
  const place = 'bind="127.0.0.1:8080",gateway="default/main",listener="http",route="default/r",route_rule="first"'
  expect(
    reader
      .text()
      .match(/a2a_requests_total\{.*/g)
      ?.sort(),
  ).toEqual([
    `a2a_requests_total{method="SendMessage",outcome="success",task_state="completed",${place}} 1`,
    `a2a_requests_total{method="agent-card",outcome="unknown",task_state="unknown",${place}} 1`,
    `a2a_requests_total{method="other",outcome="error",task_state="unknown",${place}} 1`,
  ])
})

verifies('frontend.metrics/per-request', 'a label is evaluated for every request', () => {
  const { end, reader } = observer()
  const settings = settingsOf({ labels: { tier: 'request.headers["tier"]' } })
  for (const tier of ['gold', 'silver', 'gold']) end({ settings, headers: { tier } })
  const counts = reader
    .text()
    .match(/requests_total\{.*/g)
    ?.map((line) => line.slice(line.indexOf('tier=')))
  expect(counts).toEqual(['tier="gold"} 2', 'tier="silver"} 1'])
})

verifies('frontend.metrics/failure-unknown', 'a label whose expression fails is unknown', () => {
  const { end, reader } = observer()
  const settings = settingsOf({ labels: { tier: 'request.headers["tier"]' } })
  end({ settings })
  expect(reader.text()).toMatch(/requests_total\{.*,tier="unknown"\} 1/)
})

const OF_NO_REQUEST =
  'upstreamConnects telemetryExported telemetryDropped recordsWritten recordsDropped guardHeldBytes guardWindows guardOpenCircuits keySetFetches keySetFetched credentialFetches credentialExpiry certificateExpiry meshCertificateFailures tokenExpiry wireRefusals deniedConnections refusedConnections lostLines workerStarts workerReplacements connections receivedBytes sentBytes handshakes requestsInFlight mcpToolChanges evictions endpoints endpointHealth endpointEvicted planVersion planAge workerPlanVersion configReloads configReloadSuccessful configReloadSuccess configFindings proxies proxyRefusals buildInfo eventLoopBusy eventLoopDelay gcDuration heapUsed heapTotal heapLimit heapFull externalMemory processCpu processMemory processMemoryByKind processStart processOpenFiles processMaxFiles cgroupMemory cgroupMemoryLimit cgroupCpuLimit cgroupThrottled reconciliations writeQueue leader apiRequests foldedValues'

verifies(
  'frontend.metrics/all-metrics',
  'every metric of a request carries the labels, which are evaluated once',
  () => {
    const { observer: it, end, reader } = observer()
    const attempts = [1, 2].map(() => ({ endpoint: 'e', status: 0, failure: 'reset', sentMs: 0, endedMs: 1 }))
    const asked = { backend: 'default/b', startMs: 0, durationMs: 1, detail: undefined } as const
    const callouts = [{ policy: 'extAuth', verdict: 'allowed', cached: false, status: 'OK', ...asked } as const]
    const about = { rule: undefined, placeholder: undefined } as const
    const check = { phase: 'request', kind: 'regex', index: 0, count: 1, verdict: 'Allow', ...about } as const
    const guardChecks = [{ ...check, ...asked, length: 1, requestId: undefined, isReused: false }]
    const calls = new RequestCalls()
    const call = {
      purpose: 'guard',
      backend: 'default/b',
      status: 200,
      durationMs: 1,
      of: calls,
      span: undefined,
    } as const
    it.callEnded({ ...call, grpcStatus: undefined, failure: undefined })
    const settings = settingsOf({ labels: { tier: 'request.headers["tier"]' } })
    const evaluated = vi.spyOn(settings.metricLabels.expressions[0]!, 'text')
    end(
      {
        settings,
        headers: { tier: 'gold' },
        llm: { inputTokens: 1, outputTokens: 1, timeToFirstTokenMs: 1, errorType: 'reset' },
        mcp: { method: 'm', strayAnswers: new Map([['e', 1]]) },
        callouts,
        noted: {
          a2a: { method: 'm' },
          attempts,
          retries: 1,
          context: { ...NO_STEPS, prices: PRICES },
          guardChecks,
          unsentDescriptors: 1,
          failedCosts: 1,
          calls,
          sentMonotonicMs: 1,
          answeredMonotonicMs: 2,
          respondedMonotonicMs: 3,
        },
      },
      1,
    )
    const series = reader
      .text()
      .split('\n')
      .filter((line) => line.startsWith('gatewright_'))
    expect(series.filter((line) => !line.includes('tier="gold"'))).toEqual([])
    const flagged = Object.values<Metric>(METRICS).filter(({ hasCustomLabels }) => hasCustomLabels)
    expect(new Set(series.map((line) => line.split(/_bucket|_sum|_count|\{/)[0]))).toEqual(
      new Set(flagged.map(({ name }) => `gatewright_${name}`)),
    )
    expect(flagged).toHaveLength(25)
    // The others are observed for no request: for the process, its configuration, its connections, and endpoints.
    expect(Object.keys(METRICS).filter((id) => !flagged.includes(METRICS[id as MetricId]))).toEqual(
      OF_NO_REQUEST.split(' '),
    )
    it.callEnded({ ...call, grpcStatus: undefined, failure: undefined })
    expect(reader.text(), 'a call that ends after its request').toMatch(
      /call_duration_seconds_count\{.*,tier="unknown"\} 1/,
    )
    expect(evaluated).toHaveBeenCalledOnce()
  },
)

test('refused messages and denied connections are counted', () => {
  const { observer: it, metrics, lines, bugs } = observer()
  expect(it.refusedByWire('malformed-request'), 'a request is reported separately').toBe(undefined)
  it.connectionDenied(PEER, 'why')
  it.connectionRefused(PEER, 'proxy-header-missing')
  it.bug('w1-1', 'cause')
  expect(metrics()).toEqual({ wire_refusals_total: 1, denied_connections_total: 1, refused_connections_total: 1 })
  expect(lines).toMatchObject([
    { error: 'why', reason: 'Authorization' },
    { error: 'proxy-header-missing', reason: 'InvalidRequest' },
  ])
  expect(bugs).toEqual([['w1-1', 'cause']])
})

const UNREAD: IncomingConnection = { peer: PEER, gateway: 'default/main', listener: '', protocol: 'http' }

test('a message refused before it is a request: a line with its peer, and a record with its id', () => {
  const { observer: it, lines } = observer()
  const id = it.refusedByWire('host-invalid', { connection: UNREAD, decisionNumber: 7 })
  expect(id).toBe(ids.idOf(7))
  expect(lines).toEqual([
    {
      level: 'info',
      time: '2027-01-15T08:00:00.000Z',
      scope: 'request',
      gateway: 'default/main',
      'src.addr': '192.0.2.7:40000',
      'dst.addr': '127.0.0.1:8080',
      'http.status': 400,
      error: 'invalid host',
      reason: 'InvalidRequest',
      code: 'host-invalid',
      decision: id,
    },
  ])
  expect(it.records.list()).toMatchObject([
    {
      id,
      gateway: 'default/main',
      target: '',
      status: 400,
      code: 'host-invalid',
      client: '192.0.2.7:40000',
      detail: '',
      reason: 'InvalidRequest',
      attempts: [],
    },
  ])
})

test('a connection that broke HTTP/2: a line without a status, and a record by id', () => {
  const { observer: it, lines, metrics } = observer()
  it.connectionBroken({ connection: UNREAD, decisionNumber: 8 }, 'http2-protocol-error', 'Protocol error')
  expect(lines).toEqual([
    {
      level: 'info',
      time: '2027-01-15T08:00:00.000Z',
      scope: 'request',
      gateway: 'default/main',
      'src.addr': '192.0.2.7:40000',
      'dst.addr': '127.0.0.1:8080',
      error: 'Protocol error',
      reason: 'InvalidRequest',
      code: 'http2-protocol-error',
      decision: ids.idOf(8),
    },
  ])
  const detail = 'Protocol error'
  expect(it.records.list()).toMatchObject([{ code: 'http2-protocol-error', detail, reason: 'InvalidRequest' }])
  expect(metrics()).toEqual({ wire_refusals_total: 1 })
})

test('connections that break count into the same flood', () => {
  const { observer: it, lines, metrics } = observer()
  for (let i = 0; i < 300; i++) {
    it.connectionBroken({ connection: UNREAD, decisionNumber: i + 1 }, 'http2-flood', 'too many SETTINGS frames')
    it.refusedByWire('malformed-request', { connection: UNREAD, decisionNumber: i + 1 })
  }
  expect(lines.length).toBe(100)
  // Of each of the two.
  expect(metrics()).toEqual({ wire_refusals_total: 300 })
})

test('a flood of them has 100 lines and records, and then 10 in a second; all are counted', () => {
  const { observer: it, lines, metrics } = observer()
  const told = (count: number) =>
    Array.from({ length: count }, (_, i) =>
      it.refusedByWire('malformed-request', { connection: UNREAD, decisionNumber: i + 1 }),
    ).filter((id) => id !== undefined).length
  expect(told(5000)).toBe(100)
  expect([lines.length, it.records.list().length]).toEqual([100, 100])
  elapsed = 1000
  expect(told(500)).toBe(10)
  expect(lines[100]).toMatchObject({ code: 'malformed-request', untold: 4900 })
  expect(lines[101]).not.toHaveProperty('untold')
  expect(metrics()).toEqual({ wire_refusals_total: 5500 })
})

test('requests that end in the same turn of the event loop have durations and times of their own', () => {
  const { observer: it, lines } = observer()
  const [quick, slow] = [observed(), observed()]
  for (const [request, endMs] of [
    [quick, 2],
    [slow, 40],
  ] as const) {
    elapsed = endMs
    it.ended(request, 0, undefined)
  }
  expect(lines.map(({ duration, time }) => [duration, time])).toEqual([
    [2, '2027-01-15T08:00:00.000Z'],
    [40, '2027-01-15T08:00:00.038Z'],
  ])
  expect(it.records.list().map(({ durationMs }) => durationMs)).toEqual([2, 40])
})

test('the example of the bytes of responses is a request whose response has some', () => {
  const { end, reader } = observer()
  const target = { signal: 'traces', backend: 'b', protocol: 'GRPC', path: '', resource: () => [], key: 'k' } as const
  const span = new RequestSpan({ target, remove: new Set() }, { ...clock, random: Math.random }, undefined, '')
  for (const sentBytes of [10, 0]) end({ noted: { span } }, sentBytes)
  expect(reader.text([], 'openmetrics')).toMatch(/response_bytes_total\{.*\} 10 # \{.*\} 10 /)
})

test('the record of a request has the values of the line and of metric labels', () => {
  const { observer: it, end } = observer()
  const target = { signal: 'traces', backend: 'b', protocol: 'GRPC', path: '', resource: () => [], key: 'k' } as const
  const span = new RequestSpan({ target, remove: new Set() }, { ...clock, random: Math.random }, undefined, '')
  const noted = { refusal: 'rate-limited', reason: 'RateLimit', span } as const
  const inputs = {
    noted,
    status: 429,
    endpointLabel: 'e:1',
    endpointSection: 'main',
    llm: { requestModel: 'm', responseModel: 'm-1', inputTokens: 3, outputTokens: 4, errorType: 'reset' },
  }
  end(inputs)
  const ended = new Ended(observed(inputs), clock.now(), 1, undefined)
  const [record] = it.records.list()
  const known = ENDED.flatMap(({ of, fields }: Group<Ended>) => {
    const subject = of(ended)
    return subject === undefined ? [] : fields.map((field) => ({ ...field, value: field.read(subject) }))
  })
  const kept = known.filter(({ record }) => record !== undefined && record !== 'id')
  expect(kept.map(({ record: member, value }) => [member, value])).toEqual(
    kept.map(({ record: member }) => [member, record![member!]]),
  )
  expect(kept).toHaveLength(19)
})

test('a record keeps at most 256 characters of the name of a model', () => {
  const { observer: it, end } = observer()
  end({ llm: { requestModel: 'm'.repeat(1000) } })
  expect(it.records.list()[0]!.requestModel).toBe(`${'m'.repeat(255)}\u2026`)
})

test('an LLM request that was refused before it was sent is no call of a model', () => {
  const { end, lines, reader } = observer()
  end({ noted: { refusal: 'rate-limited', reason: 'RateLimit' }, llm: { operation: 'chat', requestModel: 'm' } })
  expect(lines).toMatchObject([{ 'gen_ai.request.model': 'm', code: 'rate-limited' }])
  expect(reader.text()).not.toMatch(/gen_ai_server_request_duration\w*_count\{/)
  end({ noted: { refusal: 'upstream-failed', sentMonotonicMs: 1 }, llm: { operation: 'chat', requestModel: 'm' } })
  expect(reader.text()).toMatch(/gen_ai_server_request_duration\w*_count\{/)
})

test('a series with custom labels is not used for requests of the same place without them', () => {
  const { end, reader } = observer()
  const llm = { inputTokens: 1 }
  end({ llm, settings: settingsOf({ labels: { tier: '"gold"' } }) })
  end({ llm })
  const durations = reader.text().match(/gen_ai_server_request_duration\w*_count\{.*/g) ?? []
  expect(durations.map((line) => line.replace(/.*,(?=tier)/, ''))).toEqual(['tier="gold"} 1', 'tier="unknown"} 1'])
})

test('the record of an MCP message has its facts and the times of its targets, which are a metric', () => {
  const attempts = [
    { endpoint: 'a', status: 200, failure: undefined, sentMs: 10, answeredMs: 20, endedMs: 2010 },
    { endpoint: 'b', status: 0, failure: 'reset', sentMs: 10, answeredMs: 14 },
  ]
  const mcp = {
    method: 'resources/read',
    target: 'a',
    resourceType: 'resource',
    name: 'file:///x?token=secret',
    sessionId: 'sealed',
    errorCode: -32_603,
    errorMessage: 'no such file',
    toolArguments: { large: 'argument' },
  } as const
  const { observer: it, end, reader } = observer()
  end({ mcp, noted: { attempts } })
  const [record] = it.records.list()
  expect(record).toMatchObject({
    attempts,
    mcp: {
      method: 'resources/read',
      target: 'a',
      resourceType: 'resource',
      item: 'file:///x?token=<redacted>',
      session: expect.stringMatching(/^[0-9a-f]{12}$/),
      errorCode: -32_603,
      errorMessage: 'no such file',
    },
  })
  expect(JSON.stringify(record)).not.toMatch(/sealed|large/)
  const text = reader.text()
  expect(text).toMatch(/^gatewright_mcp_target_duration_seconds_sum\{server="a",.*\} 2$/m)
  expect(text).toMatch(/^gatewright_mcp_target_duration_seconds_bucket\{server="b",.*le="0\.005"\} 1$/m)
})
