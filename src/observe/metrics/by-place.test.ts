import { expect, test } from 'vitest'
import { PEER, PLACE } from '../testing.ts'
import { ByPlace } from './by-place.ts'

const at = (localAddress: string, localPort: number, names = PLACE) => ({
  names,
  peer: { ...PEER, localAddress, localPort },
})

test('what is kept belongs to a place and a bind', () => {
  const kept = new ByPlace(() => ({}))
  const first = kept.of(at('127.0.0.1', 80))
  expect(kept.of(at('127.0.0.1', 80))).toBe(first)
  expect(kept.of(at('127.0.0.2', 80))).not.toBe(first)
  expect(kept.of(at('127.0.0.1', 81))).not.toBe(first)
  expect(kept.of(at('127.0.0.1', 80, { ...PLACE }))).not.toBe(first)
  expect(kept.of({ names: undefined, peer: PEER })).toBe(kept.of({ names: undefined, peer: PEER }))
})

test('of a place with more binds than 64, the first 64 are kept', () => {
  const kept = new ByPlace(() => ({}))
  const all = Array.from({ length: 65 }, (_, port) => kept.of(at('127.0.0.1', port)))
  expect(kept.of(at('127.0.0.1', 0))).toBe(all[0])
  expect(kept.of(at('127.0.0.1', 63))).toBe(all[63])
  expect(kept.of(at('127.0.0.1', 64))).not.toBe(all[64])
})
