/**
 * Values of several iterables as they come, each with the index of its iterable. Fails with the first that fails; ends all of
 * them when it is ended. Asks each for its next value only after the one before was taken.
 */
export async function* interleave<Value>(sources: readonly AsyncIterable<Value>[]): AsyncGenerator<[number, Value]> {
  const iterators = sources.map((source) => source[Symbol.asyncIterator]())
  const waiting = new Set(iterators.keys())
  // A queue and one promise to wake up by. `Promise.race` would hang a new reaction on every silent source for every value.
  const arrived: (() => [number, IteratorResult<Value>])[] = []
  let wake: (() => void) | undefined

  function pull(index: number): void {
    iterators[index]!.next()
      .then(
        (result) => arrived.push(() => [index, result]),
        (error: unknown) =>
          arrived.push(() => {
            throw error
          }),
      )
      .then(() => wake?.())
  }

  try {
    for (const index of waiting) pull(index)
    while (waiting.size > 0) {
      const take = arrived.shift()
      if (take === undefined) {
        const { promise, resolve } = Promise.withResolvers<void>()
        wake = resolve
        await promise
        continue
      }
      const [index, result] = take()
      if (result.done === true) {
        waiting.delete(index)
        continue
      }
      yield [index, result.value]
      pull(index)
    }
  } finally {
    // One that waits for its next value can only end after it; nobody waits for that.
    for (const index of waiting) iterators[index]!.return?.().catch(() => {})
  }
}
