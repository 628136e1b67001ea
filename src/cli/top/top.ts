import type { TrafficReport } from '#admin/traffic-report.ts'
import { parseJson } from '#base/parse-json.ts'
import { ApiUnreadable } from '#cluster/api-unreadable.ts'
import { oneOf } from '../environment.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { complain, print, printStyled, Screen, whenOutputCloses } from '../output.ts'
import type { ReachedGateway } from '../reach/admin-server.ts'
import { askAll, type Failed } from '../reach/ask-admin.ts'
import { type ReachFlags, reach } from '../reach/reach.ts'
import { UsageError } from '../usage-error.ts'
import { topLines, waitingLines } from './top-lines.ts'
import { type TrafficRates, trafficRates } from './traffic-rates.ts'

export interface TopFlags extends ReachFlags {
  /** Seconds between two reports. */
  readonly interval: string
  readonly once?: boolean
  readonly output?: string
}

/** By the name of the server. */
type Reports = ReadonlyMap<string, { readonly report: TrafficReport; readonly pod: string | undefined }>

/** Shows routes and backends of a running gateway by rate, errors and latency, until it is interrupted. */
export async function top(
  gateway: string | undefined,
  { interval, once = false, output, ...flags }: TopFlags,
): Promise<ExitCode> {
  const isJson = oneOf(['text', 'json'], ['--output', output]) === 'json'
  const intervalMs = 1000 * Number(interval)
  if (!(intervalMs >= 100 && intervalMs <= 3_600_000)) {
    throw new UsageError(`--interval ${interval} must be a number of seconds from 0.1 to 3600`)
  }
  using reached = await reach(gateway, flags)
  const first = await readTraffic(reached, complain)
  if ('exitCode' in first) return first.exitCode
  let before: Reports | undefined = first
  const leave = new AbortController()
  const end = () => leave.abort()
  whenOutputCloses(end)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end)
  const screen = isJson || once ? undefined : Screen.open()
  const tell = screen === undefined ? complain : (text: string) => screen.draw(waitingLines(text, screen.size))
  try {
    while (await isStillWanted(intervalMs, leave.signal)) {
      const wasAway = before === undefined
      const after = await readTraffic(reached, (failure) => {
        if (once) complain(failure)
        else if (!wasAway) tell(`${failure}; waiting until it responds again`)
      })
      if ('exitCode' in after) {
        if (once) return after.exitCode
        before = undefined
        continue
      }
      const rates = before && ratesBetween(before, after)
      before = after
      if (rates === undefined) {
        tell(`${reached.name} ${wasAway ? 'responds again' : 'was restarted'}`)
        continue
      }
      show(rates, screen, isJson)
      if (once) break
    }
  } finally {
    screen?.close()
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, end)
  }
  return EXIT.ok
}

/** Those of all servers that answer. Tells why if none does. */
async function readTraffic(reached: ReachedGateway, tell: (failure: string) => void): Promise<Reports | Failed> {
  const failures: string[] = []
  const servers = await reached.servers().catch((error: unknown) => {
    if (!(error instanceof ApiUnreadable)) throw error
    failures.push(error.message)
    return []
  })
  const { answers } = await askAll(servers, '/traffic', { tell: (failure) => failures.push(failure) })
  if (answers.length > 0)
    return new Map(
      answers.map(({ server: { name, pod }, text }) => [name, { report: parseJson(text) as TrafficReport, pod }]),
    )
  tell(failures.join('; '))
  return { exitCode: EXIT.findings }
}

function ratesBetween(before: Reports, after: Reports): TrafficRates | undefined {
  const both = [...after].flatMap(([name, { report, pod }]) => {
    const known = before.get(name)
    return known === undefined ? [] : [{ before: known.report, after: report, pod }]
  })
  const rates = trafficRates(both)
  const pods = both.flatMap(({ pod }) => pod ?? [])
  return rates === undefined || pods.length === 0 ? rates : { ...rates, pods }
}

function show(rates: TrafficRates, screen: Screen | undefined, isJson: boolean): void {
  if (isJson) print(JSON.stringify(rates))
  else if (screen === undefined) for (const line of topLines(rates, undefined)) printStyled(line)
  else screen.draw(topLines(rates, screen.size))
}

/** Waits. @returns false: the command was interrupted */
function isStillWanted(ms: number, leave: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (leave.aborted) return resolve(false)
    const timer = setTimeout(() => {
      leave.removeEventListener('abort', stop)
      resolve(true)
    }, ms)
    const stop = () => {
      clearTimeout(timer)
      resolve(false)
    }
    leave.addEventListener('abort', stop, { once: true })
  })
}
