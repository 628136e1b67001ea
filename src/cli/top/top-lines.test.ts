import { expect, test } from 'vitest'
import { type TerminalSize, topLines, waitingLines } from './top-lines.ts'
import type { RateRow, TrafficRates } from './traffic-rates.ts'

const row = (name: string, values: Partial<RateRow> = {}): RateRow => ({
  name,
  perSecond: 0,
  errorRatio: 0,
  clientErrorRatio: 0,
  p50Ms: undefined,
  p99Ms: undefined,
  ...values,
})
const rates: TrafficRates = {
  time: '2026-01-31T12:30:15.123Z',
  seconds: 2,
  inFlight: 3,
  routes: [
    row('default/shop', { perSecond: 1234.5, errorRatio: 0.004, clientErrorRatio: 0.25, p50Ms: 2.34, p99Ms: 1520 }),
    row('', { perSecond: 0.5, clientErrorRatio: 1, p50Ms: 0.5, p99Ms: 12 }),
  ],
  backends: [row('default/web', { perSecond: 1000, p50Ms: 2, p99Ms: 900 })],
}
const text = (size: TerminalSize | undefined, of = rates) =>
  topLines(of, size).map((line) =>
    line
      .map((part) => part.text)
      .join(' ')
      .trimEnd(),
  )

test('without a terminal, everything is shown', () => {
  expect(text(undefined)).toEqual([
    '12:30:15  1235 req/s, 3 in flight',
    'ROUTE                                                      req/s      4xx      5xx      p50      p99',
    'default/shop                                                1235      25%      <1%   2.3 ms    1.5 s',
    '(none)                                                       0.5     100%        -   0.5 ms    12 ms',
    'BACKEND                                                    req/s      4xx      5xx      p50      p99',
    'default/web                                                 1000        -        -   2.0 ms   900 ms',
  ])
})

test('a small terminal shows fewer columns and rows, and never a longer line', () => {
  expect(text({ columns: 32, rows: 4 })).toEqual([
    '12:30:15  1235 req/s, 3 in flig…',
    'ROUTE             req/s      4xx',
    'BACKEND           req/s      4xx',
  ])
  expect(text({ columns: 32, rows: 6 })).toEqual([
    '12:30:15  1235 req/s, 3 in flig…',
    'ROUTE             req/s      4xx',
    'default/shop       1235      25%',
    'BACKEND           req/s      4xx',
    'default/web        1000        -',
  ])
})

test('routes get the room that backends do not need', () => {
  const routes = Array.from({ length: 9 }, (_, i) => row(`default/route-${i}`))
  const shown = text({ columns: 80, rows: 10 }, { ...rates, routes })
  expect(shown.filter((line) => line.startsWith('default/route-'))).toHaveLength(5)
  expect(shown.at(-1)).toMatch(/^default\/web /)
})

test('while the gateway does not respond, one line says so', () => {
  const texts = (columns: number) => waitingLines('no gateway responds', { columns, rows: 9 }).flat()
  expect(texts(80)).toEqual([{ text: 'no gateway responds', style: 'red' }])
  expect(texts(10)).toEqual([{ text: 'no gatewa…', style: 'red' }])
})

const many = { ...rates, routes: Array.from({ length: 50 }, (_, i) => row(`default/route-${i}`)) }

for (const columns of [0, 1, 2, 5, 13, 21, 80, 300]) {
  for (const rows of [0, 1, 2, 5, 24]) {
    test(`${columns} columns and ${rows} rows are enough`, () => {
      const lines = text({ columns, rows }, many)
      expect(lines.length).toBeLessThanOrEqual(Math.max(1, rows - 1))
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(Math.max(1, columns))
    })
  }
}
