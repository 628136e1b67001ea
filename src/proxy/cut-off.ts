/** Requests and connections that the maximum of a shutdown ends. */
export class CutOff {
  #begun = false
  #count = 0

  /** The maximum is reached: from now on, what ends early ends because of it. */
  begin(): void {
    this.#begun = true
  }

  /** How many it has ended. */
  get count(): number {
    return this.#count
  }

  /** Counts a request or a connection that ended early. @returns the cause for operators; undefined: there is another one */
  take(): string | undefined {
    if (!this.#begun) return undefined
    this.#count++
    return 'cut off: the maximum of the shutdown was reached'
  }
}
