import { afterEach, beforeEach, expect, test } from 'vitest'
import { VirtualTime } from '#test/support/virtual-time.ts'
import { clock } from './clock.ts'
import { Pace, runAtOnce, runInSlices, type Steps } from './in-slices.ts'

let time: VirtualTime
let now = 0
let log: string[] = []
beforeEach(async () => {
  time = new VirtualTime()
  clock.monotonic = () => now
  await nextTurn()
  await nextTurn()
  // Uses up the turn, so that each test begins with a new one.
  runInSlices(work('', [5]))
  await nextTurn()
  log = []
})
afterEach(() => time[Symbol.dispose]())

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

/** Steps of so many milliseconds each; the last one is the end. */
function* work(name: string, stepsMs: readonly number[]): Steps<string> {
  for (const [index, ms] of stepsMs.entries()) {
    if (index > 0) yield
    now += ms
    log.push(`${name}${index}`)
  }
  return `${name} is done`
}

/** Notes each turn of the event loop. */
function noteTurns(count: number): void {
  const tick = () => {
    log.push('|')
    if (log.filter((entry) => entry === '|').length < count) setImmediate(tick)
  }
  setImmediate(tick)
}

test('short work is done at once', () => {
  expect(runInSlices(work('a', []))).toBe('a is done')
  expect(runInSlices(work('b', [1, 0.75]))).toBe('b is done')
})

test('work that is longer than two milliseconds goes on after other tasks, for half a millisecond of each turn', async () => {
  const outcome = runInSlices(work('a', [1.5, 0.5, 0.25, 0.25, 0.75, 0.25, 0.25]))
  noteTurns(3)
  expect(log).toEqual(['a0', 'a1'])
  expect(await outcome).toBe('a is done')
  await nextTurn()
  expect(log.join(' ')).toBe('a0 a1 a2 a3 | a4 | a5 a6 |')
})

test('all works of a turn share it', async () => {
  const one = runInSlices(work('a', [1.5, 0.5, 0.25]))
  // The turn is used up, so that it does not begin.
  const other = runInSlices(work('b', [0.25]))
  noteTurns(1)
  expect(log).toEqual(['a0', 'a1'])
  expect(await Promise.all([one, other])).toEqual(['a is done', 'b is done'])
  expect(log.join(' ')).toBe('a0 a1 a2 b0')
})

test('a work has the rest of the turn in which others were done', async () => {
  expect(runInSlices(work('a', [1.25]))).toBe('a is done')
  const other = runInSlices(work('b', [0.25, 0.5, 0.25]))
  expect(log).toEqual(['a0', 'b0', 'b1'])
  expect(await other).toBe('b is done')
})

test('works that wait take turns', async () => {
  const one = runInSlices(work('a', [2, 0.25, 0.25, 0.5, 0.25]))
  const other = runInSlices(work('b', [0.5, 0.25, 0.25]))
  noteTurns(5)
  await Promise.all([one, other])
  await nextTurn()
  expect(log.join(' ')).toBe('a0 a1 a2 | b0 | a3 | b1 b2 | a4 |')
})

test('of works that take more than five milliseconds, one after the other goes on, in every other turn', async () => {
  const steps = [2, ...Array<number>(10).fill(1)]
  const order: string[] = []
  const ended = ['a', 'b', 'c'].map(async (name) => {
    await runInSlices(work(name, name === 'c' ? [2, 1, 1] : steps))
    order.push(name)
  })
  await Promise.all(ended)
  expect(order).toEqual(['c', 'a', 'b'])
  const isBefore = (one: string, other: string) => log.indexOf(one) < log.indexOf(other)
  // With the fourth step, the work has taken five milliseconds.
  expect([isBefore('b3', 'a10'), isBefore('a10', 'b4')]).toEqual([true, true])
})

test('what other turns have used does not count', async () => {
  runInSlices(work('a', [1.5]))
  await nextTurn()
  expect(runInSlices(work('b', [1.5, 0.25]))).toBe('b is done')
})

test('many short works of a turn count together', () => {
  for (let i = 0; i < 8; i++) expect(runInSlices(work('a', [0.25]))).toBe('a is done')
  expect(runInSlices(work('b', [0.1]))).toBeInstanceOf(Promise)
})

test('an error is that of the caller, now or later', async () => {
  function* failing(ms: number): Steps<void> {
    now += ms
    yield
    throw new Error('a bug')
  }
  expect(() => runInSlices(failing(0))).toThrow('a bug')
  const later = runInSlices(failing(5))
  const next = runInSlices(work('a', [1]))
  await expect(later).rejects.toThrow('a bug')
  expect(await next).toBe('a is done')
})

test('runAtOnce runs all steps', () => {
  expect(runAtOnce(work('a', [100, 100]))).toBe('a is done')
})

test('a pace yields after 16,384 units', () => {
  const pace = new Pace()
  expect([8000, 8383, 1, 16_383, 1, 100_000, 1].map((units) => pace.after(units))).toEqual([
    ...[false, false, true],
    ...[false, true, true, false],
  ])
})
