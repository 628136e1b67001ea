/** Values of several iterables as they come, each with the index of its iterable. Ends all of them when it is ended. */
export async function* interleave<Value>(sources: readonly AsyncIterable<Value>[]): AsyncGenerator<[number, Value]> {
  const iterators = sources.map((source) => source[Symbol.asyncIterator]())
  const pending = new Map(iterators.map((iterator, index) => [index, pull(iterator, index)]))
  try {
    while (pending.size > 0) {
      const { index, result } = await Promise.race(pending.values())
      if (result.done === true) {
        pending.delete(index)
        continue
      }
      pending.set(index, pull(iterators[index]!, index))
      yield [index, result.value]
    }
  } finally {
    // An iterator that is waiting for its next value can only be ended after it; nobody waits for that.
    for (const index of pending.keys()) iterators[index]!.return?.().catch(() => {})
    for (const waiting of pending.values()) waiting.catch(() => {})
  }
}

async function pull<Value>(iterator: AsyncIterator<Value>, index: number) {
  return { index, result: await iterator.next() }
}
