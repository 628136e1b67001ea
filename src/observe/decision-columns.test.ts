import { expect, test } from 'vitest'
import { NO_PLAN_NAMES } from '#exchange/exchange.ts'
import { DecisionColumns } from './decision-columns.ts'
import { NOTHING_PASSED, type Passed, type PassedPhase } from './passage.ts'
import { keptDecision } from './testing.ts'

/** A phase with that many policies, the last of which has not ended. */
function phase(count: number, firstMs: number): PassedPhase {
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

function passed(preProgress: PassedPhase, postProgress: PassedPhase, backendProgress: PassedPhase): Passed {
  return { preProgress, postProgress, backendProgress }
}

test.each<[what: string, passed: Passed]>([
  ['no phase', NOTHING_PASSED],
  ['one of the phases', { ...NOTHING_PASSED, postProgress: phase(2, 5) }],
  ['all phases, as many times as fit', passed(phase(7, 1), phase(7, 20), phase(7, 40))],
  ['more times than fit', passed(phase(7, 1), phase(7, 20), phase(8, 40))],
  ['a phase with more times than fit', { ...NOTHING_PASSED, preProgress: phase(40, 1) }],
])('a decision is read as it was written: %s', (_, phases) => {
  const columns = new DecisionColumns(3)
  columns.write(1, { ...FULL, passed: phases })
  expect(columns.read(1)).toEqual({ ...FULL, passed: phases })
})

test('of a passage only its phases are kept', () => {
  const columns = new DecisionColumns(1)
  const passage = { ...passed(phase(40, 1), phase(2, 3), phase(2, 5)), listener: undefined }
  columns.write(0, { ...FULL, passed: passage })
  expect(Object.keys(columns.read(0).passed)).toEqual(['preProgress', 'postProgress', 'backendProgress'])
})

test('decisions beside each other are separate', () => {
  const columns = new DecisionColumns(3)
  const all = [1, 2, 3].map((n) => ({
    ...FULL,
    number: n,
    sentMs: n,
    passed: passed(phase(7, n), phase(7, n), phase(7, n)),
  }))
  for (const slot of [0, 2, 1]) columns.write(slot, all[slot]!)
  expect([0, 1, 2].map((slot) => columns.read(slot))).toEqual(all)
})

test('nothing remains of an earlier decision', () => {
  const columns = new DecisionColumns(1)
  columns.write(0, { ...FULL, passed: passed(phase(40, 1), phase(2, 3), phase(2, 5)) })
  const plain = keptDecision()
  columns.write(0, plain)
  expect(columns.read(0)).toEqual(plain)
})
