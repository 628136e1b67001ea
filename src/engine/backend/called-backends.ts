import { NO_PLAN_NAMES } from '#exchange/exchange.ts'
import type { Lookups } from '../lookups/lookups.ts'
import { Memo } from '../lookups/memo.ts'
import type { PlanIndex } from '../lookups/plan-index.ts'
import { quietContext, type SharedState } from '../merge/compile-context.ts'
import { buildLiveBackend } from './build-backend.ts'
import type { LiveBackend } from './live-backend.ts'

/**
 * A backend for calls that the gateway itself makes: with the policies that are attached to the backend, without those of routes.
 * @returns undefined if there is no backend with that key
 */
export function buildCalledBackend(key: string, lookups: Lookups, state: SharedState): LiveBackend | undefined {
  const reference = { backend: key, weight: 1, path: '' }
  return buildLiveBackend(
    { reference, names: NO_PLAN_NAMES, targets: [], carries: 'requests' },
    { lookups, context: quietContext(lookups, state), state },
  )
}

/** The backends that a thread has called. Each is rebuilt when one of its inputs changes. */
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
