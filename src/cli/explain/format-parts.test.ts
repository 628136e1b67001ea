import { expect, test } from 'vitest'
import type { EffectivePolicy } from '#engine/explain/explain-parts.ts'
import { policyItem } from '#engine/testing.ts'
import { describeEndpoints, describePolicies, locator } from './describe-parts.ts'
import { formatBackend, formatListener, formatPolicies, ruleText } from './format-parts.ts'

const nowhere = locator({ locate: () => undefined })
const policyLines = (policy: EffectivePolicy) => formatPolicies(describePolicies([policy], nowhere))

test.each([
  ['PreRouting', '  traffic.csrf (PreRouting)'],
  ['PostRouting', '  traffic.csrf'],
] as const)('an effective policy of the phase %s, and the one that it overrides', (phase, title) => {
  const [source, loser] = [
    policyItem('traffic.csrf', 'Gateway/default/main', {}, { level: 'Listener' }),
    policyItem('traffic.csrf', 'Gateway/default/main', {}, { level: 'Gateway' }),
  ]
  const policy = { section: 'traffic', phase, field: 'csrf', sources: [source], overridden: [loser] } as EffectivePolicy
  expect(policyLines(policy)).toEqual([
    'effective policies, and the policies they override',
    title,
    '      set by ProxyPolicy default/policy spec.traffic.csrf, level Listener',
    '      over   ProxyPolicy default/policy spec.traffic.csrf, level Gateway',
    '',
  ])
})

test.each([
  ['requestMirror', 'filter RequestMirror of the route rule'],
  ['requestRedirect', 'filter RequestRedirect of the route rule'],
  ['urlRewrite', 'filter URLRewrite of the route rule'],
  ['sessionPersistence', 'sessionPersistence of the route rule'],
  ['refusedPolicy', 'refused policy, whose targets refuse everything'],
  ['timeouts', 'traffic.timeouts'],
] as const)('%s is named as users write it: %s', (field, name) => {
  const source = policyItem(`traffic.${field}`, 'HTTPRoute/default/r', {})
  const policy = {
    section: 'traffic',
    phase: 'PostRouting',
    field,
    sources: [source],
    overridden: [],
  } as EffectivePolicy
  expect(policyLines(policy)[1]).toBe(`  ${name}`)
})

test('no policies, and no backends', () => {
  expect(formatPolicies([])).toEqual(['policies  none', ''])
  expect(formatBackend([], [])).toEqual([])
})

test('the weight of a backend is shown if there are several', () => {
  const backend = (key: string, chosen: boolean) => ({ key, weight: 2, chosen })
  expect(formatBackend([backend('a', true)], [])).toEqual(['backend', '  > a', ''])
  expect(formatBackend([backend('a', true), backend('b', false)], [])).toEqual([
    'backend',
    '  > a, weight 2',
    '    b, weight 2',
    '',
  ])
})

test.each([
  [
    {},
    'is evicted after an unhealthy response, for 3 s times the number of evictions so far; returns with the health that it had',
  ],
  [
    { consecutiveFailures: 2, restoreHealth: 0.8 },
    'is evicted after 2 consecutive unhealthy responses, for 3 s times the number of evictions so far; returns with health 0.8',
  ],
  [
    { consecutiveFailures: 1, healthThreshold: 0.5, durationMs: 1500 },
    'is evicted after an unhealthy response or an unhealthy response that leaves a health below 0.5, for 1.5 s times the number of evictions so far; returns with the health that it had',
  ],
  [
    { consecutiveFailures: 0, healthThreshold: 0.5 },
    'is evicted after an unhealthy response that leaves a health below 0.5, for 3 s times the number of evictions so far; returns with the health that it had',
  ],
  [{ consecutiveFailures: 0 }, 'never evicted: consecutiveFailures is 0'],
])('when an endpoint is evicted: %j', (settings, line) => {
  const eviction = {
    durationMs: 3000,
    restoreHealth: undefined,
    consecutiveFailures: undefined,
    healthThreshold: undefined,
    ...settings,
  }
  const endpoint = { label: 'e', section: undefined, priority: 0, chosen: true, bounds: undefined, eviction }
  const backends = [{ key: 'a', weight: 1, chosen: true }]
  expect(formatBackend(backends, describeEndpoints([endpoint]))).toEqual([
    'backend',
    '  > a',
    '    > e',
    `      ${line}`,
    '',
  ])
})

test.each([
  ['', 'listener  http of Gateway default/main, HTTP 127.0.0.1:80, any host'],
  ['a.test', 'listener  http of Gateway default/main, HTTP 127.0.0.1:80, host a.test'],
])('a listener for the host %j', (hostname, line) => {
  const listener = { name: 'http', object: 'Gateway default/main', protocol: 'HTTP', address: '127.0.0.1', port: 80 }
  expect(formatListener({ ...listener, hostname })).toEqual([line, ''])
  expect(formatListener({ ...listener, hostname, file: 'g.yaml', line: 3 })).toEqual([`${line} (g.yaml:3)`, ''])
})

test('a host that no listener has, and rules with and without a name', () => {
  expect(formatListener(undefined)).toEqual(['listener  no listener matches this host', ''])
  expect(ruleText({ object: 'HTTPRoute default/r', rule: 1 })).toBe('HTTPRoute default/r, rule 1')
  expect(ruleText({ object: 'HTTPRoute default/r', rule: 1, ruleName: 'n' })).toBe('HTTPRoute default/r, rule 1 (n)')
})

test('endpoints with sections, priorities and bounds', () => {
  const backends = [{ key: 'a', weight: 1, chosen: true }]
  const first = { label: 'e', priority: 1, chosen: false, unfit: { code: 'path-invalid' } } as const
  const second = { label: 'f', priority: 2, chosen: true, section: 's', maxConnections: 5, maxWaiting: 6 } as const
  expect(formatBackend(backends, [first, second])).toEqual([
    'backend',
    '  > a',
    '      e, priority 1',
    '      cannot take the request: path-invalid',
    '    > f (s), priority 2',
    '      at most 5 connections and 6 queued requests in each worker',
    '',
  ])
  const named = { ...second, named: true, unfit: { code: 'path-invalid', detail: 'a dot' } } as const
  expect(formatBackend(backends, [named]).slice(2, 4)).toEqual([
    '    > f (s) (named by the request; its address is checked when it is dialled)',
    '      cannot take the request: path-invalid, a dot',
  ])
})

test('an endpoint in a pod of the mesh', () => {
  const meshPod = { name: 'shop/cart-1', identity: 'spiffe://cluster.local/ns/shop/sa/cart' }
  const settings = { section: undefined, bounds: undefined, eviction: undefined }
  const endpoint = { label: '10.0.0.1:80', priority: 0, chosen: true, meshPod, ...settings }
  const backend = { key: 'a', weight: 1, chosen: true }
  expect(formatBackend([backend], describeEndpoints([endpoint])).slice(-3)).toEqual([
    '    > 10.0.0.1:80',
    '      via tunnel to pod shop/cart-1 as spiffe://cluster.local/ns/shop/sa/cart',
    '',
  ])
})
