import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'
import { routeYaml } from '../../support/objects-folder.ts'
import { debianProgram } from '../counterparts.ts'
import { startFront } from '../front.ts'
import type { Transcript } from '../transcript.ts'

const INSTALL = join(import.meta.dirname, '..', '..', '..', 'install', 'observability')

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[]
}

/** Debian's Prometheus scrapes the gateway; every query of the dashboard and of the alert rules is asked of it. */
export async function checkPrometheus(transcript: Transcript, stops: AsyncDisposableStack): Promise<void> {
  const promtool = debianProgram('prometheus', 'usr/bin/promtool')
  const prometheus = debianProgram('prometheus', 'usr/bin/prometheus')
  const rules = join(INSTALL, 'prometheus-alerts.yaml')
  transcript.check('promtool check rules', (await run(promtool, ['check', 'rules', rules])).code, 0)
  const tests = join(import.meta.dirname, 'alerts.test.yaml')
  const tested = await run(promtool, ['test', 'rules', tests])
  transcript.check('promtool test rules', tested.code === 0 ? 0 : tested.output, 0)

  const front = await startFront(stops, routeYaml('all', '/', 'echo'))
  await (await front.ask('/x')).text()
  const metricsUrl = `${front.gateway.url(15_020)}/metrics`
  const scraped = await (await fetch(metricsUrl)).text()
  const checked = await run(promtool, ['check', 'metrics'], scraped)
  transcript.check('promtool check metrics', [checked.code, checked.output], [0, ''])

  const query = await startPrometheus(stops, prometheus, new URL(metricsUrl).host)
  await eventually('two scrapes', async () => {
    await (await front.ask('/x')).text()
    const [count] = await query('sum (increase(gatewright_requests_total[1m])) > 0')
    return count !== undefined
  })
  const dashboard = JSON.parse(readFileSync(join(INSTALL, 'grafana-dashboard.json'), 'utf8')) as {
    readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[]
  }
  const empty: string[] = []
  for (const { title, targets = [] } of dashboard.panels) {
    for (const { expr } of targets) {
      const series = await query(withValues(expr))
      if (series.length === 0) empty.push(title)
    }
  }
  transcript.check(
    'panels with plain traffic',
    [
      'Requests by status',
      'Duration',
      'Requests by route',
      'Requests in flight',
      'Endpoints',
      'Busy event loops',
      'Memory',
    ].filter((title) => empty.includes(title)),
    [],
  )
  const alerts = (parse(readFileSync(rules, 'utf8')) as Rules).groups.flatMap((group) => group.rules)
  const firing: string[] = []
  for (const { alert, expr } of alerts) if ((await query(expr)).length > 0) firing.push(alert)
  transcript.check('a healthy gateway has no alerts', firing, [])
}

/** Grafana would fill these in. */
function withValues(expr: string): string {
  return expr.replaceAll('$__rate_interval', '1m').replaceAll('$route', '.*').replaceAll('$backend', '.*')
}

type Ask = (query: string) => Promise<readonly unknown[]>

/** @returns asks a query; it fails if Prometheus cannot read it */
async function startPrometheus(stops: AsyncDisposableStack, program: string, target: string): Promise<Ask> {
  const folder = mkdtempSync(join(tmpdir(), 'gatewright-prometheus-'))
  stops.defer(() => rmSync(folder, { recursive: true, force: true }))
  const config = parse(readFileSync(join(INSTALL, 'prometheus.yaml'), 'utf8')) as Record<string, unknown>
  const here = {
    ...config,
    global: { scrape_interval: '500ms', evaluation_interval: '500ms' },
    rule_files: [join(INSTALL, 'prometheus-alerts.yaml')],
    scrape_configs: [{ job_name: 'gatewright', scrape_interval: '500ms', static_configs: [{ targets: [target] }] }],
  }
  const file = join(folder, 'prometheus.yaml')
  writeFileSync(file, stringify(here))
  const address = `127.0.0.1:${await freePort()}`
  const child = spawn(
    program,
    [`--config.file=${file}`, `--storage.tsdb.path=${join(folder, 'data')}`, `--web.listen-address=${address}`],
    { stdio: 'ignore' },
  )
  const ended = once(child, 'exit')
  stops.defer(async () => {
    child.kill()
    await ended
  })
  await eventually('prometheus is ready', async () => (await fetch(`http://${address}/-/ready`)).ok)
  return async (query) => {
    const response = await fetch(`http://${address}/api/v1/query?query=${encodeURIComponent(query)}`)
    const answer = (await response.json()) as { status: string; error?: string; data: { result: readonly unknown[] } }
    if (answer.status !== 'success') throw new Error(`${query}: ${answer.error}`)
    return answer.data.result
  }
}

async function run(program: string, words: readonly string[], input = ''): Promise<{ code: number; output: string }> {
  const child = spawn(program, words, { stdio: ['pipe', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text: Buffer) => {
      output += text
    })
  }
  child.stdin.end(input)
  const [code] = (await once(child, 'close')) as [number]
  return { code, output: output.trim() }
}
