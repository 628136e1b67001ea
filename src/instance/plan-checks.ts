import type { Finding } from '#base/finding.ts'
import type { NodeFault } from '#base/incremental/stage.ts'
import { PlanCheck } from '#engine/plan/check-plan.ts'
import type { PlanDelta } from '#plan/delta.ts'
import type { PlanTarget } from '#plan/plan-link.ts'
import { KeptCopies } from '#policies/shared/kept/kept-copies.ts'
import { createSlotMemory, SlotDirectory } from '#state/slots.ts'
import { importKey } from '#workers/import-key.ts'
import { planState, SLOTS } from './plan-state.ts'

/** Finds the problems of a plan that no proxy of this process runs. */
export class PlanChecks implements PlanTarget {
  readonly #check: PlanCheck
  readonly #directory: SlotDirectory

  constructor(onFault: (fault: NodeFault) => void) {
    const memory = createSlotMemory(SLOTS, false)
    this.#directory = new SlotDirectory(memory)
    this.#check = new PlanCheck(planState(memory, this.#directory, new KeptCopies(importKey)), onFault)
  }

  take(delta: PlanDelta): ReadonlyMap<string, readonly Finding[]> {
    const { problems, slots } = this.#check.take(delta)
    for (const key of slots.freed) this.#directory.free(key)
    return problems
  }
}
