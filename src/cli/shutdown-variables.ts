import { parseDuration } from '#base/duration.ts'
import type { InstanceOptions } from '#instance/options.ts'
import { type Environment, readVariable } from './environment.ts'

/**
 * Shutdown times from the variables of the specification (specification 1, 2.5 `shutdown`).
 * @throws UsageError if one of them is invalid
 */
export function shutdownVariables(environment: Environment): InstanceOptions['shutdown'] {
  const min = readVariable(environment, 'CONNECTION_MIN_TERMINATION_DEADLINE')
  const max = readVariable(environment, 'TERMINATION_GRACE_PERIOD_SECONDS')
  return {
    minMs: min === undefined ? undefined : parseDuration(min),
    maxMs: max === undefined ? undefined : 1000 * Number(max),
  }
}
