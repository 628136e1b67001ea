import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../../support/eventually.ts'
import { idsOf } from '../../support/traced-gateway.ts'
import { installedPythonPackages } from '../counterparts.ts'
import type { Transcript } from '../transcript.ts'
import { type AllTraffic, startAllTraffic } from './all-traffic.ts'
import { promtool, runProgram } from './promtool.ts'
import { INSTALL, type Prometheus, startPrometheus } from './start-prometheus.ts'

/** What the reference implementation of OpenMetrics reads, one line for each family: its name, type and unit, and how many exemplars it has. */
const READ_OPENMETRICS = `
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
for family in text_string_to_metric_families(sys.stdin.read()):
    print(family.name, family.type, family.unit or '-', sum(sample.exemplar is not None for sample in family.samples))
`

/** Histograms and counters that traced requests of this traffic lead to. */
const WITH_EXEMPLARS = [
  'gatewright_requests',
  'gatewright_request_duration_seconds',
  'gatewright_request_processing_seconds',
  'gatewright_response_processing_seconds',
  'gatewright_upstream_call_duration_seconds',
  'gatewright_call_duration_seconds',
  'gatewright_callouts',
  'gatewright_retries',
  'gatewright_upstream_failures',
  'gatewright_response_bytes',
  'gatewright_guardrail_checks',
  'gatewright_guardrail_duration_seconds',
  'gatewright_gen_ai_client_token_usage',
  'gatewright_gen_ai_client_cost_usd',
  'gatewright_cost_catalog_lookups',
  'gatewright_gen_ai_server_request_duration',
  'gatewright_gen_ai_server_time_to_first_token',
  'gatewright_gen_ai_server_time_per_output_token',
  'gatewright_mcp_requests',
  'gatewright_mcp_target_duration_seconds',
  'gatewright_a2a_requests',
]

/** Metrics of connections, threads and configuration. */
const OF_NO_REQUEST = [
  'gatewright_build',
  'gatewright_downstream_connections',
  'gatewright_downstream_received_bytes',
  'gatewright_downstream_sent_bytes',
  'gatewright_upstream_connect_duration_seconds',
  'gatewright_wire_refusals',
  'gatewright_event_loop_delay_seconds',
  'gatewright_gc_duration_seconds',
  'gatewright_heap_used_bytes',
  'gatewright_plan_version',
  'gatewright_worker_plan_version',
  'gatewright_config_last_reload_success_timestamp_seconds',
  'process_max_fds',
]

/** Panels that this traffic leaves empty: no stream breaks, and the configuration is in order. */
const EMPTY_PANELS = ['Broken streams', 'Findings']

/** Metrics of HTTP, LLM, MCP, A2A, relayed, limited, guarded and failing traffic, as Prometheus has them, with exemplars that lead to traces. */
export async function checkTraffic(transcript: Transcript, stops: AsyncDisposableStack): Promise<void> {
  const traffic = await startAllTraffic(stops)
  transcript.check('statuses', await traffic.send(), {
    ...{ plain: 200, asked: 200, limited: 429, closed: 503, chat: 200, guarded: 403, streamed: 200 },
    ...{ mcp: 200, a2a: 200, malformed: '400', relayed: 'relayed' },
  })
  const metricsUrl = `${traffic.front.gateway.url(15_020)}/metrics`
  const scrape = async (accept: string) => (await fetch(metricsUrl, { headers: { accept } })).text()
  const families = await eventually('the reference implementation reads all metrics', async () => {
    const read = await readOpenMetrics(await scrape('application/openmetrics-text'))
    return WITH_EXEMPLARS.every((name) => read.has(name)) ? read : undefined
  })
  const without = WITH_EXEMPLARS.filter((name) => families.get(name)?.exemplars === 0)
  transcript.check('metrics of traced requests have exemplars', without, [])
  const others = [...families].filter(([name, { exemplars }]) => exemplars > 0 && !WITH_EXEMPLARS.includes(name))
  transcript.check('other metrics have none', others, [])
  const missing = OF_NO_REQUEST.filter((name) => !families.has(name))
  transcript.check('metrics of connections, threads and configuration', missing, [])
  transcript.check(
    'an info, and units',
    [families.get('gatewright_build')?.type, ...unitsOf(families)],
    ['info', 'bytes', 'seconds'],
  )
  const checked = await promtool(['check', 'metrics'], await scrape('text/plain'))
  transcript.check('promtool check metrics, classic format', [checked.code, checked.output], [0, ''])

  const prometheus = await startPrometheus(stops, new URL(metricsUrl).host)
  await checkPanels(transcript, traffic, prometheus)
  await checkExemplars(transcript, traffic, prometheus)
}

