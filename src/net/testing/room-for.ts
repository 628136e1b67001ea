import { BodyClaim, BodyMemory } from '../body/body-memory.ts'
import type { CollectLimits } from '../body/collect-body.ts'

/** Limits for one body, with separate body memory. */
export function roomFor(
  maxBytes: number,
  memoryBytes = Number.POSITIVE_INFINITY,
): CollectLimits & { readonly memory: BodyMemory } {
  const memory = new BodyMemory(memoryBytes)
  return { maxBytes, claim: new BodyClaim(memory), memory }
}
