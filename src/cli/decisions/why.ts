import type { DescribedRecord } from '#admin/describe-record.ts'
import { parseJson } from '#base/parse-json.ts'
import { askAdmin, tellUnanswered } from '../ask-admin.ts'
import { oneOf } from '../environment.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { complain, printJson, printStyled } from '../output.ts'
import { formatRecord } from './format-record.ts'

export interface WhyFlags {
  /** URL of the admin server; the default is that of the environment. */
  readonly admin?: string | undefined
  readonly output?: string
}

/** Prints what happened to one request: its decision record. */
export async function why(id: string, { admin, output }: WhyFlags): Promise<ExitCode> {
  const isJson = oneOf(['text', 'json'], ['--output', output]) === 'json'
  const answer = await askAdmin(admin, '/decisions', { parameters: { id } })
  if ('exitCode' in answer) return answer.exitCode
  const [record] = parseJson(answer.text) as readonly DescribedRecord[]
  if (record === undefined) {
    complain(`no worker has a record of decision ${id}; each keeps its last 1,024 decisions`)
    tellUnanswered(answer, 'the records')
    return EXIT.findings
  }
  if (isJson) printJson(record)
  else for (const line of formatRecord(record)) printStyled(line)
  return EXIT.ok
}
