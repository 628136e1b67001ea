/** Calls that wait for input, per worker and of one caller there. */
const MAX_HELD = 1000
const MAX_HELD_OF_CALLER = 100

/** Counts the calls that a worker holds. */
export class HeldCalls {
  readonly #byCaller = new Map<string, number>()
  #count = 0

  /** @returns counts the call no more; undefined: the caller, or all together, have too many */
  admit(caller: string): (() => void) | undefined {
    const own = this.#byCaller.get(caller) ?? 0
    if (this.#count >= MAX_HELD || own >= MAX_HELD_OF_CALLER) return undefined
    this.#count++
    this.#byCaller.set(caller, own + 1)
    return () => {
      this.#count--
      const left = (this.#byCaller.get(caller) ?? 1) - 1
      if (left === 0) this.#byCaller.delete(caller)
      else this.#byCaller.set(caller, left)
    }
  }

  get count(): number {
    return this.#count
  }
}
