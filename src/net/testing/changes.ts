/** Notifies waiters of a change, so that they check their condition again. */
export class Changes {
  #waiting: (() => void)[] = []

  next(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  announce(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }
}
