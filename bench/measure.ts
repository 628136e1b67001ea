import { readCounts, slowShareSince } from './balance/slow-share.ts'
import type { Candidate } from './candidate.ts'
import { load } from './load.ts'
import type { PinnedProcess } from './pinned-process.ts'
import { busyMs, cpuNs, residentMb } from './process-cost.ts'
import { LOAD_CORE, PROXY_CORE } from './settings.ts'
import type { Suite } from './suite.ts'

/** The measurement of one candidate in one round. */
export interface Sample {
  /** CPU of the proxy per request or event; undefined without a proxy. */
  readonly cpuUs: number | undefined
  readonly perSecond: number
  readonly p50Us: number
  readonly p99Us: number
  readonly residentMb: number | undefined
  readonly errors: number
  /** Requests of the slow endpoint relative to its fair share; undefined without endpoints. */
  readonly slowShare: number | undefined
  /** CPU of the two cores used by other processes; 1 is one core. */
  readonly foreignCores: number
}

const CORES = [PROXY_CORE, LOAD_CORE]

export async function measure(
  candidate: Candidate,
  suite: Suite,
  seconds: number,
  upstreams: readonly PinnedProcess[],
): Promise<Sample> {
  const pid = candidate.process?.pid
  const ownNs = () => (pid === undefined ? 0 : cpuNs(pid))
  const serversNs = () => upstreams.reduce((sum, server) => sum + cpuNs(server.pid), cpuNs(process.pid))

  const counts = suite.hasEndpoints === true ? await readCounts() : undefined
  const before = { own: ownNs(), servers: serversNs(), busy: busyMs(CORES), time: performance.now() }
  const result = await load(suite, candidate.address(suite), seconds)
  const own = ownNs() - before.own
  const servers = serversNs() - before.servers
  const known = (own + servers + result.cpuNs) / 1e6
  const { count, perSecond, p50Us, p99Us, errors } = result
  return {
    cpuUs: pid === undefined ? undefined : own / 1000 / count,
    perSecond,
    p50Us,
    p99Us,
    residentMb: pid === undefined ? undefined : residentMb(pid),
    errors,
    slowShare: counts && (await slowShareSince(counts)),
    foreignCores: Math.max(0, (busyMs(CORES) - before.busy - known) / (performance.now() - before.time)),
  }
}
