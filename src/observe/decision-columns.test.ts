import { expect, test } from 'vitest'
import { NO_PLAN_NAMES } from '#exchange/exchange.ts'
import type { KeptDecision } from './decision.ts'
import { DecisionColumns } from './decision-columns.ts'
import type { PassedPolicies } from './passage.ts'
import { keptDecision } from './testing.ts'

/** A phase with that many policies, the last of which has not ended. */
function phase(count: number, firstMs: number): PassedPolicies {
  const policies = Array.from(
    { length: count },
    (_, i) => ({ stage: 'post-routing', field: `${i}`, sources: [] }) as const,
  )
  const timesMs = [...policies.map((_, i) => firstMs + i), Number.NaN]
  return { policies, reached: count - 1, timesMs }
}

/** Each member has a value that no other one has. */
const FULL = keptDecision({
  number: 2 ** 40 + 1,
  timeMs: 1_700_000_000_000.5,
  method: 'GET',
  authority: 'shop.test',
  target: '/a?b=c',
  redactedParameters: ['b'],
  clientAddress: '192.0.2.1',
  clientPort: 40_001,
  names: { ...NO_PLAN_NAMES, gateway: 'default/edge' },
  endpoint: '10.0.0.1:80',
  section: 'primary',
  consumer: 'ana',
  status: 204,
  reason: 'Upstream',
  startMonotonicMs: 1000.125,
  durationMs: 3.25,
  sentMs: 1.5,
  answeredMs: 2.5,
  code: 'a-code',
})

test.each<[what: string, passed: KeptDecision['passed'], read: KeptDecision['passed']]>([
  ['no phase', [], [undefined, undefined, undefined]],
  ['one of the phases', [undefined, phase(2, 5), undefined], [undefined, phase(2, 5), undefined]],
  [
    'all phases, as many times as fit',
    [phase(7, 1), phase(7, 20), phase(7, 40)],
    [phase(7, 1), phase(7, 20), phase(7, 40)],
  ],
  ['more times than fit', [phase(7, 1), phase(7, 20), phase(8, 40)], [phase(7, 1), phase(7, 20), phase(8, 40)]],
  ['a phase with more times than fit', [phase(40, 1), undefined, undefined], [phase(40, 1), undefined, undefined]],
])('a decision is read as it was written: %s', (_, passed, read) => {
  const columns = new DecisionColumns(3)
  columns.write(1, { ...FULL, passed })
  expect(columns.read(1)).toEqual({ ...FULL, passed: read })
})

test('decisions beside each other are separate', () => {
  const columns = new DecisionColumns(3)
  const all = [1, 2, 3].map((n) => ({ ...FULL, number: n, sentMs: n, passed: [phase(7, n), phase(7, n), phase(7, n)] }))
  for (const slot of [0, 2, 1]) columns.write(slot, all[slot]!)
  expect([0, 1, 2].map((slot) => columns.read(slot))).toEqual(all)
})

test('nothing remains of an earlier decision', () => {
  const columns = new DecisionColumns(1)
  columns.write(0, { ...FULL, passed: [phase(40, 1), phase(2, 3), phase(2, 5)] })
  const plain = keptDecision()
  columns.write(0, plain)
  expect(columns.read(0)).toEqual({ ...plain, passed: [undefined, undefined, undefined] })
})
