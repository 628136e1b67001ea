import type { Finding } from '#base/finding.ts'
import type { NodeFault } from '#base/incremental/stage.ts'
import { PlanCheck } from '#engine/plan/check-plan.ts'
import { TLS_MATERIAL } from '#net/tls-material.ts'
import type { PlanDelta } from '#plan/delta.ts'
import type { PlanTarget } from '#plan/plan-link.ts'
import { KeptCopies } from '#policies/shared/kept/kept-copies.ts'
import { createSlotMemory, SlotDirectory } from '#state/slots.ts'
import { createCloudServices } from '#workers/cloud-services.ts'
import { importKey } from '#workers/import-key.ts'

const SLOTS = 65_536

/** Finds the problems of a plan that no proxy of this process runs. */
export class PlanChecks implements PlanTarget {
  readonly #check: PlanCheck
  readonly #directory: SlotDirectory

  constructor(onFault: (fault: NodeFault) => void) {
    const memory = createSlotMemory(SLOTS, false)
    this.#directory = new SlotDirectory(memory)
    const { keySets, credentials } = new KeptCopies(importKey)
    this.#check = new PlanCheck(
      {
        memory,
        slotOf: (key) => this.#directory.assign(key),
        valuesOf: (key) => this.#directory.valuesOf(key),
        tlsMaterial: TLS_MATERIAL,
        importKey,
        clouds: createCloudServices(credentials),
        keySets,
      },
      onFault,
    )
  }

  take(delta: PlanDelta): ReadonlyMap<string, readonly Finding[]> {
    const { problems, slots } = this.#check.take(delta)
    for (const key of slots.freed) this.#directory.free(key)
    return problems
  }
}
