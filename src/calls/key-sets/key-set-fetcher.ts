import type { ImportKey } from '#base/verifying-key.ts'
import type { KeySetChange } from '#engine/plan/check-plan.ts'
import type { Call } from '#exchange/call.ts'
import { SingleFlight } from '#exchange/single-flight.ts'
import { type KeySetAddress, type KeySetState, keySetId } from '#policies/shared/authentication/remote-key-set.ts'
import { type FetchedKeySet, fetchKeySet } from './fetch-key-set.ts'
import { KeySetKeeper } from './key-set-keeper.ts'

/** Receives the results. */
export interface KeySetEvents {
  /** The state of a key set, for all workers. */
  publish(state: KeySetState): void
  /** An attempt has ended. */
  attempted(address: KeySetAddress, outcome: 'fetched' | 'failed', state: KeySetState): void
  /** No policy uses it any more. */
  dropped(address: KeySetAddress): void
  /** A bug; the attempt counts as failed. */
  bug(error: unknown): void
}

interface Kept {
  readonly address: KeySetAddress
  readonly keeper: KeySetKeeper
}

/** Fetches all key sets of an instance for its workers (decision A-62). */
export class KeySetFetcher {
  readonly #call: Call
  readonly #importKey: ImportKey
  readonly #events: KeySetEvents
  readonly #attempts = new SingleFlight<FetchedKeySet>()
  readonly #kept = new Map<string, Kept>()

  constructor(call: Call, importKey: ImportKey, events: KeySetEvents) {
    this.#call = call
    this.#importKey = importKey
    this.#events = events
  }

  /** Calls must already use the plan that wants these key sets. */
  take({ wanted, dropped }: KeySetChange): void {
    for (const id of dropped) this.#drop(id)
    for (const address of wanted) this.#keep(address)
  }

  /** Requests of a worker wait for unknown keys. */
  ask(id: string): void {
    this.#kept.get(id)?.keeper.ask()
  }

  close(): void {
    for (const { keeper } of this.#kept.values()) keeper.close()
    this.#kept.clear()
  }

  #keep(address: KeySetAddress): void {
    const id = keySetId(address)
    const known = this.#kept.get(id)
    if (known !== undefined) return known.keeper.renew(address)
    const keeper = new KeySetKeeper(address, this.#attempts, {
      fetch: (from, signal) => this.#fetch(from, signal),
      publish: (state, outcome) => {
        if (outcome !== undefined) this.#events.attempted(address, outcome, state)
        this.#events.publish(state)
      },
    })
    this.#kept.set(id, { address, keeper })
    void keeper.fetch()
  }

  async #fetch(address: KeySetAddress, signal: AbortSignal): Promise<FetchedKeySet> {
    try {
      return await fetchKeySet(address, { call: this.#call, importKey: this.#importKey, signal })
    } catch (error) {
      this.#events.bug(error)
      return { failure: 'internal error' }
    }
  }

  #drop(id: string): void {
    const known = this.#kept.get(id)
    if (known === undefined) return
    known.keeper.close()
    this.#kept.delete(id)
    this.#events.dropped(known.address)
  }
}
