import { createInstantMemory, InstantMemory } from './instant-memory.ts'

/**
 * Small values that all threads of an instance know, such as ended sessions. A thread sees its own values at once, and those of other threads
 * soon after. They are lost with the instance.
 */
export interface SharedTable {
  get(scope: string, key: string): string | undefined
  /** @param key short: it is stored, with the value, once for each thread */
  set(scope: string, key: string, value: string): void
  /**
   * Sets an empty value that no thread has set yet. Of several threads that claim the same key at the same time, one succeeds.
   * @returns false: it has been set
   */
  claim(scope: string, key: string): boolean
  /**
   * Asks all threads, which see it at once, to wait with something. A hint: the hold of one key may end or replace that of another one.
   * @param ms for how long, at most a minute; 0: they need not wait any more
   */
  hold(key: string, ms: number): void
  /** Begins a hold if there is none. Of several threads, one succeeds. */
  takeHold(key: string, ms: number): boolean
  /** How long a hold lasts, in milliseconds; 0: there is none. */
  heldMs(key: string): number
  /** The number of values in a scope. */
  count(scope: string): number
}

/** One value, as threads tell each other. */
export interface TableEntry {
  readonly scope: string
  readonly key: string
  readonly value: string
}

/** The number of values kept per scope; the oldest are dropped. Together some megabytes. */
export const MAX_ENTRIES = 16_384
/** The same for the length of all keys and values of a scope, in characters. */
export const MAX_LENGTH = 32 * 1024 * 1024

interface Scope {
  readonly values: Map<string, string>
  length: number
}

/** The copy of one thread. It publishes new values of this thread; `add` records those of other threads. */
export class LocalTable implements SharedTable {
  readonly #scopes = new Map<string, Scope>()
  readonly #publish: (entry: TableEntry) => void
  readonly #instant: InstantMemory

  /** @param memory the same for all threads; `createInstantMemory` */
  constructor(publish: (entry: TableEntry) => void = () => {}, memory = createInstantMemory(false)) {
    this.#publish = publish
    this.#instant = new InstantMemory(memory)
  }

  get(scope: string, key: string): string | undefined {
    return this.#scopes.get(scope)?.values.get(key)
  }

  count(scope: string): number {
    return this.#scopes.get(scope)?.values.size ?? 0
  }

  set(scope: string, key: string, value: string): void {
    const entry = { scope, key, value }
    this.add(entry)
    this.#publish(entry)
  }

  claim(scope: string, key: string): boolean {
    if (this.get(scope, key) !== undefined || !this.#instant.claim(`${scope} ${key}`)) return false
    this.set(scope, key, '')
    return true
  }

  hold(key: string, ms: number): void {
    this.#instant.hold(key, ms)
  }

  takeHold(key: string, ms: number): boolean {
    return this.#instant.take(key, ms)
  }

  heldMs(key: string): number {
    return this.#instant.heldMs(key)
  }

  add({ scope, key, value }: TableEntry): void {
    let kept = this.#scopes.get(scope)
    if (kept === undefined) {
      kept = { values: new Map(), length: 0 }
      this.#scopes.set(scope, kept)
    }
    const { values } = kept
    // A changed value is a new one.
    drop(kept, key)
    values.set(key, value)
    kept.length += key.length + value.length
    while (values.size > MAX_ENTRIES || kept.length > MAX_LENGTH) drop(kept, values.keys().next().value!)
  }

  /** All values, oldest first in each scope. */
  get entries(): TableEntry[] {
    return [...this.#scopes].flatMap(([scope, { values }]) =>
      [...values].map(([key, value]) => ({ scope, key, value })),
    )
  }
}

function drop(kept: Scope, key: string): void {
  const value = kept.values.get(key)
  if (value === undefined) return
  kept.values.delete(key)
  kept.length -= key.length + value.length
}
