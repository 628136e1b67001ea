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
      this.#lookups = new RecordedLookups(plan)
      this.#value = this.#build(this.#lookups)
    }
    this.#checked = plan
    return this.#value as T
  }
}
