import { expect, test } from 'vitest'
import type { PlanItem } from '#plan/item.ts'
import type { CallFault } from '#policies/policy.ts'
import { RecordedLookups } from '../lookups/lookups.ts'
import { backendItem, indexOf, policyItem, stateOf } from '../testing.ts'
import { quietContext } from './compile-context.ts'

const { key } = backendItem('judge')
const refused = (target: string) => policyItem('backend.refusedPolicy', target, {}, { policy: 'bad' })

test.each<[what: string, items: readonly PlanItem[], fault: CallFault | undefined]>([
  ['a backend', [backendItem('judge')], undefined],
  ['no backend', [backendItem('other')], { detail: 'its backend does not exist', isReported: true }],
  ['a broken one', [backendItem('judge', { broken: 'no Secret' })], { detail: 'no Secret', isReported: false }],
  [
    'one for LLMs',
    [backendItem('judge', { type: 'ai', spec: { provider: { providerOne: {} } } })],
    { detail: 'its backend is of type ai; name a Service, or a ProxyBackend of type static', isReported: false },
  ],
  [
    'a broken part of a policy',
    [backendItem('judge', { broken: 'no Secret', path: 'spec.backend.ai.promptGuard.request[0].x' })],
    { detail: 'no Secret', isReported: true },
  ],
  [
    'one whose destination clients choose',
    [backendItem('judge', { type: 'dynamicForwardProxy', spec: undefined })],
    { detail: 'only requests of clients name the destination of its backend', isReported: true },
  ],
  [
    'one that an invalid policy protects',
    [backendItem('judge'), refused(key)],
    { detail: 'ProxyPolicy default/bad has errors and no earlier valid version', isReported: false },
  ],
  ['one beside it', [backendItem('judge'), backendItem('other'), refused('ProxyBackend/default/other')], undefined],
])('whether %s can be called', (_, items, fault) => {
  const context = quietContext(new RecordedLookups(indexOf(...items)), stateOf())
  expect(context.callFault(key)).toEqual(fault)
})
