import { beforeEach, expect, test, vi } from 'vitest'
import { clock } from '#base/clock.ts'
import { TimerWheel } from '../timer-wheel.ts'
import { type Waiting, WaitingLine, waitedTooLong } from './waiting-line.ts'

let now = 1000

beforeEach(() => {
  now = 1000
  vi.spyOn(clock, 'monotonic').mockImplementation(() => now)
})

function setup() {
  const wheel = new TimerWheel()
  const told: string[] = []
  const line = new WaitingLine<Waiting>({ wheel, timeoutMs: 1000, tooLate: () => waitedTooLong(1000) })
  const waiter = (name: string): Waiting => ({ failUnsent: ({ code }) => told.push(`${name} ${code}`) })
  const pass = (ms: number) => {
    now += ms
    wheel.advance()
  }
  return { line, told, waiter, pass }
}

test('the oldest waiter is served first; one that has left is skipped', () => {
  const { line, waiter } = setup()
  const [one, two, three] = ['one', 'two', 'three'].map(waiter)
  for (const each of [one, two, three]) line.add(each!)
  line.delete(one!)
  expect(line.size).toBe(2)
  expect([line.take(), line.take(), line.take()]).toEqual([two, three, undefined])
})

test('each waiter times out after the limit', () => {
  const { line, told, waiter, pass } = setup()
  line.add(waiter('one'))
  pass(600)
  line.add(waiter('two'))
  pass(350)
  expect(told).toEqual([])
  pass(300)
  expect(told).toEqual(['one wait-timeout'])
  pass(600)
  expect(told).toEqual(['one wait-timeout', 'two wait-timeout'])
  expect(line.size).toBe(0)
  pass(5000)
  line.add(waiter('three'))
  pass(900)
  expect(told).toHaveLength(2)
  pass(400)
  expect(told).toHaveLength(3)
})

test('a waiter that queues again when it times out waits for a new limit', () => {
  const { line, told, pass } = setup()
  const stubborn: Waiting = {
    failUnsent: ({ code }) => {
      told.push(code)
      if (told.length < 3) line.add(stubborn)
    },
  }
  line.add(stubborn)
  pass(1200)
  expect(told).toHaveLength(1)
  pass(1300)
  expect(told).toHaveLength(2)
})

test('a failed attempt to connect fails those that waited when it began, and no later ones', () => {
  const { line, told, waiter } = setup()
  const again: Waiting = {
    failUnsent: ({ code }) => {
      told.push(`again ${code}`)
      line.add(again)
    },
  }
  line.add(waiter('one'))
  line.add(again)
  const { lastArrival } = line
  const later = waiter('later')
  line.add(later)
  line.failUpTo(lastArrival, { code: 'connection-refused', detail: undefined })
  expect(told).toEqual(['one connection-refused', 'again connection-refused'])
  expect([line.take(), line.take(), line.take()]).toEqual([later, again, undefined])
})
