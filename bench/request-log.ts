import type { LoadResult } from './load-result.ts'

/** Parses the log of h2load: per request its start (us since the epoch), status and duration (us). */
export function parseRequestLog(log: string, seconds: number): Omit<LoadResult, 'cpuNs'> {
  const times: number[] = []
  let errors = 0
  for (const line of log.split('\n')) {
    if (line === '') continue
    const [, status, tookUs] = line.split('\t')
    if (status !== '200') errors++
    times.push(Number(tookUs))
  }
  times.sort((a, b) => a - b)
  const at = (share: number) => times[Math.floor(times.length * share)] ?? Number.NaN
  return { count: times.length, perSecond: times.length / seconds, p50Us: at(0.5), p99Us: at(0.99), errors }
}
