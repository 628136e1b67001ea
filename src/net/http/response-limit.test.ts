import { beforeEach, expect, test, vi } from 'vitest'
import { clock } from '#base/clock.ts'
import { TimerWheel } from '../timer-wheel.ts'
import { ResponseLimit } from './response-limit.ts'

let now = 1000

beforeEach(() => {
  now = 1000
  vi.spyOn(clock, 'monotonic').mockImplementation(() => now)
})

function setup(patient: boolean) {
  const wheel = new TimerWheel()
  const keeper = { arm: wheel.arm.bind(wheel), disarm: wheel.disarm.bind(wheel) }
  const request = { open: true, sentBytes: 0 }
  let expired = 0
  const limit = new ResponseLimit(keeper, request, () => expired++)
  limit.start(1000, patient)
  const pass = (ms: number) => {
    now += ms
    wheel.advance()
    return expired
  }
  return { limit, request, pass }
}

test('a strict limit counts from the beginning, whatever is sent', () => {
  const { limit, request, pass } = setup(false)
  request.sentBytes = 10
  expect(pass(900)).toBe(0)
  limit.requestSent()
  expect(pass(300)).toBe(1)
})

test('a progress limit is paused while the body makes progress', () => {
  const { limit, request, pass } = setup(true)
  for (let i = 1; i < 5; i++) {
    request.sentBytes += 10
    expect(pass(1200)).toBe(0)
  }
  request.open = false
  limit.requestSent()
  expect(pass(900)).toBe(0)
  expect(pass(300)).toBe(1)
})

test('a progress limit ends a body that is not read', () => {
  const { request, pass } = setup(true)
  request.sentBytes = 10
  expect(pass(1200)).toBe(0)
  expect(pass(1200)).toBe(1)
})

test('a patient limit begins again when the request has been sent', () => {
  const { limit, request, pass } = setup(true)
  expect(pass(900)).toBe(0)
  request.open = false
  limit.requestSent()
  expect(pass(900)).toBe(0)
  expect(pass(300)).toBe(1)
})

test('the progress of one request is not that of the next one', () => {
  const { limit, request, pass } = setup(true)
  request.sentBytes = 1
  expect(pass(1200)).toBe(0)
  limit.stop()
  limit.start(1000, true)
  expect(pass(1200)).toBe(0)
  expect(pass(1200)).toBe(1)
})

test('after the response nothing expires', () => {
  const { limit, pass } = setup(true)
  limit.stop()
  limit.requestSent()
  expect(pass(5000)).toBe(0)
})
