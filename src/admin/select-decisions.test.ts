import { expect, test } from 'vitest'
import { DecisionIds } from '#observe/decision-ids.ts'
import { type DecisionRecord, DecisionRing } from '#observe/decision-ring.ts'
import { keptDecision } from '#observe/testing.ts'
import { selectDecisions } from './select-decisions.ts'

const NOW = Date.parse('2026-01-31T12:00:00Z')

const ring = new DecisionRing('w1', new DecisionIds(), 1)
ring.keep(keptDecision())
const blank = ring.list()[0]!
const records: readonly DecisionRecord[] = [
  { ...blank, id: 'w1-3', time: NOW, route: 'default/a', code: 'rate-limited', status: 429, consumer: 'alice' },
  {
    ...blank,
    id: 'w1-2',
    time: NOW - 60_000,
    route: 'default/b',
    code: 'rate-limited',
    status: 429,
    backend: 'default/llm',
    requestModel: 'fast',
  },
  { ...blank, id: 'w1-1', time: NOW - 600_000, route: 'default/a', status: 200, responseModel: 'fast' },
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
  ['status=429', ['w1-3', 'w1-2']],
  ['status=4xx', ['w1-3', 'w1-2']],
  ['status=2xx', ['w1-1']],
  ['status=0', []],
  ['consumer=alice', ['w1-3']],
  ['model=fast', ['w1-2', 'w1-1']],
  ['backend=default/llm', ['w1-2']],
  ['since=5m', ['w1-3', 'w1-2']],
  ['since=2026-01-31T12:59:30%2B01:00', ['w1-3']],
  ['until=30s', ['w1-2', 'w1-1']],
  ['since=5m&until=30s', ['w1-2']],
  ['since=1m', ['w1-3', 'w1-2']],
  ['until=1m', ['w1-2', 'w1-1']],
]

for (const [query, ids] of selections) {
  test(`decisions?${query}`, () => {
    const selection = selectDecisions(records, new URLSearchParams(query), NOW)
    expect(selection.kind === 'records' && selection.records.map(({ id }) => id)).toEqual(ids)
  })
}

test('without a limit there are 100', () => {
  const many = Array.from({ length: 101 }, () => records[0]!)
  const selection = selectDecisions(many, new URLSearchParams())
  expect(selection.kind === 'records' && selection.records.length).toBe(100)
})

const TIMES = 'since and until must be times such as 2026-01-31T12:00:00Z, or durations before now such as 5m'

const refusals = [
  ['limit=0', 'limit must be a number from 1 to 999999'],
  ['limit=ten', 'limit must be a number from 1 to 999999'],
  ['code=no-such-code', 'unknown code'],
  ['code=toString', 'unknown code'],
  ['status=600', 'status must be a status, a class such as 4xx, or 0 (no response)'],
  ['route=llm', 'route must be the namespace and the name, such as default/llm'],
  ['backend=llm', 'backend must be the namespace and the name, such as default/llm'],
  ['code=rate-limit', 'unknown code; did you mean rate-limited?'],
  ['status=4XX', 'status must be a status, a class such as 4xx, or 0 (no response)'],
  ['since=yesterday', TIMES],
  ['until=2026-01-31', TIMES],
  ['colour=red', 'unknown parameter; use id, limit, since, until, status, code, route, backend, consumer, model'],
  ['limit=1&limit=2', 'limit is given more than once'],
  ['status=403&status=404', 'status is given more than once'],
] as const

for (const [query, message] of refusals) {
  test(`decisions?${query} is refused`, () => {
    expect(selectDecisions(records, new URLSearchParams(query))).toEqual({ kind: 'refused', message })
  })
}
