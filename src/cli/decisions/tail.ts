import { setTimeout as sleep } from 'node:timers/promises'
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
  /** URL of the admin server; the default is that of the environment. */
  readonly admin?: string | undefined
  readonly status?: string
  readonly code?: string
  readonly route?: string
  readonly backend?: string
  readonly consumer?: string
  readonly model?: string
  readonly output?: string
}

/** Interval of attempts to reach a gateway that has ended. */
const RETRY_MS = 500

/** Prints decisions as they happen, until it is interrupted. It waits for a gateway that is restarted. */
export async function tail({ admin, output, ...parameters }: TailFlags): Promise<ExitCode> {
  const isJson = oneOf(['text', 'json'], ['--output', output]) === 'json'
  const open = (tell = complain) => openAdminStream(admin, '/decisions/tail', { parameters, tell })
  let response = await open()
  if ('exitCode' in response) return response.exitCode
  const closed = new AbortController()
  whenOutputCloses(() => closed.abort())
  for (;;) {
    await printStream(response, isJson, closed.signal)
    if (closed.signal.aborted) return EXIT.ok
    complain('the gateway has closed the stream; waiting until it responds again')
    do {
      await sleep(RETRY_MS)
      response = await open(() => {})
    } while ('exitCode' in response)
    complain('the gateway responds again; requests that ended in between are not shown')
  }
}

/** Returns when the stream or the output is closed. */
async function printStream(response: Response, isJson: boolean, closed: AbortSignal): Promise<void> {
  closed.addEventListener('abort', () => void response.body?.cancel().catch(() => {}), { once: true })
  const parser = new SseParser()
  try {
    for await (const piece of response.body!) {
      for (const { event, data } of parser.push(piece)) {
        if (event === 'lost') tellLost(data)
        else if (event === 'decision') printRecord(data, isJson)
      }
      if (closed.aborted) return
    }
  } catch {
    // The gateway has ended without closing the stream.
  }
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
