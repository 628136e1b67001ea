import { expect, test } from 'vitest'
import { VirtualTime } from '#test/support/virtual-time.ts'
import { ApiUnreadable } from './api-unreadable.ts'
import { WriteQueue } from './write-queue.ts'

/** A queue whose writes end when a test says so. */
function observedQueue() {
  const started: string[] = []
  const said: string[] = []
  const ends = new Map<string, { resolve(): void; reject(error: unknown): void }>()
  const queue = new WriteQueue<number>({
    write: (key, value) => {
      started.push(`${key}${value}`)
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      ends.set(key, { resolve, reject })
      return promise
    },
    failed: (message) => said.push(message),
    random: () => 1,
  })
  return { queue, started, said, end: (key: string) => ends.get(key)!.resolve(), ends }
}

test('of several values for a key the newest is written, and never two at once', async () => {
  using time = new VirtualTime()
  const { queue, started, end } = observedQueue()
  for (const value of [1, 2, 3]) queue.put('a', value)
  expect(started).toEqual(['a1'])
  end('a')
  await time.pass(0)
  expect(started).toEqual(['a1', 'a3'])
})

test('a few writes are under way at once', async () => {
  using time = new VirtualTime()
  const { queue, started, end } = observedQueue()
  for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) queue.put(key, 1)
  expect(started).toEqual(['a1', 'b1', 'c1', 'd1'])
  end('c')
  await time.pass(0)
  expect(started).toEqual(['a1', 'b1', 'c1', 'd1', 'e1'])
})

test('a refused write is repeated with growing delays; others go on; the log says it once', async () => {
  using time = new VirtualTime()
  const { queue, started, said, ends, end } = observedQueue()
  queue.put('a', 1)
  ends.get('a')!.reject(new ApiUnreadable('PUT /a: forbidden', { status: 403 }))
  await time.pass(0)
  queue.put('a', 2)
  queue.put('b', 1)
  end('b')
  await time.pass(499)
  expect(started).toEqual(['a1', 'b1'])
  await time.pass(1)
  expect(started).toEqual(['a1', 'b1', 'a2'])
  ends.get('a')!.reject(new ApiUnreadable('PUT /a: forbidden', { status: 403 }))
  await time.pass(999)
  expect(started).toHaveLength(3)
  await time.pass(1)
  expect(started.at(-1)).toBe('a2')
  expect(said).toEqual(['PUT /a: forbidden; next attempt in 0.5 s'])
})

test('a write at which the API fails does not hold up the others', async () => {
  using time = new VirtualTime()
  const { queue, started, said, ends } = observedQueue()
  queue.put('a', 1)
  ends.get('a')!.reject(new ApiUnreadable('PUT /a: failed calling webhook', { status: 500 }))
  await time.pass(0)
  queue.put('b', 1)
  expect(started).toEqual(['a1', 'b1'])
  expect(said).toEqual(['PUT /a: failed calling webhook; next attempt in 0.5 s'])
})

test('a conflict is tried again at once, six times in all', async () => {
  using time = new VirtualTime()
  const { queue, started, said, ends, end } = observedQueue()
  const conflict = new ApiUnreadable('PUT /a: changed', { status: 409 })
  queue.put('a', 1)
  for (let n = 0; n < 6; n++) {
    ends.get('a')!.reject(conflict)
    await time.pass(0)
  }
  expect([started.length, said]).toEqual([6, ['PUT /a: changed; next attempt in 0.5 s']])
  await time.pass(500)
  ends.get('a')!.reject(conflict)
  await time.pass(0)
  end('a')
  await time.pass(0)
  expect([started.length, said.length, time.nextMs]).toEqual([8, 1, undefined])
})

test('while the API is away, everything waits, and one write tries', async () => {
  using time = new VirtualTime()
  const { queue, started, said, ends, end } = observedQueue()
  const away = new ApiUnreadable('https://api cannot be read: connection refused')
  for (const key of ['a', 'b', 'c', 'd', 'e']) queue.put(key, 1)
  for (const key of ['a', 'b', 'c', 'd']) ends.get(key)!.reject(away)
  await time.pass(499)
  expect(started).toHaveLength(4)
  await time.pass(1)
  expect(started.slice(4)).toEqual(['e1'])
  ends.get('e')!.reject(away)
  await time.pass(1000)
  expect(started.slice(5)).toEqual(['a1'])
  end('a')
  await time.pass(0)
  expect(started.slice(6)).toEqual(['b1', 'c1', 'd1', 'e1'])
  expect(said).toEqual([
    'https://api cannot be read: connection refused; all writes wait, next attempt in 0.5 s',
    'https://api cannot be read: connection refused; all writes wait, next attempt in 1.0 s',
  ])
})

test('the API says how long to wait', async () => {
  using time = new VirtualTime()
  const { queue, started, ends } = observedQueue()
  queue.put('a', 1)
  ends.get('a')!.reject(new ApiUnreadable('too many', { status: 429, retryAfterMs: 5000 }))
  await time.pass(4999)
  expect(started).toHaveLength(1)
  await time.pass(1)
  expect(started).toHaveLength(2)
})

test('a closed queue writes nothing more', async () => {
  using time = new VirtualTime()
  const { queue, started, ends } = observedQueue()
  queue.put('a', 1)
  ends.get('a')!.reject(new Error('no'))
  await time.pass(0)
  queue[Symbol.dispose]()
  queue.put('b', 1)
  await time.pass(100_000)
  expect([started, time.nextMs]).toEqual([['a1'], undefined])
})
