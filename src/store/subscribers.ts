/** Those who want to hear that something changed. */
export class Subscribers {
  readonly #listeners = new Set<() => void>()

  add(listener: () => void): () => void {
    // A function of its own, so that the same listener can subscribe twice.
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
