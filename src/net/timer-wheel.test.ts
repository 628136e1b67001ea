import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { clock } from '#base/clock.ts'
import { TimerWheel, WheelTimer } from './timer-wheel.ts'

let now = 1000

beforeEach(() => {
  now = 1000
  vi.spyOn(clock, 'monotonic').mockImplementation(() => now)
})

/** A wheel with one timer. `pass` advances the clock and returns how often the timer has fired. */
function setup() {
  const wheel = new TimerWheel()
  let fired = 0
  const timer = new WheelTimer(() => fired++)
  const pass = (ms: number) => {
    now += ms
    wheel.advance()
    return fired
  }
  return { wheel, timer, pass }
}

test.each([1, 50, 100, 101, 950, 30_000, 51_199, 51_200, 51_300, 600_000])(
  'a limit of %i ms is never early and at most two steps late',
  (ms) => {
    const { wheel, timer, pass } = setup()
    wheel.arm(timer, ms)
    expect(pass(ms - 1)).toBe(0)
    expect(pass(201)).toBe(1)
    expect(pass(600_000)).toBe(1)
  },
)

test('a timer that is re-armed for a later time fires later', () => {
  const { wheel, timer, pass } = setup()
  wheel.arm(timer, 1000)
  expect(pass(900)).toBe(0)
  wheel.arm(timer, 1000)
  expect(pass(900)).toBe(0)
  expect(pass(300)).toBe(1)
})

test('a timer that is re-armed for an earlier time fires earlier', () => {
  const { wheel, timer, pass } = setup()
  wheel.arm(timer, 600_000)
  wheel.arm(timer, 500)
  expect(pass(700)).toBe(1)
})

test('a disarmed or removed timer does not fire and can be armed again', () => {
  const { wheel, timer, pass } = setup()
  wheel.arm(timer, 500)
  wheel.disarm(timer)
  expect(pass(1000)).toBe(0)
  wheel.arm(timer, 500)
  wheel.remove(timer)
  expect(pass(1000)).toBe(0)
  wheel.arm(timer, 500)
  expect(pass(700)).toBe(1)
})

test('a cleared wheel fires nothing, and its timers can be armed again', () => {
  const { wheel, timer, pass } = setup()
  wheel.arm(timer, 100)
  wheel.arm(new WheelTimer(() => expect.fail('it was removed')), 60_000)
  wheel.clear()
  expect(pass(70_000)).toBe(0)
  wheel.arm(timer, 100)
  expect(pass(301)).toBe(1)
})

test('after a long pause of the process, every due timer fires once', () => {
  const { wheel, timer, pass } = setup()
  wheel.arm(timer, 500)
  expect(pass(10_000_000)).toBe(1)
})

test('a timer that arms itself again needs no second interval', () => {
  const intervals = vi.spyOn(globalThis, 'setInterval')
  const wheel = new TimerWheel()
  const timer: WheelTimer = new WheelTimer(() => wheel.arm(timer, 500))
  wheel.arm(timer, 500)
  for (let i = 0; i < 3; i++) {
    now += 800
    wheel.advance()
  }
  expect(intervals).toHaveBeenCalledOnce()
  wheel.remove(timer)
})

test('a firing timer can arm and remove timers of its own slot', () => {
  const wheel = new TimerWheel()
  const fired: string[] = []
  const timers = ['a', 'b', 'c'].map(
    (name) =>
      new WheelTimer(() => {
        fired.push(name)
        for (const other of timers) if (other !== timers[2]) wheel.remove(other)
        if (name === 'c') wheel.arm(timers[0]!, 100)
      }),
  )
  for (const timer of timers) wheel.arm(timer, 100)
  now += 300
  wheel.advance()
  expect(fired).toEqual(['c'])
  now += 300
  wheel.advance()
  expect(fired).toEqual(['c', 'a'])
})

test('the interval runs only while a timer is armed', () => {
  const start = vi.spyOn(globalThis, 'setInterval')
  const stop = vi.spyOn(globalThis, 'clearInterval')
  const { wheel, timer, pass } = setup()
  expect(start).not.toHaveBeenCalled()
  wheel.arm(timer, 100)
  expect(start).toHaveBeenCalledTimes(1)
  pass(300)
  expect(stop).toHaveBeenCalled()
})

test('the wheel has one interval, and none without timers', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const wheel = new TimerWheel()
  let again = 3
  const timer: WheelTimer = new WheelTimer(() => {
    if (again-- > 0) wheel.arm(timer, 100)
  })
  wheel.arm(timer, 100)
  const intervals: number[] = []
  for (let i = 0; i < 10; i++) {
    now += 300
    wheel.advance()
    intervals.push(vi.getTimerCount())
  }
  expect([intervals[0], Math.max(...intervals), intervals.at(-1)]).toEqual([1, 1, 0])
})
