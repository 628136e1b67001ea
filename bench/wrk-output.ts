import type { LoadResult } from './load-result.ts'

const UNITS: Readonly<Record<string, number>> = { us: 1, ms: 1_000, s: 1_000_000, m: 60_000_000 }

/** Reads the report of `wrk --latency`. */
export function parseWrk(output: string): Omit<LoadResult, 'cpuNs'> {
  return {
    count: Number(find(output, /(\d+) requests in/)),
    perSecond: Number(find(output, /Requests\/sec:\s+([\d.]+)/)),
    p50Us: toUs(find(output, /^\s+50%\s+(\S+)/m)),
    p99Us: toUs(find(output, /^\s+99%\s+(\S+)/m)),
    errors: countErrors(output),
  }
}

function find(output: string, pattern: RegExp): string {
  const found = pattern.exec(output)?.[1]
  if (found === undefined) throw new Error(`wrk said nothing like ${pattern}:\n${output}`)
  return found
}

function toUs(text: string): number {
  const [, number = '', unit = ''] = /^([\d.]+)([a-z]+)$/.exec(text) ?? []
  return Number(number) * (UNITS[unit] ?? Number.NaN)
}

function countErrors(output: string): number {
  const refused = Number(/Non-2xx or 3xx responses: (\d+)/.exec(output)?.[1] ?? 0)
  const sockets = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(output)?.slice(1) ?? []
  return sockets.reduce((sum, count) => sum + Number(count), refused)
}
