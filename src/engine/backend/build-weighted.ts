import type { WeightedBackend } from '#plan/item.ts'
import { quietContext, type SharedState } from '../merge/compile-context.ts'
import { Memo } from '../plan/memo.ts'
import type { WeightedRule } from '../route/places.ts'
import type { BackendUse } from './backend-scope.ts'
import { buildBackendPlace } from './build-backend.ts'

/** The backends of a rule with their weights. */
export function buildWeighted(
  references: readonly WeightedBackend[],
  use: Omit<BackendUse, 'reference'>,
  state: SharedState,
): WeightedRule {
  return {
    backends: references.map((reference) => ({
      reference,
      place: new Memo((lookups) =>
        buildBackendPlace({ reference, ...use }, { lookups, context: quietContext(lookups, state), state }),
      ),
    })),
    totalWeight: references.reduce((sum, { weight }) => sum + weight, 0),
  }
}