interface Family {
  readonly type: string
  readonly unit: string
  readonly exemplars: number
}

async function readOpenMetrics(text: string): Promise<ReadonlyMap<string, Family>> {
  const python = installedPythonPackages('observe-python', 'prometheus-client==0.24.1')
  const { code, output } = await runProgram(python, ['-c', READ_OPENMETRICS], text)
  if (code !== 0) throw new Error(output)
  return new Map(
    output.split('\n').map((line) => {
      const [name, type, unit, exemplars] = line.split(' ') as [string, string, string, string]
      return [name, { type, unit, exemplars: Number(exemplars) }]
    }),
  )
}

function unitsOf(families: ReadonlyMap<string, Family>): readonly string[] {
  return [...new Set([...families.values()].map(({ unit }) => unit))].filter((unit) => unit !== '-').toSorted()
}

/** Every query of the dashboard has series. */
async function checkPanels(transcript: Transcript, { send }: AllTraffic, { query }: Prometheus): Promise<void> {
  const dashboard = JSON.parse(readFileSync(join(INSTALL, 'grafana-dashboard.json'), 'utf8')) as {
    readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[]
  }
  let empty: string[] = []
  const look = async () => {
    await send()
    empty = []
    for (const { title, targets = [] } of dashboard.panels) {
      for (const { expr } of targets) if ((await query(withValues(expr))).length === 0) empty.push(title)
    }
    return empty.every((title) => EMPTY_PANELS.includes(title)) || undefined
  }
  await eventually('all panels', look).catch(() => undefined)
  transcript.check('panels without series', empty, EMPTY_PANELS)
}

/** Grafana would fill these in. */
function withValues(expr: string): string {
  return expr.replaceAll('$__rate_interval', '1m').replaceAll('$route', '.*').replaceAll('$backend', '.*')
}

/** Exemplars that Prometheus has kept belong to spans that were exported. */
async function checkExemplars(
  transcript: Transcript,
  { collector }: AllTraffic,
  { exemplars }: Prometheus,
): Promise<void> {
  for (const [metric, what] of [
    ['gatewright_request_duration_seconds_bucket{route="default/plain"}', 'a request'],
    ['gatewright_requests_total{route="default/mcp"}', 'an MCP request, as a counter'],
    ['gatewright_gen_ai_server_time_to_first_token_bucket', 'a streamed chat'],
    ['gatewright_call_duration_seconds_bucket{purpose="rate-limit"}', 'a call'],
    ['gatewright_guardrail_checks_total{action="Reject"}', 'a guarded request'],
  ] as const) {
    const found = await eventually(what, async () => {
      const kept = (await exemplars(metric)).flatMap((series) => series.exemplars)
      const spans = new Set(collector.received.map((one) => `${idsOf(one).trace} ${idsOf(one).span}`))
      const known = kept.filter(({ labels }) => spans.has(`${labels.trace_id} ${labels.span_id}`))
      return known.length > 0 ? known : undefined
    }).catch(() => [])
    transcript.check(
      `exemplars of ${what} in /api/v1/query_exemplars are spans that were exported`,
      found.length > 0,
      true,
    )
  }
}
