import type { StatusReport } from '#admin/status-report.ts'
import { parseJson } from '#base/parse-json.ts'
import { askAdmin } from '../ask-admin.ts'
import { oneOf } from '../environment.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { printJson, printStyled } from '../output.ts'
import { statusLines } from './status-lines.ts'

export interface StatusFlags {
  /** URL of the admin server; the default is that of the environment. */
  readonly admin?: string | undefined
  readonly output?: string
}

/** Shows the state of a running gateway. @returns success if it is ready */
export async function status({ admin, output }: StatusFlags): Promise<ExitCode> {
  const isJson = oneOf(['text', 'json'], ['--output', output]) === 'json'
  const answer = await askAdmin(admin, '/status')
  if ('exitCode' in answer) return answer.exitCode
  const report = parseJson(answer.text) as StatusReport
  if (isJson) printJson(report)
  else for (const line of statusLines(report)) printStyled(line)
  return report.notReady.length === 0 ? EXIT.ok : EXIT.findings
}
