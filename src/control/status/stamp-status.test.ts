import { expect, test } from 'vitest'
import { verifies } from '#test/support/verifies.ts'
import { stampStatus, stampTogether } from './stamp-status.ts'

const OLD = '2026-01-01T00:00:00Z'
const NOW = '2026-02-02T00:00:00Z'

function condition(status: string, more: object = {}) {
  return { type: 'Accepted', status, reason: 'R', message: 'm', ...more }
}

verifies('platform/condition', 'a condition keeps its time until its status changes', () => {
  const stored = { conditions: [condition('True', { lastTransitionTime: OLD })] }
  const other = { conditions: [condition('True', { message: 'other' })] }
  expect(stampStatus(other, stored, NOW)).toEqual({
    conditions: [condition('True', { message: 'other', lastTransitionTime: OLD })],
  })
  expect(stampStatus({ conditions: [condition('False')] }, stored, NOW)).toEqual({
    conditions: [condition('False', { lastTransitionTime: NOW })],
  })
  expect(stampStatus(other, undefined, NOW)).toEqual({
    conditions: [condition('True', { message: 'other', lastTransitionTime: NOW })],
  })
})

test('conditions are compared per parent, ancestor and listener, in any order', () => {
  const parents = ['a', 'b'].map((name) => ({
    parentRef: { name },
    controllerName: 'c',
    conditions: [condition('True')],
  }))
  const stored = {
    parents: [
      { parentRef: { name: 'b' }, controllerName: 'c', conditions: [condition('True', { lastTransitionTime: OLD })] },
    ],
  }
  expect(stampStatus({ parents }, stored, NOW)).toMatchObject({
    parents: [{ conditions: [{ lastTransitionTime: NOW }] }, { conditions: [{ lastTransitionTime: OLD }] }],
  })
})

test('conditions of other controllers keep their time', () => {
  const foreign = { conditions: [condition('True', { lastTransitionTime: OLD })] }
  expect(stampStatus(foreign, undefined, NOW)).toEqual(foreign)
})

test('statuses of one change share what they have in common', () => {
  const status = { conditions: [condition('True')] }
  const stored = { conditions: [condition('True', { lastTransitionTime: OLD })] }
  const stamp = stampTogether(NOW)
  const first = stamp(status, undefined)
  expect(first).toEqual(stampStatus(status, undefined, NOW))
  expect(stamp(status, undefined)).toBe(first)
  expect(stamp(status, stored)).toEqual(stampStatus(status, stored, NOW))
  expect(stamp({ conditions: [condition('False')] }, stored)).toEqual({
    conditions: [condition('False', { lastTransitionTime: NOW })],
  })
})
