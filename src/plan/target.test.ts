import { expect, test } from 'vitest'
import { backendTarget, gatewayTarget, listenerSetTarget, listenerTarget, routeTarget, ruleTarget } from './target.ts'

const O = { namespace: 'ns', name: 'o' }

/** control and engine both use these keys, so both must change together. */
test.each([
  [gatewayTarget(O), 'Gateway/ns/o'],
  [listenerTarget(O, 'http'), 'Gateway/ns/o/http'],
  [listenerSetTarget(O), 'ListenerSet/ns/o'],
  [listenerSetTarget(O, 'http'), 'ListenerSet/ns/o/http'],
  [routeTarget('HTTPRoute', O), 'HTTPRoute/ns/o'],
  [routeTarget('GRPCRoute', O, 'first'), 'GRPCRoute/ns/o/first'],
  [ruleTarget('HTTPRoute', O, 0), 'HTTPRoute/ns/o#0'],
  [backendTarget('Service', O, '80'), 'Service/ns/o/80'],
  [backendTarget('ProxyBackend', O), 'ProxyBackend/ns/o'],
])('%s', (target, key) => {
  expect(target).toBe(key)
})

test('different targets have different keys', () => {
  const rules = [0, 1, 10].map((rule) => ruleTarget('HTTPRoute', O, rule))
  const all = [...rules, routeTarget('HTTPRoute', O), routeTarget('HTTPRoute', O, '0'), routeTarget('GRPCRoute', O)]
  expect(new Set(all).size).toBe(all.length)
})
