import fc from 'fast-check'
import { expect, test } from 'vitest'
import { applyDelta, diffPlans } from './delta.ts'
import type { PlanItem } from './item.ts'

function item(key: string, value = ''): PlanItem {
  return {
    kind: 'secret',
    key,
    namespace: 'default',
    name: key,
    labels: {},
    data: { value },
    origin: { kind: 'Secret', namespace: 'default', name: key },
  }
}

const planOf = (...items: readonly PlanItem[]) => new Map(items.map((each) => [each.key, each]))

test('nothing changed: no delta', () => {
  expect(diffPlans(new Map(), new Map(), 1)).toBeUndefined()
  expect(diffPlans(planOf(item('a')), planOf(item('a')), 1)).toBeUndefined()
})

test('what is new, what changed, what is gone', () => {
  const before = planOf(item('kept'), item('changed', '1'), item('gone'))
  const after = planOf(item('kept'), item('changed', '2'), item('new'))
  expect(diffPlans(before, after, 7)).toEqual({
    version: 7,
    set: [item('changed', '2'), item('new')],
    removed: ['gone'],
  })
})

test('items that did not change stay the very same objects', () => {
  const kept = item('kept')
  const before = planOf(kept, item('gone'))
  const after = applyDelta(before, { version: 2, set: [item('new')], removed: ['gone'] })
  expect([...after.keys()]).toEqual(['kept', 'new'])
  expect(after.get('kept')).toBe(kept)
  expect(before.has('gone'), 'the plan before stays as it was').toBe(true)
})

test('the delta of two plans, applied to the first, gives the second, also through JSON', () => {
  const anyPlan = fc
    .uniqueArray(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.constantFrom('1', '2')), {
      selector: ([key]) => key,
    })
    .map((pairs) => planOf(...pairs.map(([key, value]) => item(key, value))))
  fc.assert(
    fc.property(anyPlan, anyPlan, (before, after) => {
      const delta = diffPlans(before, after, 1)
      const applied = delta === undefined ? before : applyDelta(before, JSON.parse(JSON.stringify(delta)))
      expect(new Map([...applied].sort())).toEqual(new Map([...after].sort()))
    }),
  )
})
