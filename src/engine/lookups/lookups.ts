import type { MeshDomains, PlanItem, PolicyItem } from '#plan/item.ts'
import type { PlanIndex } from './plan-index.ts'

/** The plan as seen by one merge or compilation. Its result depends exactly on the lookups that it made. */
export interface Lookups {
  /** Policies attached to a target, ordered by precedence within their level. */
  policiesAt(target: string): readonly PolicyItem[]
  /** Secrets of a namespace, ordered by name. */
  secretsIn(namespace: string): readonly PlanItem[]
  item(key: string): PlanItem | undefined
  /** The mesh that this process is a member of. */
  mesh(): MeshDomains | undefined
}

type PlanLookup = (plan: PlanIndex) => unknown

/** Records lookups, so that a result can be kept for a later plan version if every lookup would return the same object. */
export class RecordedLookups implements Lookups {
  readonly #plan: PlanIndex
  readonly #recorded = new Map<string, { readonly lookUp: PlanLookup; readonly result: unknown }>()

  constructor(plan: PlanIndex) {
    this.#plan = plan
  }

  policiesAt(target: string): readonly PolicyItem[] {
    return this.#remember(`target ${target}`, (plan) => plan.policiesAt(target)) as readonly PolicyItem[]
  }

  secretsIn(namespace: string): readonly PlanItem[] {
    return this.#remember(`secrets ${namespace}`, (plan) => plan.secretsIn(namespace)) as readonly PlanItem[]
  }

  item(key: string): PlanItem | undefined {
    return this.#remember(`item ${key}`, (plan) => plan.items.get(key)) as PlanItem | undefined
  }

  mesh(): MeshDomains | undefined {
    return this.#remember('mesh', (plan) => plan.mesh) as MeshDomains | undefined
  }

  /** Whether every recorded lookup returns the same object in a newer plan. */
  areValidFor(plan: PlanIndex): boolean {
    for (const { lookUp, result } of this.#recorded.values()) if (lookUp(plan) !== result) return false
    return true
  }

  #remember(name: string, lookUp: PlanLookup): unknown {
    const recorded = this.#recorded.get(name)
    if (recorded !== undefined) return recorded.result
    const result = lookUp(this.#plan)
    this.#recorded.set(name, { lookUp, result })
    return result
  }
}
