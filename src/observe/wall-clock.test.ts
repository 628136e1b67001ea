import { afterEach, expect, test } from 'vitest'
import { clock } from '#base/clock.ts'
import { WallClock } from './wall-clock.ts'

const { now } = clock

afterEach(() => {
  clock.now = now
})

test('the time of a reading is as far from that of another as the readings are', () => {
  clock.now = () => 1_800_000_000_000
  const wall = new WallClock()
  expect([5, 5.4, 6.5, 104].map((ms) => wall.at(ms) - 1_800_000_000_000)).toEqual([0, 0, 1, 99])
})

test('the wall clock is read again after a tenth of a second, whichever way it was set', () => {
  let epochMs = 1000
  clock.now = () => epochMs
  const wall = new WallClock()
  expect(wall.at(0)).toBe(1000)
  epochMs = 500
  expect(wall.at(99)).toBe(1099)
  expect(wall.at(100)).toBe(500)
  expect(wall.at(150)).toBe(550)
})
