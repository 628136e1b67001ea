import { type Lookups, RecordedLookups } from './lookups.ts'
import type { PlanIndex } from './plan-index.ts'

/** A value derived from the plan on first use, and kept until one of its inputs changes. A read costs one comparison. */
export class Memo<T> {
  readonly #build: (lookups: Lookups) => T
  #value: T | undefined
  #lookups: RecordedLookups | undefined
  #checked: PlanIndex | undefined

  constructor(build: (lookups: Lookups) => T) {
    this.#build = build
  }

  get(plan: PlanIndex): T {
    if (this.#checked === plan) return this.#value as T
    if (this.#lookups === undefined || !this.#lookups.areValidFor(plan)) {
      const lookups = new RecordedLookups(plan)
      // If it throws, the value before must not be taken for the result of these lookups: a policy would be out of force.
      this.#value = this.#build(lookups)
      this.#lookups = lookups
    }
    this.#checked = plan
    return this.#value as T
  }
}
