import type { Finding } from '#base/finding.ts'
import type { BackendFact } from './backend-fact.ts'
import type { Binding } from './binding.ts'
import type { PlanDelta } from './delta.ts'

/** The way down from a control plane to a data plane. Changes come in the order of their versions. */
export interface PlanTarget {
  /**
   * Takes a change of the plan.
   * @returns the problems found while the changed items were compiled, by key of the object
   */
  take(delta: PlanDelta): ReadonlyMap<string, readonly Finding[]>
}

/** The way up: what a data plane finds out about its plan. */
export interface PlanReports {
  /** Which sockets are bound, by `socketKey`. */
  bound(bindings: ReadonlyMap<string, Binding>): void
  /** A fact about a backend that was observed in traffic. `version`: the plan in use then. The fact is kept until the plan changes. */
  observed(version: number, fact: BackendFact): void
  /** The problems found when policies were recompiled after a key set changed, in the form that `PlanTarget.take` returns. */
  recompiled(problems: ReadonlyMap<string, readonly Finding[]>): void
}
