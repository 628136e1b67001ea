import type { PlanItem } from '#plan/item.ts'
import type { InstanceOptions } from './options.ts'

/** In milliseconds from the beginning of the shutdown. */
export interface ShutdownTimes {
  /** Until then connections are accepted. */
  readonly minMs: number
  /** What is left then is cut. */
  readonly maxMs: number
}

/** In seconds. On a machine without a balancer nobody has to notice first (decision A-117). */
const UNSAID = { min: 0, max: 60 }

/**
 * How long a shutdown waits. One process serves all Gateways, so it is as patient as the most patient of them, and one that says
 * nothing counts with 0 and 60 seconds. Variables of the environment are stronger, each for itself (decision A-118).
 */
export function shutdownTimes(plan: Iterable<PlanItem>, environment: InstanceOptions['shutdown']): ShutdownTimes {
  const said = [...plan].flatMap((item) => (item.kind === 'gateway' ? [item.shutdown ?? UNSAID] : []))
  const asked = said.length === 0 ? [UNSAID] : said
  const maxMs = environment.maxMs ?? 1000 * Math.max(...asked.map(({ max }) => max))
  const minMs = Math.min(environment.minMs ?? 1000 * Math.max(...asked.map(({ min }) => min)), maxMs)
  return { minMs, maxMs: Math.max(minMs, cutAt(maxMs)) }
}

/** Something is left for closing by force, before whoever gave the time kills the process; not at the expense of the minimum. */
function cutAt(maxMs: number): number {
  return maxMs > 10_000 ? maxMs - 5000 : Math.min(maxMs, Math.max(maxMs - 1000, 1000))
}
