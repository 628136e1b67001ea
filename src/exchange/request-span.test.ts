import { expect, test } from 'vitest'
import { hexDigits, RequestSpan } from './request-span.ts'
import type { SpanSettings } from './span-settings.ts'

const TARGET = { signal: 'traces', backend: 'b', protocol: 'GRPC', path: '', resource: () => [], key: 'k' } as const
const SETTINGS: SpanSettings = { target: TARGET, remove: new Set() }
const sources = (random: () => number) => ({ now: () => 1_000_000, monotonic: () => 400, random })

test.each([
  ['the lowest', 0, '0000000000000001'],
  ['the highest', 1 - 2 ** -53, 'ffffffffffffffff'],
  ['one between', 0.5, '8000000080000000'],
])('random digits: %s', (_, value, digits) => {
  expect(hexDigits(16, () => value)).toBe(digits)
})

test('a new trace, and the children of its span', () => {
  const span = new RequestSpan(SETTINGS, sources(Math.random), undefined, '')
  expect([span.traceId, span.spanId]).toEqual([
    expect.stringMatching(/^[0-9a-f]{32}$/),
    expect.stringMatching(/^[0-9a-f]{16}$/),
  ])
  expect([span.parentId, span.aheadMs]).toEqual([undefined, 999_600])
  const ids = Array.from({ length: 1000 }, () => span.begin('guard').spanId)
  expect(new Set([...ids, span.spanId])).toHaveLength(1001)
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{16}$/)
  const child = span.begin(undefined)
  expect(child.header).toBe(`00-${span.traceId}-${child.spanId}-01`)
})

test('children have ids beyond the largest number, too', () => {
  const span = new RequestSpan(
    SETTINGS,
    sources(() => 1 - 2 ** -53),
    undefined,
    '',
  )
  expect([1, 2].map(() => span.begin(undefined).spanId)).toEqual(['ffffffffffffffff', 'ffffffff00000000'])
})
