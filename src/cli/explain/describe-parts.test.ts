import { expect, test, vi } from 'vitest'
import { listenerItem, routeItem } from '#engine/testing.ts'
import { reject } from '#exchange/outcome.ts'
import { describeEndpoints, describeListener, describeRule, locator } from './describe-parts.ts'

const ORIGIN = { kind: 'HTTPRoute', namespace: 'default', name: 'r' } as const
const OBJECT = 'HTTPRoute default/r'

test.each([
  [{}, { object: OBJECT }],
  [{ file: 'r.yaml' }, { object: OBJECT, file: 'r.yaml', line: 1 }],
  [
    { file: 'r.yaml', line: 7 },
    { object: OBJECT, file: 'r.yaml', line: 7 },
  ],
])('an object whose field has no known place is at its own: %j', (place, located) => {
  expect(locator({ locate: () => undefined })({ ...ORIGIN, ...place }, 'spec')).toEqual(located)
})

test('a listener and a rule are where their fields are', () => {
  const locate = vi.fn((_, path: string) => ({ file: path, line: 9, column: 2 }))
  const listener = describeListener(listenerItem(), locator({ locate }))
  const rule = describeRule(routeItem('r', { rule: 3 }), locator({ locate }))
  expect([listener.file, rule.file, rule.line]).toEqual(['spec.listeners', 'spec.rules[3]', 9])
})

test('an endpoint has what is set of it, and priorities begin with 1', () => {
  const endpoint = { label: 'e', section: undefined, priority: 0, chosen: true, bounds: undefined } as const
  const eviction = { durationMs: 3000, restoreHealth: undefined, consecutiveFailures: 2, healthThreshold: undefined }
  const bounds = { maxConnections: 5, maxWaiting: 6 }
  expect(
    describeEndpoints([
      { ...endpoint, unfit: undefined, eviction: undefined },
      { ...endpoint, unfit: reject('path-invalid'), bounds, eviction, section: 's', priority: 1, named: true },
    ]),
  ).toEqual([
    { label: 'e', priority: 1, chosen: true },
    {
      ...{ label: 'e', section: 's', priority: 2, chosen: true, unfit: { code: 'path-invalid' }, named: true },
      ...{ maxConnections: 5, maxWaiting: 6, eviction: { durationMs: 3000, consecutiveFailures: 2 } },
    },
  ])
})
