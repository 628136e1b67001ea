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
  /** Which sockets are bound, by `socketKey`: all of them. `version`: the plan in use. Listeners that changed in a later one wait for the next report. */
  bound(version: number, bindings: ReadonlyMap<string, Binding>): void
  /** A fact about a backend that was observed in traffic. `version`: the plan in use then. The fact is kept until the plan changes. */
  observed(version: number, fact: BackendFact): void
  /** The problems found when policies were recompiled after a key set changed, in the form that `PlanTarget.take` returns. */
  recompiled(problems: ReadonlyMap<string, readonly Finding[]>): void
}

/** A data plane in a process of its own, which serves one Gateway. */
export interface RemoteProxy {
  /** Key of the Gateway. */
  readonly gateway: string
  /** Unique among all proxies, such as the namespace and the name of a pod. */
  readonly name: string
}

/** A problem that a proxy found. Its program may be newer than this one, and know other codes. */
export type RemoteProblem = Pick<Finding, 'path' | 'message' | 'severity'> & {
  readonly origin: Pick<Finding['origin'], 'kind' | 'namespace' | 'name'>
  readonly code: string
}

/** An item that a proxy cannot use. */
export interface Refusal {
  /** Key of the item; empty: it is the whole change. */
  readonly key: string
  readonly message: string
}

/** All that a proxy says about its plan. */
export interface ReportedState {
  /** The newest plan in use there. */
  readonly version: number
  /** Its sockets, by `socketKey`. */
  readonly bindings: ReadonlyMap<string, Binding>
  readonly problems: readonly RemoteProblem[]
  readonly refusals: readonly Refusal[]
}

/** The way up from data planes in other processes. */
export interface ProxyReports extends PlanReports {
  /** Replaces what is known about a proxy. @param state undefined: it is gone */
  reported(proxy: RemoteProxy, state: ReportedState | undefined): void
}
