import { expect, test } from 'vitest'
import { interleave } from './interleave.ts'

async function* from<Value>(...values: Value[]): AsyncGenerator<Value> {
  yield* values
}

test('every value arrives, each source in its order', async () => {
  const all = await Array.fromAsync(interleave([from(1, 2, 3), from<number>(), from(10, 20)]))
  expect(all).toHaveLength(5)
  expect(all.filter(([index]) => index === 0).map(([, value]) => value)).toEqual([1, 2, 3])
  expect(all.filter(([index]) => index === 2).map(([, value]) => value)).toEqual([10, 20])
})

test('a silent source delays no other source', async () => {
  const silent = (async function* () {
    await new Promise<never>(() => {})
    yield 0
  })()
  const merged = interleave([silent, from(1, 2)])
  expect(await merged.next()).toEqual({ done: false, value: [1, 1] })
  expect(await merged.next()).toEqual({ done: false, value: [1, 2] })
  expect(await merged.return(undefined)).toEqual({ done: true, value: undefined })
})

test('one that fails ends all', async () => {
  let ended = false
  const endless = (async function* () {
    try {
      for (;;) yield 1
    } finally {
      ended = true
    }
  })()
  const failing = (async function* () {
    yield 0
    throw new Error('broken')
  })()
  await expect(Array.fromAsync(interleave([endless, failing]))).rejects.toThrow('broken')
  expect(ended).toBe(true)
})
