import { clock } from '#base/clock.ts'
import { Calls } from '#calls/calls.ts'
import { fetchKeySet } from '#calls/key-sets/fetch-key-set.ts'
import { CalledBackends } from '#engine/backend/called-backends.ts'
import type { ExplainCalls } from '#engine/explain/explain.ts'
import type { SharedState } from '#engine/merge/compile-context.ts'
import type { LivePlan } from '#engine/plan/live-plan.ts'
import type { Call } from '#exchange/call.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { BodyMemory } from '#net/body/body-memory.ts'
import { createClientPool } from '#net/pool/client-pool.ts'
import type { RemoteKeySets } from '#policies/shared/authentication/remote-key-set.ts'
import { importKey } from '#workers/import-key.ts'

/** Memory for responses that have arrived but are not read yet. */
const BODY_BYTES = 16 * 1024 * 1024

/** The calls of `explain --call`, as a gateway with the same plan makes them. */
export class PlanCalls implements ExplainCalls {
  readonly #bodyMemory = new BodyMemory(BODY_BYTES)
  readonly #pool = createClientPool({ bodyMemory: this.#bodyMemory })
  readonly #calls: Calls

  constructor(plan: LivePlan, state: SharedState) {
    const called = new CalledBackends(state)
    this.#calls = new Calls({
      pool: this.#pool,
      bodyMemory: this.#bodyMemory,
      random: Math.random,
      backend: (key) => called.find(key, plan.index),
      failed: () => {},
      ended: () => {},
    })
  }

  ofRequest(exchange: Exchange): Call {
    return this.#calls.ofRequest(exchange, undefined)
  }

  /** @param id `keySetId` of its address */
  async fetchKeySet(id: string, keySets: RemoteKeySets): Promise<void> {
    const [backend = '', path = ''] = id.split(' ')
    const { signal } = new AbortController()
    const fetched = await fetchKeySet({ backend, path, cacheMs: 0 }, { call: this.#calls.ofGateway, importKey, signal })
    const result =
      'value' in fetched ? { value: fetched.value, failure: undefined } : { value: undefined, failure: fetched.failure }
    keySets.update({ id, ...result, fetchedMs: clock.now(), final: true, restMs: Number.POSITIVE_INFINITY })
  }

  [Symbol.dispose](): void {
    this.#pool.close()
  }
}
