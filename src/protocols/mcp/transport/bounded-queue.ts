/** Values for one reader. A writer that is ahead of the reader waits. */
export class BoundedQueue<Value> {
  readonly #room: number
  readonly #values: Value[] = []
  #isOver = false
  #error: Error | undefined
  #filled = Promise.withResolvers<void>()
  #taken = Promise.withResolvers<void>()

  /** @param room values that may wait until the writer has to */
  constructor(room: number) {
    this.#room = room
  }

  /** @returns a promise if the writer has to wait until the reader has caught up */
  put(value: Value): Promise<void> | undefined {
    if (this.#isOver) return undefined
    this.#values.push(value)
    this.#filled.resolve()
    return this.#values.length < this.#room ? undefined : this.#taken.promise
  }

  /** Nothing more comes. @param error thrown to the reader, after the values before it */
  end(error?: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#error = error
    this.#filled.resolve()
    this.#taken.resolve()
  }

  /** Resolves when there is a value or the end. */
  get filled(): Promise<void> {
    return this.#filled.promise
  }

  async *read(): AsyncGenerator<Value, void> {
    try {
      for (;;) {
        await this.#filled.promise
        if (this.#values.length > 0) yield this.#take()
        else if (this.#error !== undefined) throw this.#error
        else return
      }
    } finally {
      this.end()
    }
  }

  #take(): Value {
    const value = this.#values.shift()!
    if (this.#values.length === 0 && !this.#isOver) this.#filled = Promise.withResolvers()
    if (this.#values.length < this.#room) {
      this.#taken.resolve()
      this.#taken = Promise.withResolvers()
    }
    return value
  }
}
