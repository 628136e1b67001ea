import { expect, test } from 'vitest'
import { SessionLoad } from './session-load.ts'

test.each([
  ['request', 1000],
  ['stream', 64],
] as const)('a session has at most so many open at a time: %s, %i', (kind, bound) => {
  const load = new SessionLoad()
  const ends = Array.from({ length: bound }, () => load.begin(kind, 's'))
  expect(ends.includes(undefined)).toBe(false)
  expect(load.begin(kind, 's')).toBeUndefined()
  expect(load.begin(kind, 'other')).toBeDefined()
  expect(load.begin(kind === 'request' ? 'stream' : 'request', 's')).toBeDefined()
  ends[0]!()
  expect(load.begin(kind, 's')).toBeDefined()
  expect(load.begin(kind, 's')).toBeUndefined()
  for (const end of ends.slice(1)) end!()
  expect(load.begin(kind, 's')).toBeDefined()
})
