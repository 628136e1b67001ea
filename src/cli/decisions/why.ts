import type { DescribedRecord } from '#admin/describe-record.ts'
import { parseJson } from '#base/parse-json.ts'
import { oneOf } from '../environment.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { complain, print, printJson, printStyled } from '../output.ts'
import { askAll, tellUnanswered } from '../reach/ask-admin.ts'
import { type ReachFlags, reach } from '../reach/reach.ts'
import { formatRecord } from './format-record.ts'

export interface WhyFlags extends ReachFlags {
  readonly output?: string
}

/** Prints what happened to one request: its decision record. All pods of a Gateway are asked for it. */
export async function why(id: string, gateway: string | undefined, { output, ...flags }: WhyFlags): Promise<ExitCode> {
  const isJson = oneOf(['text', 'json'], ['--output', output]) === 'json'
  using reached = await reach(gateway, flags)
  const { answers, exitCode } = await askAll(await reached.servers(), '/decisions', { parameters: { id } })
  if (answers.length === 0) return exitCode
  for (const { server, text } of answers) {
    const [record] = parseJson(text) as readonly DescribedRecord[]
    if (record === undefined) continue
    const { pod } = server
    if (isJson) printJson(pod === undefined ? record : { pod, ...record })
    else {
      if (pod !== undefined) print(server.name)
      for (const line of formatRecord(record)) printStyled(line)
    }
    return EXIT.ok
  }
  complain(`no worker has a record of decision ${id}; each keeps its last 1,024 decisions`)
  for (const answer of answers) tellUnanswered(answer, 'the records')
  return EXIT.findings
}
