import { expect, test } from 'vitest'
import { DecisionIds } from '#observe/decision-ids.ts'
import { type DecisionRecord, DecisionRing } from '#observe/decision-ring.ts'
import { keptDecision } from '#observe/testing.ts'
import { selectDecisions } from './select-decisions.ts'

const ring = new DecisionRing('w1', new DecisionIds(), 1)
ring.keep(keptDecision())
const blank = ring.list()[0]!
const records: readonly DecisionRecord[] = [
  { ...blank, id: 'w1-3', route: 'default/a', code: 'rate-limited' },
  { ...blank, id: 'w1-2', route: 'default/b', code: 'rate-limited' },
  { ...blank, id: 'w1-1', route: 'default/a' },
]

const selections: readonly (readonly [query: string, ids: readonly string[]])[] = [
  ['', ['w1-3', 'w1-2', 'w1-1']],
  ['limit=2', ['w1-3', 'w1-2']],
  ['code=rate-limited', ['w1-3', 'w1-2']],
  ['route=default/a', ['w1-3', 'w1-1']],
  ['route=default/a&code=rate-limited&limit=5', ['w1-3']],
  ['route=default/c', []],
  ['id=w1-2', ['w1-2']],
  ['id=w1-9', []],
]

for (const [query, ids] of selections) {
  test(`decisions?${query}`, () => {
    const selection = selectDecisions(records, new URLSearchParams(query))
    expect(selection.kind === 'records' && selection.records.map(({ id }) => id)).toEqual(ids)
  })
}

test('without a limit there are 100', () => {
  const many = Array.from({ length: 101 }, () => records[0]!)
  const selection = selectDecisions(many, new URLSearchParams())
  expect(selection.kind === 'records' && selection.records.length).toBe(100)
})

const refusals = [
  ['limit=0', 'limit must be a number from 1 to 999999'],
  ['limit=ten', 'limit must be a number from 1 to 999999'],
  ['code=no-such-code', 'unknown code'],
  ['status=200', 'unknown parameter; use id, limit, code, route'],
] as const

for (const [query, message] of refusals) {
  test(`decisions?${query} is refused`, () => {
    expect(selectDecisions(records, new URLSearchParams(query))).toEqual({ kind: 'refused', message })
  })
}
