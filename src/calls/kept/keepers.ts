import type { SourceChange } from '#engine/plan/wanted-sources.ts'
import { SingleFlight } from '#exchange/single-flight.ts'
import type { KeptState } from '#policies/shared/kept/kept-value.ts'
import { type Fetched, Keeper } from './keeper.ts'

/** How values are fetched, and who hears of it. */
export interface KeptEvents<Source, Value> {
  idOf(source: Source): string
  fetch(source: Source, signal: AbortSignal): Promise<Fetched<Value>>
  /** The state of a value, for all workers. */
  publish(state: KeptState<Value>): void
  /** An attempt has ended. */
  attempted(source: Source, outcome: 'fetched' | 'failed', state: KeptState<Value>): void
  /** No policy uses it any more. */
  dropped(source: Source): void
  /** A bug; the attempt counts as failed. */
  bug(error: unknown): void
}

interface Kept<Source, Value> {
  readonly source: Source
  readonly keeper: Keeper<Source, Value>
}

/** Keeps all values of one kind current, for the workers of an instance (decisions ). */
export class Keepers<Source, Value> {
  readonly #events: KeptEvents<Source, Value>
  readonly #attempts = new SingleFlight<Fetched<Value>>()
  readonly #kept = new Map<string, Kept<Source, Value>>()

  constructor(events: KeptEvents<Source, Value>) {
    this.#events = events
  }

  /** Calls must already use the plan that wants these values. */
  take({ wanted, dropped }: SourceChange<Source>): void {
    for (const id of dropped) this.#drop(id)
    for (const source of wanted) this.#keep(source)
  }

  /** Requests of a worker wait for a newer value than the one that was fetched at this time. */
  ask(id: string, fetchedMs: number): void {
    this.#kept.get(id)?.keeper.ask(fetchedMs)
  }

  close(): void {
    for (const { keeper } of this.#kept.values()) keeper.close()
    this.#kept.clear()
  }

  #keep(source: Source): void {
    const id = this.#events.idOf(source)
    const known = this.#kept.get(id)
    if (known !== undefined) return known.keeper.renew(source)
    const keeper = new Keeper<Source, Value>(id, source, this.#attempts, {
      fetch: (from, signal) => this.#fetch(from, signal),
      publish: (state, outcome) => {
        if (outcome !== undefined) this.#events.attempted(source, outcome, state)
        this.#events.publish(state)
      },
    })
    this.#kept.set(id, { source, keeper })
    void keeper.fetch()
  }

  async #fetch(source: Source, signal: AbortSignal): Promise<Fetched<Value>> {
    try {
      return await this.#events.fetch(source, signal)
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
    this.#events.dropped(known.source)
  }
}
