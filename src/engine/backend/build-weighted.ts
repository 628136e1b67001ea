import type { WeightedBackend } from '#plan/item.ts'
import { quietContext, type SharedState } from '../merge/compile-context.ts'
import { Memo } from '../plan/memo.ts'
import type { LiveReferences } from '../route/live-listener.ts'
import type { BackendUse } from './backend-context.ts'
import { buildLiveBackend } from './build-backend.ts'

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
