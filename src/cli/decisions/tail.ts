import type { DescribedRecord } from '#admin/describe-record.ts'
import { count } from '#base/count.ts'
import { parseJson } from '#base/parse-json.ts'
import { SseParser } from '#protocols/http/sse.ts'
import { openAdminStream } from '../ask-admin.ts'
import { oneOf } from '../environment.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { complain, print, printStyled, whenOutputCloses } from '../output.ts'
import { recordLine } from './record-line.ts'

export interface TailFlags {
  /** URL of the admin server. */
  readonly admin: string
  readonly status?: string
  readonly code?: string
  readonly route?: string
  readonly backend?: string
  readonly consumer?: string
  readonly model?: string
  readonly output?: string
}

/** Prints decisions as they happen, until it is interrupted or the gateway ends. */
export async function tail({ admin, output, ...filters }: TailFlags): Promise<ExitCode> {
  const isJson = oneOf(['text', 'json'], ['--output', output]) === 'json'
  const response = await openAdminStream(admin, '/decisions/tail', filters)
  if ('exitCode' in response) return response.exitCode
  let isRead = true
  whenOutputCloses(() => {
    isRead = false
    void response.body?.cancel().catch(() => {})
  })
  const parser = new SseParser()
  try {
    for await (const piece of response.body!) {
      for (const { event, data } of parser.push(piece)) {
        if (event === 'lost') tellLost(data)
        else if (event === 'decision') printRecord(data, isJson)
      }
      if (!isRead) return EXIT.ok
    }
  } catch {
    // As below: the gateway has ended in another way.
  }
  if (!isRead) return EXIT.ok
  complain('the gateway has closed the stream')
  return EXIT.findings
}

function tellLost(data: string): void {
  const { records } = parseJson(data) as { records: number }
  complain(`${count(records, 'record')} could not be shown, because there are more than can be read`)
}

/** As JSON, one record a line. */
function printRecord(data: string, isJson: boolean): void {
  if (isJson) print(data)
  else printStyled(recordLine(parseJson(data) as DescribedRecord))
}
