import { expect, test, vi } from 'vitest'
import type { InFlight } from './in-flight.ts'
import { interrupt } from './receive.ts'

test('a request that has ended is not interrupted', () => {
  const stopWaiting = vi.fn()
  interrupt({ ended: true, responded: false, stopWaiting } as unknown as InFlight, new Error('late'))
  expect(stopWaiting).not.toHaveBeenCalled()
})
