/** Callbacks for changes. */
export class Subscribers {
  readonly #listeners = new Set<() => void>()

  add(listener: () => void): () => void {
    // A separate function, so that the same listener can subscribe twice.
    const entry = () => listener()
    this.#listeners.add(entry)
    return () => {
      this.#listeners.delete(entry)
    }
  }

  notify(): void {
    for (const listener of [...this.#listeners]) listener()
  }

  clear(): void {
    this.#listeners.clear()
  }
}
