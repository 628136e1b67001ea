import { expect } from 'vitest'
import { verifies } from '#test/support/verifies.ts'
import { type LabelSelector, selectsLabels } from './label-selector.ts'

const labels = { tier: 'gold', team: 'a' }

const table: readonly (readonly [LabelSelector, boolean])[] = [
  [{}, true],
  [{ matchLabels: {} }, true],
  [{ matchLabels: { tier: 'gold' } }, true],
  [{ matchLabels: { tier: 'gold', team: 'b' } }, false],
  [{ matchLabels: { other: '' } }, false],
  [{ matchExpressions: [{ key: 'tier', operator: 'In', values: ['tin', 'gold'] }] }, true],
  [{ matchExpressions: [{ key: 'tier', operator: 'In', values: ['tin'] }] }, false],
  [{ matchExpressions: [{ key: 'other', operator: 'In', values: ['tin'] }] }, false],
  [{ matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['tin'] }] }, true],
  [{ matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['gold'] }] }, false],
  [{ matchExpressions: [{ key: 'other', operator: 'NotIn', values: ['gold'] }] }, true],
  [{ matchExpressions: [{ key: 'tier', operator: 'Exists' }] }, true],
  [{ matchExpressions: [{ key: 'constructor', operator: 'Exists' }] }, false],
  [{ matchExpressions: [{ key: 'other', operator: 'DoesNotExist' }] }, true],
  [{ matchLabels: { tier: 'gold' }, matchExpressions: [{ key: 'team', operator: 'DoesNotExist' }] }, false],
]

for (const [selector, expected] of table) {
  verifies('platform/label-selector', `${JSON.stringify(selector)} selects tier=gold,team=a: ${expected}`, () => {
    expect(selectsLabels(selector, labels)).toBe(expected)
  })
}
