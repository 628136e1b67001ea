import { setTimeout as sleep } from 'node:timers/promises'
import type { DescribedRecord } from '#admin/describe-record.ts'
import { count } from '#base/count.ts'
import { parseJson } from '#base/parse-json.ts'
import { ApiUnreadable } from '#cluster/api-unreadable.ts'
import { SseParser } from '#protocols/http/sse.ts'
import { oneOf } from '../environment.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { complain, print, printStyled, whenOutputCloses } from '../output.ts'
import type { AdminServer, ReachedGateway } from '../reach/admin-server.ts'
import { type Failed, openAdminStream } from '../reach/ask-admin.ts'
import { type ReachFlags, reach } from '../reach/reach.ts'
import { recordLine } from './record-line.ts'

export interface TailFlags extends ReachFlags {
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
/** Interval of looks for new pods. */
const LOOK_MS = 5000

/** Prints decisions as they happen, until it is interrupted. It waits for a gateway that is restarted, and shows pods that come later. */
export async function tail(
  gateway: string | undefined,
  { output, admin, kubeconfig, context, namespace, pod, ...parameters }: TailFlags,
): Promise<ExitCode> {
  const isJson = oneOf(['text', 'json'], ['--output', output]) === 'json'
  const given = { admin, kubeconfig, context, namespace, pod }
  using reached = await reach(gateway, given)
  const closed = new AbortController()
  whenOutputCloses(() => closed.abort())
  return await new Tail(reached, parameters, { isJson, closed: closed.signal }).run()
}

interface TailOutput {
  readonly isJson: boolean
  /** The output is closed. */
  readonly closed: AbortSignal
}

/** The streams of all servers of a gateway. */
class Tail {
  readonly #reached: ReachedGateway
  readonly #parameters: Readonly<Record<string, string | undefined>>
  readonly #output: TailOutput
  /** Names of the servers whose streams are open, and of those whose streams have ended. */
  readonly #open = new Set<string>()
  readonly #ended = new Set<string>()
  #wake: () => void = () => {}

  constructor(reached: ReachedGateway, parameters: Readonly<Record<string, string | undefined>>, output: TailOutput) {
    this.#reached = reached
    this.#parameters = parameters
    this.#output = output
  }

  async run(): Promise<ExitCode> {
    const { closed } = this.#output
    const failed = await this.#openAll(await this.#reached.servers(), complain)
    if (this.#open.size === 0 && failed !== undefined) return failed.exitCode
    for (;;) {
      await this.#pause(this.#ended.size > 0 ? RETRY_MS : LOOK_MS)
      if (closed.aborted) return EXIT.ok
      const servers = await this.#reached.servers().catch((error: unknown) => {
        if (!(error instanceof ApiUnreadable)) throw error
        return undefined
      })
      if (servers === undefined) continue
      for (const name of this.#ended) if (!servers.some((server) => server.name === name)) this.#ended.delete(name)
      await this.#openAll(servers, () => {})
      if (closed.aborted) return EXIT.ok
    }
  }

  /** Opens the streams that are not open. @returns the last failure */
  async #openAll(servers: readonly AdminServer[], tell: (failure: string) => void): Promise<Failed | undefined> {
    const results = await Promise.all(
      servers.map((server) => (this.#open.has(server.name) ? undefined : this.#openOne(server, tell))),
    )
    return results.findLast((result) => result !== undefined)
  }

  async #openOne(server: AdminServer, tell: (failure: string) => void): Promise<Failed | undefined> {
    const response = await openAdminStream(server, '/decisions/tail', { parameters: this.#parameters, tell })
    if ('exitCode' in response) return response
    const who = server.pod === undefined ? 'the gateway' : server.name
    if (this.#ended.delete(server.name)) complain(`${who} responds again; requests that ended in between are not shown`)
    else if (tell !== complain) complain(`${who} is shown from now on`)
    this.#open.add(server.name)
    void printStream(response, server.pod, this.#output).then(() => {
      this.#open.delete(server.name)
      if (!this.#output.closed.aborted) {
        this.#ended.add(server.name)
        complain(`${who} has closed the stream; waiting until it responds again`)
      }
      this.#wake()
    })
    return undefined
  }

  /** Until the time is over, a stream ends, or the output is closed. */
  async #pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    const timer = new AbortController()
    await Promise.race([promise, sleep(ms, undefined, { signal: timer.signal }).catch(() => {})])
    timer.abort()
  }
}

/** Returns when the stream or the output is closed. */
async function printStream(response: Response, pod: string | undefined, { isJson, closed }: TailOutput): Promise<void> {
  closed.addEventListener('abort', () => void response.body?.cancel().catch(() => {}), { once: true })
  const parser = new SseParser()
  try {
    for await (const piece of response.body!) {
      for (const { event, data } of parser.push(piece)) {
        if (event === 'lost') tellLost(data)
        else if (event === 'decision') printRecord(data, pod, isJson)
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
function printRecord(data: string, pod: string | undefined, isJson: boolean): void {
  if (isJson && pod === undefined) return print(data)
  const record = parseJson(data) as DescribedRecord
  if (isJson) print(JSON.stringify({ pod, ...record }))
  else printStyled([{ text: pod ?? '', style: 'dim' }, ...recordLine(record)])
}
