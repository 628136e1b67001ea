import { NOWHERE } from '#exchange/exchange.ts'
import { quietContext, type SharedState } from '../merge/compile-context.ts'
import type { Lookups } from '../plan/lookups.ts'
import { Memo } from '../plan/memo.ts'
import type { PlanIndex } from '../plan/plan-index.ts'
import type { BackendPlace } from './backend-place.ts'
import { buildBackendPlace } from './build-backend.ts'

/**
 * A backend as the gateway itself calls it: with the policies that are attached to it, and with none of any route.
 * @returns undefined when there is none of that key
 */
export function buildCalledBackend(key: string, lookups: Lookups, state: SharedState): BackendPlace | undefined {
  const reference = { backend: key, weight: 1, path: '' }
  return buildBackendPlace(
    { reference, names: NOWHERE, targets: [], carries: 'requests' },
    { lookups, context: quietContext(lookups, state), state },
  )
}

/** The backends that a thread has called, each kept until something that it was made from changes. */
export class CalledBackends {
  readonly #state: SharedState
  readonly #places = new Map<string, Memo<BackendPlace | undefined>>()

  constructor(state: SharedState) {
    this.#state = state
  }

  find(key: string, index: PlanIndex): BackendPlace | undefined {
    let memo = this.#places.get(key)
    if (memo === undefined) {
      memo = new Memo((lookups) => buildCalledBackend(key, lookups, this.#state))
      this.#places.set(key, memo)
    }
    const place = memo.get(index)
    if (place === undefined) this.#places.delete(key)
    return place
  }
}
