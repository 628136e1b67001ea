import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { LoadResult } from './load-result.ts'
import { onCore } from './on-core.ts'
import { cpuNs } from './process-cost.ts'
import { parseRequestLog } from './request-log.ts'
import { scratchFolder } from './scratch-folder.ts'
import { type Address, LOAD_CORE, projectFile } from './settings.ts'
import type { EventClientOptions, EventReport } from './sse/event-client.ts'
import type { Suite } from './suite.ts'
import { parseWrk } from './wrk-output.ts'

/** Enough to keep a proxy busy, and few enough to distribute the load evenly. */
const CONNECTIONS = 64

/** Number of clients that share a fixed request rate. */
const PACED_CLIENTS = 32

/** Sends the traffic of a suite to an address for `seconds`. */
export function load(suite: Suite, { host, port }: Address, seconds: number): Promise<LoadResult> {
  const url = `${suite.door === 'tls' ? 'https' : 'http'}://${host}:${port}${suite.path}`
  if (suite.unit === 'event') return readEvents(suite, url, seconds)
  return suite.door === 'h2' || suite.pace !== undefined
    ? logRequests(suite, url, seconds)
    : sendRequests(suite, url, seconds)
}

async function sendRequests({ headers, script }: Suite, url: string, seconds: number): Promise<LoadResult> {
  const { output, cpuNs } = await runPinned([
    ...['wrk', '--threads', '1', '--connections', String(CONNECTIONS)],
    ...['--duration', `${seconds}s`, '--latency'],
    ...Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`]),
    ...(script === undefined ? [] : ['--script', script]),
    url,
  ])
  return { ...parseWrk(output), cpuNs }
}

/** Uses h2load, for HTTP/2 and for a fixed rate; it logs the duration of each request. */
async function logRequests({ door, pace }: Suite, url: string, seconds: number): Promise<LoadResult> {
  const log = join(scratchFolder(), 'requests.log')
  const { cpuNs } = await runPinned([
    ...['h2load', '--duration', String(seconds), '--log-file', log],
    ...(door === 'h2'
      ? ['--clients', '8', '--max-concurrent-streams', '8']
      : ['--h1', '--clients', String(PACED_CLIENTS)]),
    ...(pace === undefined ? [] : ['--rps', String(pace / PACED_CLIENTS)]),
    url,
  ])
  const lines = readFileSync(log, 'utf8')
  rmSync(log)
  return { ...parseRequestLog(lines, seconds), cpuNs }
}

async function readEvents({ headers, body }: Suite, url: string, seconds: number): Promise<LoadResult> {
  const options: EventClientOptions = { url, seconds, headers, body }
  const client = projectFile('bench/sse/event-client.ts')
  const { output, cpuNs } = await runPinned([process.execPath, client, JSON.stringify(options)])
  const { events, errors, p50Us, p99Us } = JSON.parse(output) as EventReport
  return { count: events, perSecond: events / seconds, p50Us, p99Us, errors, cpuNs }
}

async function runPinned(command: readonly string[]): Promise<{ output: string; cpuNs: number }> {
  const child = spawn('setpriv', onCore(LOAD_CORE, command), { stdio: ['ignore', 'pipe', 'inherit'] })
  const readCpu = watchCpu(child)
  const exit = new Promise<number | null>((resolve, reject) => {
    child.once('exit', resolve)
    child.once('error', reject)
  })
  const [output, code] = await Promise.all([text(child.stdout), exit])
  if (code !== 0) throw new Error(`${command[0]} ended with code ${code}`)
  return { output, cpuNs: readCpu() }
}

/** Reads the CPU time of a process while it runs, because the kernel drops it when the process ends. */
function watchCpu(child: ChildProcess): () => number {
  let last = 0
  const timer = setInterval(() => {
    last = Math.max(last, cpuNs(child.pid ?? 0))
  }, 50)
  return () => {
    clearInterval(timer)
    return last
  }
}
