/**
 * Small values that all threads of an instance know, such as ended sessions. A thread sees its own values at once, and those of other threads
 * soon after. They are lost with the instance.
 */
export interface SharedTable {
  get(scope: string, key: string): string | undefined
  /** @param key short: it is stored, with the value, once for each thread */
  set(scope: string, key: string, value: string): void
}

/** One value, as threads tell each other. */
export interface TableEntry {
  readonly scope: string
  readonly key: string
  readonly value: string
}

/** The number of values kept per scope; the oldest are dropped. Together some megabytes. */
export const MAX_ENTRIES = 16_384

/** The copy of one thread. It publishes new values of this thread; `add` records those of other threads. */
export class LocalTable implements SharedTable {
  readonly #scopes = new Map<string, Map<string, string>>()
  readonly #publish: (entry: TableEntry) => void

  constructor(publish: (entry: TableEntry) => void = () => {}) {
    this.#publish = publish
  }

  get(scope: string, key: string): string | undefined {
    return this.#scopes.get(scope)?.get(key)
  }

  set(scope: string, key: string, value: string): void {
    const entry = { scope, key, value }
    this.add(entry)
    this.#publish(entry)
  }

  add({ scope, key, value }: TableEntry): void {
    let values = this.#scopes.get(scope)
    if (values === undefined) {
      values = new Map()
      this.#scopes.set(scope, values)
    }
    // A changed value is a new one.
    values.delete(key)
    values.set(key, value)
    if (values.size > MAX_ENTRIES) values.delete(values.keys().next().value!)
  }

  /** All values, oldest first in each scope. */
  get entries(): TableEntry[] {
    return [...this.#scopes].flatMap(([scope, values]) => [...values].map(([key, value]) => ({ scope, key, value })))
  }
}
