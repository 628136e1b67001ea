import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { MetricsReader } from '#observe/metrics/metrics-reader.ts'
import { MetricsWriter } from '#observe/metrics/metrics-writer.ts'
import type { PlanItem } from '#plan/item.ts'
import { FailingOutputs, type MainOutputs } from './failing-outputs.ts'

const NOW = Date.parse('2026-01-31T12:00:00Z')
const SINCE = '2026-01-31T12:00:00.000Z'

beforeEach(() => void vi.useFakeTimers({ now: NOW }))
afterEach(() => void vi.useRealTimers())

const policy = (field: 'accessLog' | 'tracing', spec: object) =>
  ({ kind: 'policy', section: 'frontend', field, spec, origin: { namespace: 'default' } }) as unknown as PlanItem
const collector = { kind: 'ProxyBackend', name: 'collector' }
const items = [policy('tracing', { backendRef: collector }), policy('accessLog', { otlp: { backendRef: collector } })]
const COLLECTOR = 'ProxyBackend/default/collector'

function outputs() {
  const reader = new MetricsReader({ hide: (text) => text, folded: () => {}, firstFolded: () => {} })
  const metrics = new MetricsWriter((update) => reader.add('w1', update))
  const told: unknown[] = []
  const failing = new FailingOutputs(reader, {
    message: (...line) => void told.push(line),
    accessLog: (...state) => void told.push(state),
  })
  const report = (others: Partial<MainOutputs> = {}) =>
    failing.report({ records: undefined, metrics: undefined, items, ...others })
  return { metrics, told, failing, report }
}

test('the access log of all workers is one output, with the oldest failure', () => {
  const { metrics, told, failing, report } = outputs()
  metrics.series('lostLines', []).add(7)
  expect(report()).toEqual([])
  failing.logChanged('w1', { kind: 'failing', cause: 'ENOSPC' })
  vi.setSystemTime(NOW + 1000)
  failing.logChanged('w2', { kind: 'failing', cause: 'EIO' })
  expect(report()).toEqual([{ output: 'access log', cause: 'ENOSPC', since: SINCE, lost: 7 }])
  failing.logChanged('w1', { kind: 'resumed', lines: 7 })
  expect(report()).toMatchObject([{ cause: 'EIO' }])
  failing.forget('w2')
  expect(report()).toEqual([])
  expect(told).toHaveLength(3)
})

test('exports fail by signal and backend, as long as a policy exports', () => {
  const { metrics, told, failing, report } = outputs()
  metrics.series('telemetryDropped', ['traces', 'refused']).add(3)
  metrics.series('telemetryDropped', ['traces', 'queue-full']).add(2)
  metrics.series('telemetryDropped', ['logs', 'refused']).add(1)
  const traces = { signal: 'traces', backend: COLLECTOR, cause: 'reset' } as const
  failing.exportChanged('w1', traces)
  failing.exportChanged('w2', { ...traces, cause: 'later' })
  failing.exportChanged('w1', { ...traces, signal: 'logs' })
  const ofTraces = { output: `traces to ${COLLECTOR}`, cause: 'reset', since: SINCE, lost: 5 }
  expect(report()).toEqual([ofTraces, { ...ofTraces, output: `logs to ${COLLECTOR}`, lost: 1 }])
  expect(report({ items: items.slice(0, 1) })).toEqual([ofTraces])
  expect(report({ items: [] })).toEqual([])
  failing.exportChanged('w1', { ...traces, cause: undefined })
  expect(report().map(({ cause }) => cause)).toEqual(['later', 'reset'])
  failing.forget('w1')
  expect(report().map(({ cause }) => cause)).toEqual(['later'])
  expect(told.map((line) => (line as unknown[])[1])).toEqual(['warn', 'warn', 'warn', 'info'])
})

test('records and metrics are written by the main thread', () => {
  const { metrics, report } = outputs()
  metrics.series('recordsDropped', ['write-failed']).add(4)
  metrics.series('telemetryDropped', ['metrics', 'undeliverable']).add(9)
  const failure = { cause: 'ENOTDIR', sinceMs: NOW }
  expect(report({ records: failure, metrics: failure })).toEqual([
    { output: 'decision records', cause: 'ENOTDIR', since: SINCE, lost: 4 },
    { output: 'metrics over OTLP', cause: 'ENOTDIR', since: SINCE, lost: 9 },
  ])
})
