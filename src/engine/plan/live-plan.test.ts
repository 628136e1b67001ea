import { expect, test } from 'vitest'
import type { ListenerItem, PlanItem } from '#plan/item.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import type { LiveRequestListener } from '../route/live-listener.ts'
import {
  backendItem,
  changeTo,
  listenerItem,
  matchOf,
  planOf,
  policyItem,
  routeItem,
  stateOf,
  toBackend,
} from '../testing.ts'
import { LivePlan } from './live-plan.ts'

const GATEWAY = 'Gateway/default/main'
const ROUTE = 'HTTPRoute/default/r'

const LISTENER = listenerItem()
const R = routeItem('r', { backends: toBackend('b') })
const S = routeItem('s', { matches: [matchOf('prefix /s')], backends: toBackend('b') })
const B = backendItem('b')
const CORS = policyItem('traffic.cors', ROUTE, { allowOrigins: ['*'] })

/** Replaces the items of the plan. */
function change(plan: LivePlan, ...items: readonly PlanItem[]): void {
  plan.update(changeTo(plan.index, planOf(...items)))
}

function planWith(...items: readonly PlanItem[]): LivePlan {
  const plan = new LivePlan(stateOf())
  change(plan, ...items)
  return plan
}

function listenerOf(plan: LivePlan, name = 'http'): LiveRequestListener {
  const all = [...plan.sockets.values()].flatMap(({ hosts }) => [...hosts.values()])
  return all.find(({ item }) => item.name === name)!
}

function ruleOf(plan: LivePlan, route: string) {
  const { routes, attached } = listenerOf(plan)
  return routes.ruleOf(attached.find((each) => each.route.route.name === route)!.route)
}

test('an update with the same items keeps every listener and rule with everything memoised in them', () => {
  const plan = planWith(LISTENER, R, S, B, CORS)
  const { index } = plan
  const listener = listenerOf(plan)
  const rule = ruleOf(plan, 'r')
  const made = [rule.postRouting.get(index), rule.backends[0]!.backend.get(index), listener.frontend.get(index)]
  change(plan, LISTENER, R, S, B, CORS)
  expect(listenerOf(plan)).toBe(listener)
  const now = plan.index
  expect(now).not.toBe(index)
  expect([rule.postRouting.get(now), rule.backends[0]!.backend.get(now), listener.frontend.get(now)]).toEqual(made)
  expect(rule.postRouting.get(now)).toBe(made[0])
  expect(rule.backends[0]!.backend.get(now)).toBe(made[1])
})

test('only a changed rule is built again', () => {
  const plan = planWith(LISTENER, R, S, B)
  const [r, s] = [ruleOf(plan, 'r'), ruleOf(plan, 's')]
  change(plan, LISTENER, { ...R }, S, B)
  expect(ruleOf(plan, 'r')).not.toBe(r)
  expect(ruleOf(plan, 's')).toBe(s)
})

test('a chain is rebuilt only for a change of its own policies', () => {
  const plan = planWith(LISTENER, R, S, B, CORS)
  const [r, s] = [ruleOf(plan, 'r'), ruleOf(plan, 's')]
  const [before, beforeS] = [r.postRouting.get(plan.index), s.postRouting.get(plan.index)]
  change(plan, LISTENER, R, S, B, { ...CORS })
  expect([ruleOf(plan, 'r'), ruleOf(plan, 's')]).toEqual([r, s])
  expect(r.postRouting.get(plan.index)).not.toBe(before)
  expect(s.postRouting.get(plan.index)).toBe(beforeS)
})

test('a policy of the Gateway applies to every rule until it is removed', () => {
  const plan = planWith(LISTENER, R, S, B)
  const fields = (route: string) =>
    ruleOf(plan, route)
      .postRouting.get(plan.index)
      .links.map(({ merged }) => merged.field)
  expect([fields('r'), fields('s')]).toEqual([[], []])
  change(plan, LISTENER, R, S, B, policyItem('traffic.csrf', GATEWAY, {}), CORS)
  expect([fields('r'), fields('s')]).toEqual([['cors', 'csrf'], ['csrf']])
  change(plan, LISTENER, R, S, B)
  expect([fields('r'), fields('s')]).toEqual([[], []])
})

test('links are in execution order, regardless of the order of the items', () => {
  const policies = (['directResponse', 'transformation', 'csrf', 'cors'] as const).map((field) =>
    policyItem(`traffic.${field}`, ROUTE, field === 'directResponse' ? { status: 200 } : {}),
  )
  const plan = planWith(...policies, B, R, LISTENER)
  expect(
    ruleOf(plan, 'r')
      .postRouting.get(plan.index)
      .links.map(({ merged }) => merged.field),
  ).toEqual(['cors', 'transformation', 'csrf', 'directResponse'])
})

