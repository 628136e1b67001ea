import type { StatusReport } from '#admin/status-report.ts'
import { parseJson } from '#base/parse-json.ts'
import { oneOf } from '../environment.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { printJson, printStyled } from '../output.ts'
import { askAdmin } from '../reach/ask-admin.ts'
import { isInCluster, type ReachFlags, reach } from '../reach/reach.ts'
import { statusLines } from './status-lines.ts'

export interface StatusFlags extends ReachFlags {
  readonly output?: string
}

/** Shows the state of a running gateway, of a Gateway of a cluster with its pods, or of all Gateways. @returns success if it is ready */
export async function status(gateway: string | undefined, { output, ...flags }: StatusFlags): Promise<ExitCode> {
  const isJson = oneOf(['text', 'json'], ['--output', output]) === 'json'
  if (isInCluster(gateway, flags)) {
    const { clusterStatus } = await import('./cluster-status.ts')
    return clusterStatus(gateway, flags, isJson)
  }
  using reached = await reach(undefined, flags)
  const answer = await askAdmin(await reached.server(), '/status')
  if ('exitCode' in answer) return answer.exitCode
  const report = parseJson(answer.text) as StatusReport
  if (isJson) printJson(report)
  else for (const line of statusLines(report)) printStyled(line)
  return report.notReady.length === 0 ? EXIT.ok : EXIT.findings
}
