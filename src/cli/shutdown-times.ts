import { parseDuration } from '#base/duration.ts'
import type { InstanceOptions } from '#instance/options.ts'
import { UsageError } from './usage-error.ts'

const MIN = 'CONNECTION_MIN_TERMINATION_DEADLINE'
const GRACE = 'TERMINATION_GRACE_PERIOD_SECONDS'

/** On a machine without a balancer nobody has to notice first (decision A-117). */
const DEFAULT_MIN = '0s'
const DEFAULT_GRACE_SECONDS = '60'

/**
 * How long a shutdown waits, from the variables that the specification names (specification 1, 2.5 `shutdown`). Of the grace period
 * something is left for closing by force, before whoever gave it kills the process.
 * @throws UsageError when one of them makes no sense
 */
export function shutdownTimes(environment: Readonly<Record<string, string | undefined>>): InstanceOptions['shutdown'] {
  const min = environment[MIN] || DEFAULT_MIN
  const minMs = parseDuration(min)
  if (minMs === undefined) throw new UsageError(`${MIN} is ${min}; it must be a duration, such as 10s`)
  const grace = environment[GRACE] || DEFAULT_GRACE_SECONDS
  if (!/^\d{1,8}$/.test(grace)) throw new UsageError(`${GRACE} is ${grace}; it must be a number of seconds, such as 60`)
  return { minMs, maxMs: 1000 * usableSeconds(Number(grace)) }
}

function usableSeconds(grace: number): number {
  return grace > 10 ? grace - 5 : Math.max(grace - 1, 1)
}
