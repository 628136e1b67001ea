import type { PlanItem, PolicyItem } from '#plan/item.ts'
import type { PlanIndex } from './plan-index.ts'

/** The plan as seen by one merge or compile: what it asks for is what its result depends on. */
export interface Lookups {
  /** Policies attached to a target, the one that wins within the level first. */
  policiesAt(target: string): readonly PolicyItem[]
  /** Secrets of a namespace, by name. */
  secretsIn(namespace: string): readonly PlanItem[]
  item(key: string): PlanItem | undefined
}

type Ask = (plan: PlanIndex) => unknown

/** Remembers what was asked, so that a result can be kept for the next plan version exactly when all answers are still the same objects. */
export class RecordedLookups implements Lookups {
  readonly #plan: PlanIndex
  readonly #asked = new Map<string, { readonly ask: Ask; readonly answer: unknown }>()

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

  /** True when a newer plan would have answered the same. */
  holdIn(plan: PlanIndex): boolean {
    for (const { ask, answer } of this.#asked.values()) if (ask(plan) !== answer) return false
    return true
  }

  #remember(name: string, ask: Ask): unknown {
    const known = this.#asked.get(name)
    if (known !== undefined) return known.answer
    const answer = ask(this.#plan)
    this.#asked.set(name, { ask, answer })
    return answer
  }
}
