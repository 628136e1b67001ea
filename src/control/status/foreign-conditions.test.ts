import { expect, test } from 'vitest'
import { withForeignConditions } from './foreign-conditions.ts'

const OWN = { type: 'Programmed', status: 'True' }
const STALE = { type: 'Programmed', status: 'False' }
const THEIRS = { type: 'example.com/Audited', status: 'True' }

test('conditions of other controllers stay on an object and on its listeners, by name', () => {
  const status = {
    conditions: [OWN],
    listeners: [
      { name: 'new', conditions: [OWN] },
      { name: 'a', conditions: [OWN] },
      { name: 'b', conditions: [OWN] },
    ],
  }
  const stored = {
    conditions: [STALE, THEIRS],
    listeners: [
      { name: 'a', conditions: [THEIRS, STALE] },
      { name: 'b', conditions: [STALE] },
      { name: 'gone', conditions: [THEIRS] },
    ],
  }
  expect(withForeignConditions(status, stored)).toEqual({
    conditions: [OWN, THEIRS],
    listeners: [
      { name: 'new', conditions: [OWN] },
      { name: 'a', conditions: [OWN, THEIRS] },
      { name: 'b', conditions: [OWN] },
    ],
  })
})

test('as many stay as there is room for', () => {
  const theirs = Array.from({ length: 9 }, (_, i) => ({ type: `example.com/${i}`, status: 'True' }))
  const listener = { name: 'a', conditions: theirs }
  const kept = withForeignConditions(
    { conditions: [OWN], listeners: [{ name: 'a', conditions: [OWN] }] },
    { conditions: theirs, listeners: [listener] },
  )
  const expected = [OWN, ...theirs.slice(0, 7)]
  expect(kept).toEqual({ conditions: expected, listeners: [{ name: 'a', conditions: expected }] })
})

test.each([
  undefined,
  null,
  'x',
  { conditions: 1, listeners: 2 },
  { conditions: [null], listeners: [null, { name: 'a' }] },
])('a stored status %j has none', (stored) => {
  const status = { conditions: [OWN], listeners: [{ name: 'a', conditions: [OWN] }] }
  expect(withForeignConditions(status, stored)).toEqual(status)
})
