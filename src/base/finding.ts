import type { ConfigProblem } from './config-problem.ts'
import type { Origin } from './origin.ts'

/** A problem with its object. `lint` and the terminal print findings, and statuses summarize them. */
export interface Finding extends ConfigProblem {
  readonly origin: Origin
  /** Key of the Gateway whose proxies have the problem; undefined: it does not depend on the Gateway. */
  readonly gateway?: string
}
