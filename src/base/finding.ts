import type { ConfigProblem } from './config-problem.ts'
import type { Origin } from './origin.ts'

/** A problem together with the object that it is in: what `lint` and the terminal print, and what statuses are made of. */
export interface Finding extends ConfigProblem {
  readonly origin: Origin
}
