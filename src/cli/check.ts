import { readFileSync } from 'node:fs'
import { count } from '#base/count.ts'
import type { Check, Verdict } from '#cluster/examine/check.ts'
import { examineCluster } from '#cluster/examine/examine-cluster.ts'
import { projectFile } from '#instance/project-file.ts'
import { VERSION } from '#instance/version.ts'
import { type ClusterFlags, clusterClient } from './cluster-client.ts'
import { EXIT, type ExitCode } from './exit-code.ts'
import { outputIn } from './option-values.ts'
import { print, printJson, printStyled } from './output.ts'
import type { Style } from './terminal.ts'

export interface CheckFlags extends ClusterFlags {
  readonly controllerNamespace: string
  /** Only Gateways in these namespaces. */
  readonly namespace?: readonly string[]
  readonly output?: string
}

const MARKS: Readonly<Record<Verdict, { readonly text: string; readonly style: Style }>> = {
  ok: { text: 'ok', style: 'green' },
  warning: { text: 'warning', style: 'yellow' },
  failure: { text: 'FAILURE', style: 'red' },
  unknown: { text: 'unknown', style: 'dim' },
}
const MARK_WIDTH = 8
const AREA_WIDTH = 13

/** Checks a cluster before or after an installation. @returns success if no check fails */
export async function check(flags: CheckFlags): Promise<ExitCode> {
  const isJson = outputIn(flags) === 'json'
  using client = await clusterClient(flags, process.env)
  const checks = await examineCluster(client, examined(flags))
  if (isJson) printJson({ server: client.server, version: VERSION, ok: !hasFailed(checks), checks })
  else {
    for (const each of checks) printCheck(each)
    print(summary(checks))
  }
  return hasFailed(checks) ? EXIT.findings : EXIT.ok
}

/** What a command examines. */
export function examined({
  controllerNamespace,
  namespace = [],
}: Pick<CheckFlags, 'controllerNamespace' | 'namespace'>) {
  const rights = readFileSync(projectFile('install/charts/gatewright/files/rights.yaml'), 'utf8')
  return { controllerNamespace, namespaces: namespace, version: VERSION, rights }
}

function hasFailed(checks: readonly Check[]): boolean {
  return checks.some(({ verdict }) => verdict === 'failure')
}

function printCheck({ area, verdict, detail, change }: Check): void {
  const { text, style } = MARKS[verdict]
  printStyled([{ text: text.padEnd(MARK_WIDTH), style }, { text: `${area.padEnd(AREA_WIDTH)}${detail}` }])
  if (change !== undefined) print(`${' '.repeat(MARK_WIDTH + 1)}${' '.repeat(AREA_WIDTH)}${change}`)
}

function summary(checks: readonly Check[]): string {
  const of = (verdict: Verdict) => checks.filter((each) => each.verdict === verdict).length
  const parts = [count(of('failure'), 'failure'), count(of('warning'), 'warning'), `${of('unknown')} not checked`]
  return `${count(checks.length, 'check')}: ${parts.join(', ')}`
}
