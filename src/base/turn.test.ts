import { afterEach, expect, test, vi } from 'vitest'
import { clock } from './clock.ts'
import { flushAll, flushLater, turnMonotonic, turnNow } from './turn.ts'

const endOfTurn = () => new Promise((resolve) => setImmediate(resolve))

afterEach(() => {
  flushAll()
  vi.restoreAllMocks()
})

test('what waits is flushed once, in order, at the end of the turn', async () => {
  const order: string[] = []
  flushLater({ flush: () => order.push('first') })
  flushLater({ flush: () => order.push('second') })
  await Promise.resolve()
  expect(order).toEqual([])
  await endOfTurn()
  await endOfTurn()
  expect(order).toEqual(['first', 'second'])
})

test('what begins to wait during a flush is flushed behind it', () => {
  const order: string[] = []
  const second = { flush: () => order.push('second') }
  flushLater({
    flush() {
      order.push('first')
      flushLater(second)
    },
  })
  flushLater({ flush: () => order.push('other') })
  flushAll()
  expect(order).toEqual(['first', 'other', 'second'])
})

test('one that throws holds up no other', async () => {
  const order: string[] = []
  flushLater({
    flush() {
      throw new Error('of one')
    },
  })
  flushLater({ flush: () => order.push('other') })
  expect(flushAll).toThrow('of one')
  await endOfTurn()
  expect(order).toEqual(['other'])
  flushLater({ flush: () => order.push('next turn') })
  await endOfTurn()
  expect(order).toEqual(['other', 'next turn'])
})

test('both clocks stand still within a turn', async () => {
  const monotonic = vi.spyOn(clock, 'monotonic').mockReturnValueOnce(1).mockReturnValueOnce(2)
  const now = vi.spyOn(clock, 'now').mockReturnValueOnce(1001).mockReturnValueOnce(1002)
  expect([turnMonotonic(), turnNow(), turnMonotonic()]).toEqual([1, 1001, 1])
  await endOfTurn()
  expect([turnNow(), turnMonotonic(), turnNow()]).toEqual([1002, 2, 1002])
  expect([monotonic.mock.calls.length, now.mock.calls.length]).toEqual([2, 2])
})
