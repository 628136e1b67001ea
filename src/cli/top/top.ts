import type { TrafficReport } from '#admin/traffic-report.ts'
import { parseJson } from '#base/parse-json.ts'
import { askAdmin, type Failed } from '../ask-admin.ts'
import { oneOf } from '../environment.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { complain, print, printStyled, Screen, whenOutputCloses } from '../output.ts'
import { UsageError } from '../usage-error.ts'
import { topLines, waitingLines } from './top-lines.ts'
import { type TrafficRates, trafficRates } from './traffic-rates.ts'

export interface TopFlags {
  /** URL of the admin server; the default is that of the environment. */
  readonly admin?: string | undefined
  /** Seconds between two reports. */
  readonly interval: string
  readonly once?: boolean
  readonly output?: string
}

/** Shows routes and backends of a running gateway by rate, errors and latency, until it is interrupted. */
export async function top({ admin, interval, once = false, output }: TopFlags): Promise<ExitCode> {
  const isJson = oneOf(['text', 'json'], ['--output', output]) === 'json'
  const intervalMs = 1000 * Number(interval)
  if (!(intervalMs >= 100 && intervalMs <= 3_600_000)) {
    throw new UsageError(`--interval ${interval} must be a number of seconds from 0.1 to 3600`)
  }
  const first = await readTraffic(admin, complain)
  if ('exitCode' in first) return first.exitCode
  let before: TrafficReport | undefined = first
  const leave = new AbortController()
  const end = () => leave.abort()
  whenOutputCloses(end)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end)
  const screen = isJson || once ? undefined : Screen.open()
  const tell = screen === undefined ? complain : (text: string) => screen.draw(waitingLines(text, screen.size))
  try {
    while (await isStillWanted(intervalMs, leave.signal)) {
      const wasAway = before === undefined
      const after = await readTraffic(admin, (failure) => {
        if (once) complain(failure)
        else if (!wasAway) tell(`${failure}; waiting until it responds again`)
      })
      if ('exitCode' in after) {
        if (once) return after.exitCode
        before = undefined
        continue
      }
      const rates = before && trafficRates(before, after)
      before = after
      if (rates === undefined) {
        tell(wasAway ? 'the gateway responds again' : 'the gateway was restarted')
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

async function readTraffic(
  admin: string | undefined,
  tell: (failure: string) => void,
): Promise<TrafficReport | Failed> {
  const answer = await askAdmin(admin, '/traffic', { tell })
  return 'exitCode' in answer ? answer : (parseJson(answer.text) as TrafficReport)
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
