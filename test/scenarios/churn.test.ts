import { expect, test } from 'vitest'
import { runChurn } from '#test/support/churn.ts'

test('while endpoints come and go 20 times a second and certificates rotate, no request fails', async () => {
  const report = await runChurn(35)
  expect(report.failed).toEqual([])
  expect(report.leftInFlight).toBe(0)
  // The load and the changes were real.
  expect(report.answered).toBeGreaterThan(50)
  expect(report.reloads).toBeGreaterThan(10)
  expect(report.endpoints).toBeGreaterThan(10)
  expect(report.used).toBeGreaterThan(10)
  expect(report.serials.size).toBe(2)
})
