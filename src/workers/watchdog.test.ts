import { beforeEach, expect, test, vi } from 'vitest'
import { clock } from '#base/clock.ts'
import { Watchdog } from './watchdog.ts'

let run: () => void
let cancelled: number
let stuck: string[]

beforeEach(() => {
  cancelled = 0
  stuck = []
  vi.spyOn(clock, 'after').mockImplementation((ms, callback) => {
    expect(ms).toBe(500)
    run = callback
    return { cancel: () => cancelled++ }
  })
})
/** The main thread's loop turns `count` times. */
function turn(count: number): void {
  for (let i = 0; i < count; i++) run()
}

function watched(): { readonly dog: Watchdog; readonly turns: Int32Array } {
  const dog = new Watchdog((name) => stuck.push(name))
  return { dog, turns: new Int32Array(dog.watch('w1')) }
}

test('a worker whose loop has not turned in 20 turns of 500 ms is stuck, and reported once', () => {
  const { turns } = watched()
  turns[0] = 1
  // The first turn of the main thread sees the worker's.
  turn(20)
  expect(stuck).toEqual([])
  turn(1)
  expect(stuck).toEqual(['w1'])
  turn(50)
  expect(stuck).toEqual(['w1'])
})

test('one turn of the worker restarts the wait', () => {
  const { turns } = watched()
  for (let i = 0; i < 5; i++) {
    turns[0]!++
    turn(20)
  }
  expect(stuck).toEqual([])
})

test('the wall clock does not count: suspension of the machine ends no worker', () => {
  const { turns } = watched()
  turns[0] = 1
  turn(2)
  vi.spyOn(clock, 'monotonic').mockReturnValue(1e9)
  vi.spyOn(clock, 'now').mockReturnValue(1e15)
  turn(10)
  expect(stuck).toEqual([])
})

test('a worker that has not begun is not watched yet, a forgotten one no longer', () => {
  const { dog, turns } = watched()
  turn(100)
  turns[0] = 1
  dog.forget('w1')
  turn(100)
  expect(stuck).toEqual([])
})

test('it ends', () => {
  const { dog } = watched()
  dog.close()
  expect(cancelled).toBe(1)
})
