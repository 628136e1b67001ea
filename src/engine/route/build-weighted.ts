import type { WeightedBackend } from '#plan/item.ts'
import type { BackendUse } from '../backend/backend-context.ts'
import { buildLiveBackend } from '../backend/build-backend.ts'
import { Memo } from '../lookups/memo.ts'
import { quietContext, type SharedState } from '../merge/compile-context.ts'
import type { LiveReferences } from './live-listener.ts'

/** The backends of a rule with their weights. */
export function buildWeighted(
  references: readonly WeightedBackend[],
  use: Omit<BackendUse, 'reference'>,
  state: SharedState,
): LiveReferences {
  return {
    backends: references.map((reference) => ({
      reference,
      backend: new Memo((lookups) =>
        buildLiveBackend({ reference, ...use }, { lookups, context: quietContext(lookups, state), state }),
      ),
    })),
    totalWeight: references.reduce((sum, { weight }) => sum + weight, 0),
  }
}
