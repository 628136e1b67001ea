/**
 * Values of several iterables in order of arrival, each with the index of its iterable. Fails with the first failure; closes all iterables
 * when it is closed. Requests the next value of an iterable only after the previous one was taken.
 */
export async function* interleave<Value>(sources: readonly AsyncIterable<Value>[]): AsyncGenerator<[number, Value]> {
  const iterators = sources.map((source) => source[Symbol.asyncIterator]())
  const waiting = new Set(iterators.keys())
  // A queue and one promise for waking up. `Promise.race` would add a reaction to every silent source for every value.
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
    // An iterable that waits for its next value can close only after that; the code does not wait for it.
    for (const index of waiting) iterators[index]!.return?.().catch(() => {})
  }
}
