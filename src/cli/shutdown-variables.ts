import { parseDuration } from '#base/duration.ts'
import type { InstanceOptions } from '#instance/options.ts'
import { type Environment, readVariable } from './environment.ts'
import { UsageError } from './usage-error.ts'

const MIN = 'CONNECTION_MIN_TERMINATION_DEADLINE'
const MAX = 'TERMINATION_GRACE_PERIOD_SECONDS'

/**
 * Shutdown times from the variables of the specification (specification 1, 2.5 `shutdown`).
 * @throws UsageError if one of them is invalid
 */
export function shutdownVariables(environment: Environment): InstanceOptions['shutdown'] {
  return { minMs: minimum(readVariable(environment, MIN)), maxMs: maximum(readVariable(environment, MAX)) }
}

function minimum(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const ms = parseDuration(text)
  if (ms === undefined) throw new UsageError(`${MIN} is ${text}; it must be a duration, such as 10s`)
  return ms
}

function maximum(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,8}$/.test(text)) throw new UsageError(`${MAX} is ${text}; it must be a number of seconds, such as 60`)
  return 1000 * Number(text)
}
