import type { CheckedState } from '#engine/plan/check-plan.ts'
import { TLS_MATERIAL } from '#net/tls-material.ts'
import type { KeptCopies } from '#policies/shared/kept/kept-copies.ts'
import type { SlotDirectory, SlotMemory } from '#state/slots.ts'
import { createCloudServices } from '#workers/cloud-services.ts'
import { importKey } from '#workers/import-key.ts'

/** Slots of a process: buckets of local rate limits, health of endpoints, circuits. */
export const SLOTS = 65_536

/** What every check of a plan needs. @param directory of the slots of this memory */
export function planState(
  memory: SlotMemory,
  directory: SlotDirectory,
  { keySets, credentials }: Pick<KeptCopies, 'keySets' | 'credentials'>,
): CheckedState {
  return {
    memory,
    slotOf: (key) => directory.assign(key),
    valuesOf: (key) => directory.valuesOf(key),
    tlsMaterial: TLS_MATERIAL,
    importKey,
    clouds: createCloudServices(credentials),
    keySets,
  }
}
