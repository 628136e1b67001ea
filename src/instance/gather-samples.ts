import { readdirSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { clock } from '#base/clock.ts'
import type { ConfigProblem } from '#base/config-problem.ts'
import { backendName } from '#exchange/backend-name.ts'
import type { MetricId } from '#observe/metrics/metrics.ts'
import type { Sample } from '#observe/metrics/metrics-reader.ts'
import type { EndpointId } from '#plan/endpoint-key.ts'
import type { MaterialEnd } from '#plan/material-ends.ts'
import type { EndpointState } from '#state/endpoint-health.ts'
import type { WorkerPool } from '#workers/worker-pool.ts'
import { MAX_FILES } from './file-limit.ts'
import type { CircuitState } from './plan-publisher.ts'
import { cgroupFolder, memoryByKind, readCgroup, readText } from './read-cgroup.ts'
import type { ProxyCounts } from './served-proxies.ts'
import { VERSION } from './version.ts'

/** Endpoints, and services of prompt guards, with series of their own: more would fill the storage of Prometheus. */
const MAX_SHOWN = 1000

interface Sources {
  readonly endpoints: readonly (EndpointId & EndpointState)[]
  readonly circuits: readonly CircuitState[]
  readonly findings: readonly Pick<ConfigProblem, 'severity' | 'code'>[]
  readonly workers: Pick<WorkerPool, 'busySeconds' | 'members'>
  /** Of the newest plan. */
  readonly planVersion: number
  /** When the controller last confirmed it, in milliseconds since the epoch; undefined: there is no controller, or it has not yet. */
  readonly planConfirmedMs?: number | undefined
  readonly ends: readonly UsedEnd[]
}

/** What ends in a Secret or ConfigMap that is used. */
export interface UsedEnd extends Pick<MaterialEnd, 'kind' | 'entry' | 'untilMs'> {
  /** `Secret/namespace/name` */
  readonly object: string
}

/** The metrics that are read at each scrape, because nothing has to count them. */
export function gatherSamples(sources: Sources): Sample[] {
  const { endpoints, circuits, findings, workers, planVersion, planConfirmedMs, ends } = sources
  return [
    sample('buildInfo', 1, VERSION, process.versions.node),
    sample('planVersion', planVersion),
    ...(planConfirmedMs === undefined ? [] : [sample('planAge', Math.max(0, clock.now() - planConfirmedMs) / 1000)]),
    ...workers.members.map(({ name, planVersion }) => sample('workerPlanVersion', planVersion, name)),
    ...sampleEndpoints(endpoints),
    ...sampleCircuits(circuits),
    ...sampleEnds(ends),
    ...sampleFindings(findings),
    sample('eventLoopBusy', performance.eventLoopUtilization().active / 1000, 'main'),
    ...workers.busySeconds.map(([name, seconds]) => sample('eventLoopBusy', seconds, name)),
    ...sampleProcess(),
    ...sampleCgroup(),
  ]
}

interface ControllerSources extends Pick<Sources, 'planVersion' | 'findings' | 'ends'> {
  /** Whether this replica leads. */
  readonly leads: boolean
  /** Lengths by name. */
  readonly queues: Readonly<Record<string, number>>
  readonly proxies: readonly ProxyCounts[]
}

/** The same of a controller. */
export function gatherControllerSamples({
  planVersion,
  findings,
  ends,
  leads,
  queues,
  proxies,
}: ControllerSources): Sample[] {
  return [
    sample('buildInfo', 1, VERSION, process.versions.node),
    sample('planVersion', planVersion),
    ...sampleEnds(ends),
    ...sampleFindings(findings),
    ...sampleProxies(proxies),
    sample('leader', leads ? 1 : 0),
    sample('eventLoopBusy', performance.eventLoopUtilization().active / 1000, 'main'),
    ...sampleProcess(),
    ...sampleCgroup(),
    ...Object.entries(queues).map(([name, length]) => sample('writeQueue', length, name)),
  ]
}

/** Gateways with refusals and lagging proxies come first. */
function sampleProxies(proxies: readonly ProxyCounts[]): Sample[] {
  const need = ({ refusals, behind, waiting }: ProxyCounts) => refusals + behind + waiting
  return proxies
    .toSorted((a, b) => need(b) - need(a))
    .slice(0, MAX_SHOWN)
    .flatMap(({ gateway: key, current, behind, waiting, refusals }) => {
      const gateway = key.slice('Gateway/'.length)
      return [
        sample('proxies', current, gateway, 'current'),
        sample('proxies', behind, gateway, 'behind'),
        sample('proxies', waiting, gateway, 'waiting'),
        sample('proxyRefusals', refusals, gateway),
      ]
    })
}

function sampleEndpoints(endpoints: Sources['endpoints']): Sample[] {
  const evicted = endpoints.filter(isEvicted).length
  const shown = endpoints.toSorted(byNeed).slice(0, MAX_SHOWN)
  return [
    sample('endpoints', endpoints.length - evicted, 'serving'),
    sample('endpoints', evicted, 'evicted'),
    ...shown.flatMap((one) => {
      const labels = [backendName(one.backend), one.endpoint]
      return [
        sample('endpointHealth', one.health, ...labels),
        sample('endpointEvicted', isEvicted(one) ? 1 : 0, ...labels),
      ]
    }),
  ]
}

/** A service has a series while guards ask it. */
function sampleCircuits(circuits: Sources['circuits']): Sample[] {
  const counted = Map.groupBy(circuits, ({ phase, kind, backend }) => `${phase} ${kind} ${backendName(backend)}`)
  return [...counted]
    .map(([labels, alike]) => sample('guardOpenCircuits', alike.filter(isOpen).length, ...labels.split(' ')))
    .sort((a, b) => b.value - a.value)
    .slice(0, MAX_SHOWN)
}

const END_METRICS = { certificate: 'certificateExpiry', token: 'tokenExpiry' } as const

function sampleEnds(ends: Sources['ends']): Sample[] {
  return ends
    .toSorted((a, b) => a.untilMs - b.untilMs)
    .slice(0, MAX_SHOWN)
    .map(({ kind, object, entry, untilMs }) => sample(END_METRICS[kind], untilMs / 1000, object, entry))
}

/** A code has a series while it has findings. */
function sampleFindings(findings: Sources['findings']): Sample[] {
  const counted = Map.groupBy(findings, ({ severity, code }) => `${severity} ${code}`)
  return [...counted.values()].map((alike) => {
    const { severity, code } = alike[0]!
    return sample('configFindings', alike.length, severity, code)
  })
}

function isOpen({ isOpen }: CircuitState): boolean {
  return isOpen
}

function isEvicted({ evictedUntilMs }: EndpointState): boolean {
  return evictedUntilMs !== undefined
}

/** Those that an operator looks for come first. */
function byNeed(a: EndpointState, b: EndpointState): number {
  return Number(isEvicted(b)) - Number(isEvicted(a)) || a.health - b.health
}

/** As the client libraries of Prometheus name them. */
function sampleProcess(): Sample[] {
  const { user, system } = process.cpuUsage()
  return [
    sample('processCpu', (user + system) / 1_000_000),
    sample('processMemory', process.memoryUsage.rss()),
    ...memoryByKind(readText('/proc/self/status')).map(([kind, bytes]) => sample('processMemoryByKind', bytes, kind)),
    sample('processStart', performance.timeOrigin / 1000),
    ...sampleIfKnown('processOpenFiles', countOpenFiles()),
    ...sampleIfKnown('processMaxFiles', MAX_FILES),
  ]
}

const CGROUP = cgroupFolder()

/** @param folder for tests */
export function sampleCgroup(folder = CGROUP): Sample[] {
  const { memoryBytes, memoryLimitBytes, cpuLimit, throttledSeconds } = readCgroup(folder)
  return [
    ...sampleIfKnown('cgroupMemory', memoryBytes),
    ...sampleIfKnown('cgroupMemoryLimit', memoryLimitBytes),
    ...sampleIfKnown('cgroupCpuLimit', cpuLimit),
    ...sampleIfKnown('cgroupThrottled', throttledSeconds),
  ]
}

/** @param folder for tests @returns undefined where the system does not provide it */
export function countOpenFiles(folder = '/proc/self/fd'): number | undefined {
  try {
    // The list contains the descriptor that reads it.
    return readdirSync(folder).length - 1
  } catch {
    return undefined
  }
}

function sampleIfKnown(metric: MetricId, value: number | undefined): Sample[] {
  return value === undefined ? [] : [sample(metric, value)]
}

function sample(metric: MetricId, value: number, ...values: string[]): Sample {
  return { metric, value, values }
}
