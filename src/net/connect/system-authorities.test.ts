import tls from 'node:tls'
import { expect, test, vi } from 'vitest'

test.each([
  [['a', 'b', 'a'], [['a', 'b']]],
  [[], []],
])('of the certificates %j of the system, the default becomes %j', async (system, expected) => {
  vi.spyOn(tls, 'getCACertificates').mockReturnValue(system)
  const set: unknown[] = []
  vi.spyOn(tls, 'setDefaultCACertificates').mockImplementation((certificates) => void set.push(certificates))
  // Each thread does it once.
  vi.resetModules()
  const { applySystemAuthorities } = await import('./system-authorities.ts')
  applySystemAuthorities()
  applySystemAuthorities()
  expect(set).toEqual(expected)
})
