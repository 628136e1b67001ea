import type { ConfigProblem } from './config-problem.ts'
import type { Origin } from './origin.ts'

/** A problem with its object. `lint` and the terminal print findings, and statuses summarize them. */
export interface Finding extends ConfigProblem {
  readonly origin: Origin
}
