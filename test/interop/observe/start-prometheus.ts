import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'
import { debianProgram } from '../counterparts.ts'

/** The files for operators. */
export const INSTALL = join(import.meta.dirname, '..', '..', '..', 'install', 'observability')

/** A series with exemplars, as `/api/v1/query_exemplars` returns it. */
export interface ExemplarSeries {
  readonly seriesLabels: Readonly<Record<string, string>>
  readonly exemplars: readonly { readonly labels: Readonly<Record<string, string>>; readonly value: string }[]
}

export interface Prometheus {
  /** The series that a query has now; fails if Prometheus cannot read it. */
  query(query: string): Promise<readonly unknown[]>
  /** What was kept of the last minutes. */
  exemplars(query: string): Promise<readonly ExemplarSeries[]>
}

/** Starts Debian's Prometheus with the rules of `install/`, which scrapes this address twice a second. */
export async function startPrometheus(stops: AsyncDisposableStack, target: string): Promise<Prometheus> {
  const program = debianProgram('prometheus', 'usr/bin/prometheus')
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
  const words = [
    `--config.file=${file}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=${address}`,
    '--enable-feature=exemplar-storage',
  ]
  const child = spawn(program, words, { stdio: 'ignore' })
  const ended = once(child, 'exit')
  stops.defer(async () => {
    child.kill()
    await ended
  })
  await eventually('prometheus is ready', async () => (await fetch(`http://${address}/-/ready`)).ok)
  const ask = async (path: string, parameters: Readonly<Record<string, string>>): Promise<unknown> => {
    const response = await fetch(`http://${address}/api/v1/${path}?${new URLSearchParams(parameters)}`)
    const answer = (await response.json()) as { status: string; error?: string; data: unknown }
    if (answer.status !== 'success') throw new Error(`${parameters.query}: ${answer.error}`)
    return answer.data
  }
  return {
    query: async (query) => ((await ask('query', { query })) as { result: readonly unknown[] }).result,
    exemplars: async (query) => {
      const now = Date.now() / 1000
      const range = { start: `${now - 600}`, end: `${now + 60}` }
      return (await ask('query_exemplars', { query, ...range })) as readonly ExemplarSeries[]
    },
  }
}
