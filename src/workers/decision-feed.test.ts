import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { DecisionIds } from '#observe/decision-ids.ts'
import { DecisionRing, type NewRecords } from '#observe/decision-ring.ts'
import { keptDecision } from '#observe/testing.ts'
import { DecisionFeed } from './decision-feed.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const ids = new DecisionIds()

function startFeed(most = 100) {
  const rings = new Map<string, DecisionRing>()
  let asked = 0
  const feed = new DecisionFeed(async (known) => {
    asked++
    return [...rings].map(([name, ring]) =>
      ring.listAfter(known === undefined ? Number.POSITIVE_INFINITY : (known.get(name) ?? 0), most),
    )
  })
  const end = (worker: string, ...targets: string[]) => {
    const ring = rings.get(worker) ?? new DecisionRing(worker, ids, 3)
    rings.set(worker, ring)
    for (const target of targets) ring.keep(keptDecision({ target }))
  }
  return { feed, rings, end, asked: () => asked }
}

function reader() {
  const told: (string | number)[] = []
  return {
    told,
    records: (records: readonly { target: string }[]) => void told.push(...records.map(({ target }) => target)),
    lost: (count: number) => void told.push(count),
  }
}

test('decisions of all workers from now on, each once; nothing is asked without a reader', async () => {
  const { feed, end, asked } = startFeed()
  end('w1', 'before')
  await vi.advanceTimersByTimeAsync(1000)
  expect(asked()).toBe(0)
  const one = reader()
  const stop = feed.read(one)
  await vi.advanceTimersByTimeAsync(200)
  end('w1', 'a', 'b')
  await vi.advanceTimersByTimeAsync(200)
  end('w1', 'c')
  // A worker that was started meanwhile.
  end('w2', 'd')
  await vi.advanceTimersByTimeAsync(1000)
  expect(one.told).toEqual(['a', 'b', 'c', 'd'])

  stop()
  await vi.advanceTimersByTimeAsync(400)
  const before = asked()
  end('w1', 'e')
  await vi.advanceTimersByTimeAsync(1000)
  expect([asked(), one.told.length]).toEqual([before, 4])
})

test('decisions of several workers are read in the order of their times', async () => {
  const { feed, rings } = startFeed()
  const one = reader()
  feed.read(one)
  await vi.advanceTimersByTimeAsync(200)
  const at = (worker: string, ...times: number[]) => {
    const ring = new DecisionRing(worker, ids, 9)
    for (const timeMs of times) ring.keep(keptDecision({ target: `${worker} ${timeMs}`, timeMs }))
    rings.set(worker, ring)
  }
  at('w1', 10, 30, 30)
  at('w2', 20, 30)
  await vi.advanceTimersByTimeAsync(200)
  expect(one.told).toEqual(['w1 10', 'w2 20', 'w1 30', 'w1 30', 'w2 30'])
})

test('more decisions than a worker keeps: so many are lost', async () => {
  const { feed, end } = startFeed()
  end('w1')
  const one = reader()
  feed.read(one)
  await vi.advanceTimersByTimeAsync(100)
  end('w1', 'a', 'b', 'c', 'd', 'e')
  await vi.advanceTimersByTimeAsync(200)
  expect(one.told).toEqual([2, 'c', 'd', 'e'])
})

test('a worker tells some decisions at a time, in order', async () => {
  const { feed, end } = startFeed(2)
  end('w1', 'before')
  const one = reader()
  feed.read(one)
  await vi.advanceTimersByTimeAsync(100)
  end('w1', 'a', 'b', 'c')
  await vi.advanceTimersByTimeAsync(1000)
  expect(one.told).toEqual(['a', 'b', 'c'])
})

test('a second reader gets what ends after it came, and a reader after all have left begins anew', async () => {
  const { feed, end } = startFeed()
  const [one, two, three] = [reader(), reader(), reader()]
  const stopOne = feed.read(one)
  await vi.advanceTimersByTimeAsync(300)
  end('w1', 'a')
  await vi.advanceTimersByTimeAsync(300)
  const stopTwo = feed.read(two)
  end('w1', 'b')
  await vi.advanceTimersByTimeAsync(300)
  stopOne()
  stopTwo()
  await vi.advanceTimersByTimeAsync(300)
  end('w1', 'c')
  feed.read(three)
  await vi.advanceTimersByTimeAsync(300)
  end('w1', 'd')
  await vi.advanceTimersByTimeAsync(300)
  expect([one.told, two.told, three.told]).toEqual([['a', 'b'], ['b'], ['d']])
})

test('the decisions that a dead worker has not told are lost, and those that it has told are not', async () => {
  const { feed, rings, end } = startFeed()
  const one = reader()
  const stop = feed.read(one)
  await vi.advanceTimersByTimeAsync(200)
  end('w1', 'a', 'b')
  end('w2', 'c')
  await vi.advanceTimersByTimeAsync(200)
  // It has made five decisions when it dies, and the other one tells its last one before it ends.
  rings.delete('w1')
  feed.ended('w1', 5)
  end('w2', 'd')
  feed.take(rings.get('w2')!.listAfter(1, 10))
  rings.delete('w2')
  feed.ended('w2', 2)
  await vi.advanceTimersByTimeAsync(400)
  expect(one.told).toEqual(['a', 'b', 'c', 'd', 3])
  stop()
  await vi.advanceTimersByTimeAsync(400)
  feed.ended('w3', 7)
  const two = reader()
  feed.read(two)
  await vi.advanceTimersByTimeAsync(400)
  expect(two.told).toEqual([])
})

test('an answer that waits for those of other workers is not lost', async () => {
  let answer: ((all: readonly NewRecords[]) => void) | undefined
  const ring = new DecisionRing('w1', ids, 3)
  const feed = new DecisionFeed(
    () =>
      new Promise((resolve) => {
        answer = resolve
      }),
  )
  const one = reader()
  feed.read(one)
  answer!([ring.listAfter(Number.POSITIVE_INFINITY, 10)])
  await vi.advanceTimersByTimeAsync(200)
  ring.keep(keptDecision({ target: 'a' }))
  const told = ring.listAfter(0, 10)
  ring.keep(keptDecision({ target: 'b' }))
  feed.ended('w1', 2)
  answer!([told])
  await vi.advanceTimersByTimeAsync(0)
  expect(one.told).toEqual(['a', 1])
})
