import type { PlanItem } from '#plan/item.ts'
import type { InstanceOptions } from './options.ts'

/** In milliseconds since the start of the shutdown. */
export interface ShutdownTimes {
  /** Connections are accepted until then. */
  readonly minMs: number
  /** Remaining requests are cut off then. */
  readonly maxMs: number
}

/** Defaults in seconds. Outside a cluster no load balancer has to notice the shutdown first (decision A-117). */
const UNSAID = { min: 0, max: 60 }

/**
 * How long a shutdown waits. One process serves all Gateways, so the largest times apply; a Gateway without times counts with 0 and 60
 * seconds. Each environment variable takes precedence (decision A-118).
 */
export function shutdownTimes(plan: Iterable<PlanItem>, environment: InstanceOptions['shutdown']): ShutdownTimes {
  const said = [...plan].flatMap((item) => (item.kind === 'gateway' ? [item.shutdown ?? UNSAID] : []))
  const asked = said.length === 0 ? [UNSAID] : said
  const maxMs = environment.maxMs ?? 1000 * Math.max(...asked.map(({ max }) => max))
  const minMs = Math.min(environment.minMs ?? 1000 * Math.max(...asked.map(({ min }) => min)), maxMs)
  return { minMs, maxMs: Math.max(minMs, cutAt(maxMs)) }
}

/** Leaves time to close by force before the supervisor kills the process, but never reduces the minimum. */
function cutAt(maxMs: number): number {
  return maxMs > 10_000 ? maxMs - 5000 : Math.min(maxMs, Math.max(maxMs - 1000, 1000))
}
