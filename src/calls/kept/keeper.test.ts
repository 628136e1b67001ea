import { afterEach, beforeEach, expect, test } from 'vitest'
import { clock } from '#base/clock.ts'
import { SingleFlight } from '#exchange/single-flight.ts'
import type { KeptState } from '#policies/shared/kept/kept-value.ts'
import { verifies } from '#test/support/verifies.ts'
import { VirtualTime } from '#test/support/virtual-time.ts'
import { type Fetched, Keeper } from './keeper.ts'

const CACHE_MS = 300_000
const ID = 'id'
const SOURCE = 'source'
const GOOD: Fetched<string> = { value: 'one', forMs: CACHE_MS }
const BAD: Fetched<string> = { failure: 'connection-refused' }

let time: VirtualTime
beforeEach(() => {
  time = new VirtualTime()
})
afterEach(() => time[Symbol.dispose]())

/** A keeper whose attempts take `takesMs` and end as `answer` says, `began`: milliseconds from the start. */
function keeperOf(answer: Fetched<string> = GOOD, takesMs = 0) {
  const published: KeptState<string>[] = []
  const began: number[] = []
  const test = { answer }
  const start = clock.monotonic()
  const keeper = new Keeper(ID, SOURCE, new SingleFlight(), {
    fetch: async () => {
      began.push(clock.monotonic() - start)
      const said = test.answer
      if (takesMs > 0) await new Promise<void>((resolve) => clock.after(takesMs, resolve))
      return said
    },
    publish: (state) => published.push(state),
  })
  const pass = (ms: number) => time.pass(ms)
  const last = () => published.at(-1)
  /** By a thread that has the last published value. */
  const ask = () => keeper.ask(last()?.fetchedMs ?? 0)
  return { test, published, began, keeper, pass, last, ask }
}

verifies('traffic.jwtAuthentication.jwks/cacheDuration', 'a key set is fetched again when its time is up', async () => {
  const { keeper, pass, began, test, last } = keeperOf()
  void keeper.fetch()
  await pass(CACHE_MS - 1)
  expect(began).toEqual([0])
  test.answer = { value: 'two', forMs: CACHE_MS }
  await pass(1)
  expect(began).toEqual([0, CACHE_MS])
  expect(last()).toMatchObject({ value: 'two', failure: undefined, final: true })
})

test('failed attempts are repeated after pauses that double up to 15 s; the last good set stays', async () => {
  const { keeper, pass, began, test, last } = keeperOf()
  void keeper.fetch()
  await pass(CACHE_MS - 1)
  test.answer = BAD
  await pass(1 + 60_000)
  const pauses = began.slice(2).map((at, i) => at - began[i + 1]!)
  expect(pauses).toEqual([200, 400, 800, 1600, 3200, 6400, 12_800, 15_000, 15_000])
  expect(last()).toMatchObject({ value: 'one', failure: 'connection-refused', final: true })
  test.answer = GOOD
  await pass(15_000)
  expect(last()).toMatchObject({ value: 'one', failure: undefined })
  expect(time.nextMs).toBeGreaterThan(15_000)
})

test('the attempts of the first five seconds count as one: waiting requests keep waiting', async () => {
  const { keeper, pass, published, test, ask } = keeperOf(BAD)
  void keeper.fetch()
  await pass(4999)
  expect(new Set(published.map(({ final, restMs }) => `${final} ${restMs}`))).toEqual(new Set(['false 0']))
  const before = published.length
  ask()
  expect(published).toHaveLength(before)
  test.answer = GOOD
  await pass(2000)
  expect(published.at(-1)).toMatchObject({ value: 'one', final: true })
})

test('after that the answer is immediate: no keys, and the time of the next attempt', async () => {
  const { keeper, pass, published, began, ask } = keeperOf(BAD)
  void keeper.fetch()
  await pass(6300)
  const tries = began.length
  ask()
  expect(published.at(-1)).toMatchObject({
    value: undefined,
    failure: 'connection-refused',
    final: true,
    restMs: time.nextMs,
  })
  expect(began).toHaveLength(tries)
})

test('an unknown key causes one fetch in ten seconds', async () => {
  const { keeper, pass, began, last, ask } = keeperOf()
  void keeper.fetch()
  await pass(1000)
  for (let i = 0; i < 5; i++) ask()
  await pass(0)
  expect(began).toEqual([0, 1000])
  expect(last()).toMatchObject({ restMs: 10_000 })
  await pass(9999)
  ask()
  expect(began).toHaveLength(2)
  expect(last()).toMatchObject({ restMs: 1 })
  await pass(1)
  ask()
  expect(began).toEqual([0, 1000, 11_000])
})

test('a value that was fetched while a thread asked for one causes no other fetch', async () => {
  const { keeper, pass, began, published } = keeperOf()
  void keeper.fetch()
  await pass(1000)
  keeper.ask(0)
  await pass(0)
  expect(began).toEqual([0])
  expect(published).toMatchObject([{ value: 'one', restMs: 0 }, { value: 'one' }])
})

test('a request during an attempt gets its result', async () => {
  const { keeper, pass, began, published, ask } = keeperOf(GOOD, 3000)
  void keeper.fetch()
  await pass(1000)
  ask()
  expect([began.length, published.length]).toEqual([1, 0])
  await pass(2000)
  expect(published).toHaveLength(1)
  // It has not used up what unknown keys may cause.
  ask()
  expect(began).toHaveLength(2)
})

test('after a change of the server, the result of the current attempt is replaced', async () => {
  const { keeper, pass, test, began, last } = keeperOf(GOOD, 1000)
  void keeper.fetch()
  await pass(500)
  test.answer = { value: 'two', forMs: CACHE_MS }
  keeper.renew(SOURCE)
  await pass(1500)
  expect([began.length, last()?.value]).toEqual([2, 'two'])
  test.answer = { value: 'three', forMs: CACHE_MS }
  keeper.renew(SOURCE)
  await pass(1000)
  expect([began.length, last()?.value]).toEqual([3, 'three'])
})

test('another duration counts at once', async () => {
  const { keeper, pass, began, test } = keeperOf()
  void keeper.fetch()
  await pass(1000)
  test.answer = { value: 'one', forMs: CACHE_MS * 2 }
  keeper.renew(SOURCE)
  await pass(CACHE_MS * 2)
  expect(began).toEqual([0, 1000, 1000 + CACHE_MS * 2])
})

test('a closed keeper neither fetches nor publishes', async () => {
  const { keeper, pass, began, published } = keeperOf(GOOD, 1000)
  void keeper.fetch()
  await pass(500)
  keeper.close()
  keeper.renew(SOURCE)
  await pass(CACHE_MS * 2)
  expect([began.length, published.length, time.nextMs]).toEqual([1, 0, undefined])
})
