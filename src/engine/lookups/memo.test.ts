import { expect, test } from 'vitest'
import type { PlanItem, SecretItem } from '#plan/item.ts'
import { backendItem, indexOf, policyItem, routeItem } from '../testing.ts'
import { type Lookups, RecordedLookups } from './lookups.ts'
import { Memo } from './memo.ts'
import { PlanIndex } from './plan-index.ts'

const GATEWAY = 'Gateway/default/main'
const ROUTE = 'HTTPRoute/default/r'

function secretItem(namespace: string, name: string, value = ''): SecretItem {
  return {
    kind: 'secret',
    key: `Secret/${namespace}/${name}`,
    namespace,
    name,
    labels: {},
    data: { value },
    origin: { kind: 'Secret', namespace, name },
  }
}

const BEFORE = [
  policyItem('traffic.cors', GATEWAY, {}),
  policyItem('traffic.cors', ROUTE, {}),
  backendItem('b'),
  secretItem('default', 's'),
  secretItem('other', 's'),
]

/** The next version of the plan: items replace those with the same key, and the removed ones disappear. */
function next(before: PlanIndex, change: readonly PlanItem[], removed: readonly string[] = []): PlanIndex {
  return before.after({ set: change, removed })
}

/** Makes the lookups of a merge and of a compilation. */
function lookUp(lookups: Lookups): void {
  lookups.policiesAt(GATEWAY)
  lookups.policiesAt('HTTPRoute/default/none')
  lookups.item('ProxyBackend/default/b')
  lookups.item('ProxyBackend/default/missing')
  lookups.secretsIn('default')
}

const again = (item: PlanItem): PlanItem => ({ ...item })

test.each<[what: string, change: readonly PlanItem[], removed: readonly string[], holds: boolean]>([
  ['nothing changed', [], [], true],
  ['an unrelated policy changed', [again(BEFORE[1]!)], [], true],
  ['an unrelated policy is removed', [], [BEFORE[1]!.key], true],
  ['an unrelated policy is added', [policyItem('traffic.csrf', ROUTE, {})], [], true],
  ['a route is added', [routeItem('new')], [], true],
  ['a Secret of another namespace changed', [again(BEFORE[4]!)], [], true],
  ['another backend is added', [backendItem('c')], [], true],
  ['an input policy changed', [again(BEFORE[0]!)], [], false],
  ['an input policy is removed', [], [BEFORE[0]!.key], false],
  ['a policy is added to the target of an input policy', [policyItem('traffic.csrf', GATEWAY, {})], [], false],
  [
    'a policy is added to a target that had none',
    [policyItem('traffic.cors', 'HTTPRoute/default/none', {})],
    [],
    false,
  ],
  ['the backend changed', [again(BEFORE[2]!)], [], false],
  ['the backend is removed', [], [BEFORE[2]!.key], false],
  ['the missing backend appears', [backendItem('missing')], [], false],
  ['a Secret of the namespace changed', [again(BEFORE[3]!)], [], false],
  ['a Secret of the namespace is added', [secretItem('default', 't')], [], false],
])('%s: kept %4$s', (_, change, removed, holds) => {
  const before = indexOf(...BEFORE)
  const lookups = new RecordedLookups(before)
  lookUp(lookups)
  expect(lookups.areValidFor(next(before, change, removed))).toBe(holds)
})

test('a Lookups without recorded lookups is valid for every plan', () => {
  expect(new RecordedLookups(PlanIndex.EMPTY).areValidFor(indexOf(...BEFORE))).toBe(true)
})

test('a repeated lookup returns the recorded result', () => {
  const lookups = new RecordedLookups(indexOf(...BEFORE))
  expect(lookups.policiesAt(GATEWAY)).toBe(lookups.policiesAt(GATEWAY))
  expect(lookups.item('ProxyBackend/default/b')).toBe(BEFORE[2])
})

function countingMemo(): { readonly memo: Memo<object>; readonly built: PlanIndex[] } {
  const built: PlanIndex[] = []
  const memo = new Memo((lookups) => {
    const policies = lookups.policiesAt(GATEWAY)
    built.push({} as PlanIndex)
    return { policies }
  })
  return { memo, built }
}

test('a memo is built on first use, kept while its inputs are unchanged, and rebuilt after one of them changed', () => {
  const { memo, built } = countingMemo()
  const first = indexOf(...BEFORE)
  expect(built).toHaveLength(0)
  const value = memo.get(first)
  expect(memo.get(first)).toBe(value)
  const second = next(first, [again(BEFORE[1]!)])
  expect(memo.get(second)).toBe(value)
  const third = next(second, [again(BEFORE[0]!)])
  expect(memo.get(third)).not.toBe(value)
  expect(built).toHaveLength(2)
})

test('a memo that was not read for several versions compares with the version that it was built from', () => {
  const { memo, built } = countingMemo()
  const first = indexOf(...BEFORE)
  const value = memo.get(first)
  const without = next(first, [], [BEFORE[0]!.key])
  const back = next(without, [BEFORE[0]!])
  // The policy is the same object again, but its group is a new array, so one more build is acceptable.
  expect(memo.get(back)).toEqual(value)
  expect(built.length).toBeLessThanOrEqual(2)
})

test('a memo may hold undefined', () => {
  let built = 0
  const memo = new Memo(() => {
    built++
    return undefined
  })
  const index = PlanIndex.EMPTY
  expect([memo.get(index), memo.get(index), memo.get(index.after({ set: [], removed: [] }))]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
  expect(built).toBe(1)
})

test('groups that did not change are the same arrays in the next version', () => {
  const before = indexOf(...BEFORE)
  const after = next(before, [again(BEFORE[1]!)])
  expect(after.policiesAt(GATEWAY)).toBe(before.policiesAt(GATEWAY))
  expect(after.policiesAt(ROUTE)).not.toBe(before.policiesAt(ROUTE))
  expect(after.policiesAt('nowhere')).toBe(before.policiesAt('nowhere'))
  expect(after.secretsIn('default')).toBe(before.secretsIn('default'))
})

test('items are found by kind', () => {
  const endpoints: PlanItem = {
    kind: 'endpoints',
    key: 'Endpoints/default/s/80',
    addresses: [],
    origin: { kind: 'Service', namespace: 'default', name: 's' },
  }
  const index = indexOf(...BEFORE, endpoints)
  expect(index.backend('ProxyBackend/default/b')).toBe(BEFORE[2])
  expect(index.backend(endpoints.key)).toBeUndefined()
  expect(index.endpoints(endpoints.key)).toBe(endpoints)
  expect(index.endpoints('ProxyBackend/default/b')).toBeUndefined()
})

test('a build that throws is repeated, and the value before is not used', () => {
  const before = indexOf(...BEFORE)
  const memo = new Memo((lookups) => {
    const { length } = lookups.policiesAt(GATEWAY)
    if (length > 1) throw new RangeError('a bug')
    return length
  })
  expect(memo.get(before)).toBe(1)
  const after = next(before, [policyItem('traffic.csrf', GATEWAY, {})])
  expect(() => memo.get(after)).toThrow(RangeError)
  expect(() => memo.get(after)).toThrow(RangeError)
  expect(() => memo.get(next(after, [routeItem('new')]))).toThrow(RangeError)
  expect(memo.get(before)).toBe(1)
})
