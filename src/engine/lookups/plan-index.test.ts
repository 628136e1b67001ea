import { expect, test } from 'vitest'
import type { PlanItem, WorkloadItem } from '#plan/item.ts'
import { listenerItem, policyItem, routeItem } from '../testing.ts'
import { PlanIndex } from './plan-index.ts'

const origin = { kind: 'Pod', namespace: 'default', name: 'p' }

function pod(name: string, ...addresses: readonly string[]): WorkloadItem {
  return {
    kind: 'workload',
    key: `Workload/default/${name}`,
    namespace: 'default',
    name,
    serviceAccount: 'a',
    addresses,
    origin,
  }
}

const LISTENER = listenerItem()
const ROUTE = routeItem('r')
const POLICY = policyItem('traffic.cors', 'Gateway/default/main', {})
const SECRET: PlanItem = {
  kind: 'secret',
  key: 'Secret/default/s',
  namespace: 'default',
  name: 's',
  labels: {},
  data: {},
  origin,
}
const ALL = [LISTENER, ROUTE, POLICY, SECRET, pod('p', '10.0.0.1')]

const shown = (index: PlanIndex) => ({
  listeners: index.listeners.length,
  routes: index.routesAt(LISTENER.key).length,
  policies: index.policiesAt('Gateway/default/main').length,
  secrets: index.secretsIn('default').length,
  pod: index.workloadAt('10.0.0.1')?.name,
})
const FULL = { listeners: 1, routes: 1, policies: 1, secrets: 1, pod: 'p' }
const EMPTY = { listeners: 0, routes: 0, policies: 0, secrets: 0, pod: undefined }

test('a removed item is missing from the next version only', () => {
  const before = PlanIndex.EMPTY.after({ set: ALL, removed: [] })
  expect(shown(before)).toEqual(FULL)
  expect(shown(before.after({ set: ALL.map((item) => ({ ...item })), removed: [] }))).toEqual(FULL)
  const after = before.after({ set: [], removed: ALL.map(({ key }) => key) })
  expect([shown(before), shown(after)]).toEqual([FULL, EMPTY])
})

test('unchanged groups are the same arrays', () => {
  const before = PlanIndex.EMPTY.after({ set: ALL, removed: [] })
  const after = before.after({ set: [pod('q', '10.0.0.2')], removed: [] })
  expect(after.listeners).toBe(before.listeners)
  expect(after.routesAt(LISTENER.key)).toBe(before.routesAt(LISTENER.key))
  expect(after.policiesAt('Gateway/default/main')).toBe(before.policiesAt('Gateway/default/main'))
})

test.each([[['a', 'b']], [['b', 'a']]])('an address moves from one Pod to another, in either order: %j', (order) => {
  const before = PlanIndex.EMPTY.after({ set: [pod('a', '10.0.0.1'), pod('b', '10.0.0.2')], removed: [] })
  const moved = { a: pod('a', '10.0.0.3'), b: pod('b', '10.0.0.1') }
  const after = before.after({ set: order.map((name) => moved[name as 'a' | 'b']), removed: [] })
  const names = ['10.0.0.1', '10.0.0.2', '10.0.0.3'].map((address) => after.workloadAt(address)?.name)
  expect(names).toEqual(['b', undefined, 'a'])
})
