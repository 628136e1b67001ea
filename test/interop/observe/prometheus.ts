import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { eventually } from '../../support/eventually.ts'
import { routeYaml } from '../../support/objects-folder.ts'
import { startFront } from '../front.ts'
import type { Transcript } from '../transcript.ts'
import { promtool } from './promtool.ts'
import { INSTALL, startPrometheus } from './start-prometheus.ts'

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[]
}

/** Debian's Prometheus evaluates the alert rules: with prepared series, and for a healthy gateway, of which none holds. */
export async function checkPrometheus(transcript: Transcript, stops: AsyncDisposableStack): Promise<void> {
  const rules = join(INSTALL, 'prometheus-alerts.yaml')
  transcript.check('promtool check rules', (await promtool(['check', 'rules', rules])).code, 0)
  const tested = await promtool(['test', 'rules', join(import.meta.dirname, 'alerts.test.yaml')])
  transcript.check('promtool test rules', tested.code === 0 ? 0 : tested.output, 0)

  const front = await startFront(stops, routeYaml('all', '/', 'echo'))
  const { query } = await startPrometheus(stops, new URL(front.gateway.url(15_020)).host)
  await eventually('two scrapes', async () => {
    await (await front.ask('/x')).text()
    const [count] = await query('sum (increase(gatewright_requests_total[1m])) > 0')
    return count !== undefined
  })
  const alerts = (parse(readFileSync(rules, 'utf8')) as Rules).groups.flatMap((group) => group.rules)
  const firing: string[] = []
  for (const { alert, expr } of alerts) if ((await query(expr)).length > 0) firing.push(alert)
  transcript.check('a healthy gateway has no alerts', firing, [])
}
