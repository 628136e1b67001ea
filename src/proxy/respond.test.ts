import { expect, test, vi } from 'vitest'
import type { InFlight } from './in-flight.ts'
import { fail } from './respond.ts'

test('a bug after the head of the response is reported, and resets the response', () => {
  const [bug, abort] = [vi.fn(), vi.fn()]
  const error = new Error('broken')
  const flight = { context: { observer: { bug } }, decisionId: 'd', responded: true, stream: { abort } }
  fail(flight as unknown as InFlight, error)
  expect(bug).toHaveBeenCalledWith('d', error)
  expect(abort).toHaveBeenCalledOnce()
})