test('a backend that appears is found by the rules that refer to it', () => {
  const plan = planWith(LISTENER, R)
  const [reference] = ruleOf(plan, 'r').backends
  expect(reference!.backend.get(plan.index)).toBeUndefined()
  change(plan, LISTENER, R, B)
  expect(reference!.backend.get(plan.index)?.item).toBe(B)
  change(plan, LISTENER, R)
  expect(reference!.backend.get(plan.index)).toBeUndefined()
})

test('a changed listener is built again, with its rules', () => {
  const plan = planWith(LISTENER, R, B)
  const rule = ruleOf(plan, 'r')
  change(plan, { ...LISTENER, hostname: 'a.test' }, R, B)
  expect(ruleOf(plan, 'r')).not.toBe(rule)
})

test('a removed route is not served any more', () => {
  const plan = planWith(LISTENER, R, S, B)
  const find = (target: string) =>
    listenerOf(plan).routes.find('h', exchangeWith({ target }).request, { matched: target, query: '' })?.rule.item
  expect(find('/s')).toBe(S)
  change(plan, LISTENER, R, B)
  expect(find('/s')).toBe(R)
  change(plan, LISTENER, B)
  expect(find('/s')).toBeUndefined()
})

test('objects of an earlier version keep working', () => {
  const plan = planWith(LISTENER, R, B)
  const { index } = plan
  const listener = listenerOf(plan)
  change(plan, LISTENER)
  expect(listener.routes.find('h', exchangeWith().request, { matched: '/', query: '' })?.rule.item).toBe(R)
  expect(listener.routes.ruleOf(listener.attached[0]!.route).backends[0]!.backend.get(index)?.item).toBe(B)
})

test('listeners of one address and port share a socket; others do not', () => {
  const at = (name: string, more: Partial<ListenerItem>) => listenerItem({ name, ...more })
  const plan = planWith(
    at('a', { hostname: 'a.test' }),
    at('b', { hostname: 'b.test', gateway: { namespace: 'x', name: 'other' } }),
    at('c', { port: 8081 }),
    at('d', { address: '127.0.0.2' }),
  )
  const names = Object.fromEntries(
    [...plan.sockets].map(([key, { listeners }]) => [key, listeners.map(({ item }) => item.name)]),
  )
  expect(names).toEqual({
    '127.0.0.1:8080': ['a', 'b'],
    '127.0.0.1:8081': ['c'],
    '127.0.0.2:8080': ['d'],
  })
})

test('a rule at two listeners is built for each, with the policies of each', () => {
  const other = listenerItem({ name: 'other', port: 8081 })
  const both = routeItem('both', {
    attachments: [
      { listener: LISTENER.key, hostnames: [] },
      { listener: other.key, hostnames: ['a.test'] },
    ],
  })
  const plan = planWith(LISTENER, other, both, policyItem('traffic.csrf', `${GATEWAY}/other`, {}))
  const ruleAt = (name: string) => listenerOf(plan, name).routes.ruleOf(both)
  const chainAt = (name: string) => ruleAt(name).postRouting.get(plan.index)
  expect(chainAt('http').links).toEqual([])
  expect(chainAt('other').links.map(({ merged }) => merged.field)).toEqual(['csrf'])
  expect(
    listenerOf(plan, 'other').routes.find('b.test', exchangeWith().request, { matched: '/', query: '' }),
  ).toBeUndefined()
  expect(ruleAt('other').names.listener).toBe('other')
})

test('a route whose hostnames changed is found by the new ones', () => {
  const at = (hostname: string) => ({ ...R, attachments: [{ listener: LISTENER.key, hostnames: [hostname] }] })
  const plan = planWith(LISTENER, at('a.test'))
  change(plan, LISTENER, at('b.test'))
  const { routes } = listenerOf(plan)
  expect(routes.find('a.test', exchangeWith().request, { matched: '/', query: '' })).toBeUndefined()
  expect(routes.find('b.test', exchangeWith().request, { matched: '/', query: '' })).toBeDefined()
})

test('a Pod is found by each of its addresses while it is in the plan', () => {
  const pod = (name: string, ...addresses: string[]): PlanItem => {
    const key = `Workload/shop/${name}`
    const origin = { kind: 'Pod', namespace: 'shop', name }
    return { kind: 'workload', key, namespace: 'shop', name, serviceAccount: 'cart', addresses, origin }
  }
  const plan = planWith(LISTENER, pod('a', '10.0.0.1', 'fd00::1'), pod('b', '10.0.0.2'))
  const found = () => ['10.0.0.1', 'fd00::1', '10.0.0.2', '10.0.0.3'].map((at) => plan.workloads.at(at)?.name)
  expect(found()).toEqual(['a', 'a', 'b', undefined])
  change(plan, LISTENER, pod('b', '10.0.0.1'))
  expect(found()).toEqual(['b', undefined, undefined, undefined])
})
