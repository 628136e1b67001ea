import { NO_PLAN_NAMES } from '#exchange/exchange.ts'
import { quietContext, type SharedState } from '../merge/compile-context.ts'
import type { Lookups } from '../plan/lookups.ts'
import { Memo } from '../plan/memo.ts'
import type { PlanIndex } from '../plan/plan-index.ts'
import { buildLiveBackend } from './build-backend.ts'
import type { LiveBackend } from './live-backend.ts'

/**
 * A backend as the gateway itself calls it: with the policies that are attached to it, and with none of any route.
 * @returns undefined when there is none of that key
 */
export function buildCalledBackend(key: string, lookups: Lookups, state: SharedState): LiveBackend | undefined {
  const reference = { backend: key, weight: 1, path: '' }
  return buildLiveBackend(
    { reference, names: NO_PLAN_NAMES, targets: [], carries: 'requests' },
    { lookups, context: quietContext(lookups, state), state },
  )
}

/** The backends that a thread has called, each kept until something that it was made from changes. */
export class CalledBackends {
  readonly #state: SharedState
  readonly #backends = new Map<string, Memo<LiveBackend | undefined>>()

  constructor(state: SharedState) {
    this.#state = state
  }

  find(key: string, index: PlanIndex): LiveBackend | undefined {
    let memo = this.#backends.get(key)
    if (memo === undefined) {
      memo = new Memo((lookups) => buildCalledBackend(key, lookups, this.#state))
      this.#backends.set(key, memo)
    }
    const backend = memo.get(index)
    if (backend === undefined) this.#backends.delete(key)
    return backend
  }
}
