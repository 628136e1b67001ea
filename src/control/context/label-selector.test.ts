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
  // A selector that Kubernetes rejects selects nothing.
  [{ matchExpressions: [{ key: 'other', operator: 'NotIn' }] }, false],
  [{ matchExpressions: [{ key: 'other', operator: 'NotIn', values: [] }] }, false],
  [{ matchExpressions: [{ key: 'other', operator: 'NotIn', values: ['not a value'] }] }, false],
  [{ matchExpressions: [{ key: 'tier', operator: 'In', values: [] }] }, false],
  [{ matchExpressions: [{ key: 'tier', operator: 'Exists', values: ['gold'] }] }, false],
  [{ matchExpressions: [{ key: 'other', operator: 'DoesNotExist', values: ['x'] }] }, false],
  [{ matchExpressions: [{ key: 'not a key', operator: 'DoesNotExist' }] }, false],
  [{ matchExpressions: [{ key: '', operator: 'DoesNotExist' }] }, false],
  [{ matchExpressions: [{ key: 'a/b/c', operator: 'DoesNotExist' }] }, false],
  [{ matchExpressions: [{ key: '/b', operator: 'DoesNotExist' }] }, false],
  [{ matchExpressions: [{ key: 'Upper.example/b', operator: 'DoesNotExist' }] }, false],
  [{ matchExpressions: [{ key: 'a'.repeat(64), operator: 'DoesNotExist' }] }, false],
  [{ matchExpressions: [{ key: 'team.example/A_b.c-d', operator: 'DoesNotExist' }] }, true],
  [{ matchExpressions: [{ key: 'other', operator: 'NotIn', values: [''] }] }, true],
  [{ matchExpressions: [{ key: 'tier', operator: 'Like' }] }, false],
  [{ matchExpressions: [{ key: `${'a'.repeat(253)}/b`, operator: 'DoesNotExist' }] }, true],
  [{ matchExpressions: [{ key: `${'a'.repeat(254)}/b`, operator: 'DoesNotExist' }] }, false],
]

for (const [selector, expected] of table) {
  verifies('platform/label-selector', `${JSON.stringify(selector)} selects tier=gold,team=a: ${expected}`, () => {
    expect(selectsLabels(selector, labels)).toBe(expected)
  })
}
