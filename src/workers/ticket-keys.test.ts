import { expect, test, vi } from 'vitest'
import { clock } from '#base/clock.ts'
import { TicketKeys } from './ticket-keys.ts'

test('new keys every twelve hours, until it is closed', () => {
  const waits: { ms: number; run: () => void; cancelled: boolean }[] = []
  vi.spyOn(clock, 'after').mockImplementation((ms, run) => {
    const wait = { ms, run, cancelled: false }
    waits.push(wait)
    return {
      cancel: () => {
        wait.cancelled = true
      },
    }
  })
  const told: Uint8Array[] = []
  const keys = new TicketKeys((next) => told.push(next))
  const seen = [keys.current]
  for (let change = 0; change < 3; change++) {
    waits.at(-1)!.run()
    seen.push(keys.current)
  }
  keys.close()
  expect(told).toEqual(seen.slice(1))
  expect(new Set(seen.map((key) => Buffer.from(key).toString('hex'))).size).toBe(4)
  expect(seen.every(({ length }) => length === 48)).toBe(true)
  expect(waits.map(({ ms, cancelled }) => [ms, cancelled])).toEqual([
    [43_200_000, false],
    [43_200_000, false],
    [43_200_000, false],
    [43_200_000, true],
  ])
})
