import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import type { Finding } from '#base/finding.ts'
import type { Reason } from '#base/rejections.ts'
import type { Callout, GuardCheck } from '#exchange/exchange.ts'
import { fullName, type Metric } from '#observe/metrics/metric.ts'
import { METRICS } from '#observe/metrics/metrics.ts'

const FOLDER = join(import.meta.dirname, '..', '..', 'install', 'observability')
const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8')

interface Dashboard {
  readonly panels: readonly {
    readonly title: string
    readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[]
  }[]
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: unknown }[] }
}
const dashboard = JSON.parse(read('grafana-dashboard.json')) as Dashboard

interface Rules {
  readonly groups: readonly { readonly rules: readonly Rule[] }[]
}
interface Rule {
  readonly alert: string
  readonly expr: string
  readonly annotations: Readonly<Record<string, string>>
}
const alerts = (parse(read('prometheus-alerts.yaml')) as Rules).groups.flatMap(({ rules }) => rules)

const metrics = new Map<string, Metric>(Object.values(METRICS).map((metric: Metric) => [fullName(metric), metric]))

/** Values of labels that queries name; the types say that the gateway has them. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  action: ['Fail' satisfies GuardCheck['verdict']],
  job: ['gatewright'],
  outcome: ['failed' satisfies 'fetched' | 'failed'],
  reason: ['Upstream' satisfies Reason],
  severity: ['error' satisfies Finding['severity']],
  verdict: ['failed' satisfies Callout['verdict']],
}

/** Labels that the metric of a name has; undefined: there is no such metric. `up` is of Prometheus. */
function labelsOf(name: string): readonly string[] | undefined {
  if (name === 'up') return ['job', 'instance']
  const metric = metrics.get(name)
  if (metric !== undefined) return metric.type === 'histogram' ? undefined : [...metric.labels, 'job']
  const histogram = metrics.get(name.replace(/_(?:bucket|sum|count)$/, ''))
  return histogram?.type === 'histogram' ? [...histogram.labels, 'le', 'job'] : undefined
}

/** Metrics that a query reads and does not exist, and labels that they do not have. */
function mistakesIn(expr: string): readonly string[] {
  const names = [...expr.matchAll(/\b(?:gatewright|process)_\w+|\bup\b/g)].map(([name]) => name)
  const unknown = names.filter((name) => labelsOf(name) === undefined)
  if (unknown.length > 0 || names.length === 0) return names.length === 0 ? ['no metric'] : unknown
  const known = new Set(names.flatMap((name) => labelsOf(name)!))
  const matched = [...expr.matchAll(/\{([^}]*)\}/g)].flatMap(([, list]) =>
    [...list!.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label]) => label!),
  )
  const literals = [...expr.matchAll(/(\w+)!?="([^"]*)"/g)].filter(
    ([, label, value]) => !VALUES[label!]?.includes(value!),
  )
  if (literals.length > 0) return literals.map(([text]) => text)
  const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list]) => list!.split(', '))
  return [...matched, ...grouped].filter((label) => !known.has(label))
}

test.each([
  ['sum (rate(gatewright_request_total[5m]))', ['gatewright_request_total']],
  ['rate(gatewright_request_duration_seconds[5m])', ['gatewright_request_duration_seconds']],
  ['sum by (rout) (gatewright_requests_total{state=~"2.."})', ['state', 'rout']],
  ['gatewright_callouts_total{verdict="refused"}', ['verdict="refused"']],
  ['1 + 1', ['no metric']],
])('%s has mistakes', (expr, mistakes) => {
  expect(mistakesIn(expr)).toEqual(mistakes)
})

const queries = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr, legendFormat }) => [title, expr, legendFormat] as const),
)

test.each(queries)('%s: the query reads labels of metrics that exist', (_, expr, legend) => {
  expect(mistakesIn(expr)).toEqual([])
  const named = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label!)
  const kept = /\bby \(([^)]*)\)/.exec(expr)?.[1]?.split(', ') ?? []
  expect(kept, 'the query keeps what the legend names').toEqual(expect.arrayContaining(named))
})

test.each(alerts)('$alert: the rule reads labels of metrics that exist', ({ expr, annotations }) => {
  expect(mistakesIn(expr)).toEqual([])
  const named = [
    ...Object.values(annotations)
      .join(' ')
      .matchAll(/\$labels\.(\w+)/g),
  ].map(([, label]) => label!)
  const kept = /\bby \(([^)]*)\)/.exec(expr)?.[1]?.split(', ')
  const labels = kept ?? labelsOf(/\b(?:(?:gatewright|process)_\w+|up)\b/.exec(expr)![0])!
  expect(labels, 'an alert has the labels that its texts name').toEqual(expect.arrayContaining(named))
})

test('every panel and every alert has its own name', () => {
  const titles = dashboard.panels.map(({ title }) => title)
  expect(new Set(titles).size).toBe(titles.length)
  expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length)
})

test('the variables of the dashboard read labels of requests', () => {
  const asked = dashboard.templating.list.flatMap(({ query }) =>
    typeof query === 'object' ? [(query as { query: string }).query] : [],
  )
  expect(asked).toEqual(['route', 'backend'].map((label) => `label_values(gatewright_requests_total, ${label})`))
})
