import { expect, test } from 'vitest'
import type { NodeFault } from '#base/incremental/stage.ts'
import type { PlanItem } from '#plan/item.ts'
import { backendItem, listenerItem, policyItem, routeItem, rules, stateOf, toBackend } from '../testing.ts'
import { PlanCheck } from './check-plan.ts'

const OTHER_ROUTE = 'HTTPRoute/default/other'
/** Schemas refuse this spec, so the compiler does not expect it. */
const UNCOMPILABLE = { policy: { matchExpressions: 1 } }
const broken = policyItem('traffic.authorization', OTHER_ROUTE, UNCOMPILABLE, { policy: 'broken' })
const mistaken = policyItem(
  'backend.ai',
  'ProxyBackend/default/llm',
  { promptGuard: { request: [{ regex: { action: 'Reject', matches: ['('] } }] } },
  { policy: 'mistaken' },
)
const plan: readonly PlanItem[] = [listenerItem(), routeItem('r', { backends: toBackend('b') }), backendItem('b')]

test('an item that makes the compiler throw is reported at its object, and the others are checked', () => {
  const told: NodeFault[] = []
  const check = new PlanCheck(stateOf(), (fault) => told.push(fault))
  const { problems } = check.take({ set: [broken, ...plan, mistaken], removed: [] })
  expect(told.map(({ stage, key }) => `${stage} ${key}`)).toEqual([`compile ${broken.key}`])
  const found = [...problems.values()].flat().map(({ origin, code }) => `${origin.name} ${code}`)
  expect(found.toSorted()).toEqual(['broken translation-failed', 'mistaken guard-not-runnable'])
  const mended = check.take({
    set: [{ ...broken, spec: rules('Allow') } as PlanItem],
    removed: [],
  })
  expect(mended.problems).toEqual(new Map([['ProxyPolicy/default/broken', []]]))
})

test('a use of a backend that makes the compiler throw is reported at the backend', () => {
  const backend = backendItem('b', { spec: undefined as never })
  const check = new PlanCheck(stateOf(), () => {})
  const { problems } = check.take({ set: [...plan.slice(0, 2), backend], removed: [] })
  expect([...problems.values()].flat().map(({ origin, code }) => `${origin.name} ${code}`)).toContain(
    'b translation-failed',
  )
})

test('without a handler, faults are thrown', () => {
  expect(() => new PlanCheck(stateOf()).take({ set: [...plan, broken], removed: [] })).toThrow(TypeError)
})
