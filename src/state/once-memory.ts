/** Records values that may be used only once, such as an ended session, for all threads. */
export interface OnceMemory {
  isSpent(scope: string, key: string): boolean
  /** @param key short, and of the same length for every caller, because it is stored */
  spend(scope: string, key: string): void
}

/** The number of keys kept per scope; the oldest are dropped. Together some megabytes. */
export const MAX_SPENT = 16_384

/** The memory of one thread. It publishes new entries of this thread; `add` records entries of other threads. */
export class LocalOnceMemory implements OnceMemory {
  readonly #spent = new Map<string, Set<string>>()
  readonly #publish: (scope: string, key: string) => void

  constructor(publish: (scope: string, key: string) => void = () => {}) {
    this.#publish = publish
  }

  isSpent(scope: string, key: string): boolean {
    return this.#spent.get(scope)?.has(key) === true
  }

  spend(scope: string, key: string): void {
    this.add(scope, key)
    this.#publish(scope, key)
  }

  add(scope: string, key: string): void {
    let spent = this.#spent.get(scope)
    if (spent === undefined) {
      spent = new Set()
      this.#spent.set(scope, spent)
    }
    spent.add(key)
    if (spent.size > MAX_SPENT) spent.delete(spent.values().next().value!)
  }
}
