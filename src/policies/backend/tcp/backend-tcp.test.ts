import { expect } from 'vitest'
import { verifies } from '#test/support/verifies.ts'
import { contextWith, sourceOf, specFrom } from '../../shared/testing.ts'
import { tcp } from './index.ts'
import { backendTcp } from './schema.ts'

const keepaliveOf = (written: object) => tcp.compile([sourceOf(specFrom(backendTcp, written))], contextWith()).keepalive

const DEFAULTS = { retries: 9, timeMs: 180_000, intervalMs: 180_000 }

verifies('backend.tcp/keepalive-defaults', 'each field of keepalive has its default', () => {
  expect(keepaliveOf({})).toEqual(DEFAULTS)
  expect(keepaliveOf({ keepalive: {} })).toEqual(DEFAULTS)
  expect(keepaliveOf({ keepalive: { retries: 1 } })).toEqual({ ...DEFAULTS, retries: 1 })
  expect(keepaliveOf({ keepalive: { time: '1s' } })).toEqual({ ...DEFAULTS, timeMs: 1000 })
  expect(keepaliveOf({ keepalive: { interval: '2s' } })).toEqual({ ...DEFAULTS, intervalMs: 2000 })
})
