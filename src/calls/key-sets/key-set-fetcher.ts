import type { ImportKey } from '#base/verifying-key.ts'
import type { KeySetChange } from '#engine/check-plan.ts'
import type { Call } from '#exchange/call.ts'
import { type KeySetAddress, type KeySetNews, keySetId } from '#policies/shared/remote-key-set.ts'
import { fetchKeySet } from './fetch-key-set.ts'
import { KeySetKeeper } from './key-set-keeper.ts'

/** Hears what becomes of key sets. */
export interface KeySetEvents {
  /** An attempt has ended, or somebody has asked in vain: for everybody who uses the key set. */
  news(news: KeySetNews): void
  /** An attempt has ended. */
  tried(address: KeySetAddress, outcome: 'fetched' | 'failed', news: KeySetNews): void
  /** Nobody uses it any more. */
  dropped(address: KeySetAddress): void
}

interface Kept {
  readonly address: KeySetAddress
  readonly keeper: KeySetKeeper
}

/** Fetches all key sets that the policies of an instance name, for all its workers (decision A-62). */
export class KeySetFetcher {
  readonly #call: Call
  readonly #importKey: ImportKey
  readonly #events: KeySetEvents
  readonly #kept = new Map<string, Kept>()

  constructor(call: Call, importKey: ImportKey, events: KeySetEvents) {
    this.#call = call
    this.#importKey = importKey
    this.#events = events
  }

  /** The plan in which these are wanted must be in force for calls. */
  take({ wanted, dropped }: KeySetChange): void {
    for (const id of dropped) this.#drop(id)
    for (const address of wanted) this.#keep(address)
  }

  /** Requests wait for keys that a worker does not know. */
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
    if (known !== undefined) return known.keeper.renew()
    const keeper = new KeySetKeeper(address, {
      fetch: (from, signal) => fetchKeySet(from, { call: this.#call, importKey: this.#importKey, signal }),
      told: (news, outcome) => {
        if (outcome !== undefined) this.#events.tried(address, outcome, news)
        this.#events.news(news)
      },
    })
    this.#kept.set(id, { address, keeper })
    void keeper.fetch()
  }

  #drop(id: string): void {
    const known = this.#kept.get(id)
    if (known === undefined) return
    known.keeper.close()
    this.#kept.delete(id)
    this.#events.dropped(known.address)
  }
}
