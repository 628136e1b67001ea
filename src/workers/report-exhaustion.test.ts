import { afterEach, expect, test, vi } from 'vitest'
import { clock } from '#base/clock.ts'
import { exhaustionReporter } from './report-exhaustion.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

test('of many failures, one per minute is logged', () => {
  const now = vi.spyOn(clock, 'monotonic').mockReturnValue(0)
  const logged: unknown[] = []
  const report = exhaustionReporter((...[, , , { cause }]) => logged.push(cause))
  for (const ms of [0, 1, 59_000, 61_000, 62_000]) {
    now.mockReturnValue(ms)
    report(`connect EMFILE ${ms}`)
  }
  expect(logged).toEqual(['connect EMFILE 0', 'connect EMFILE 61000'])
})
