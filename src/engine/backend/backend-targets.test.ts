import { expect, test } from 'vitest'
import type { BackendItem, EndpointsItem, PlanItem } from '#plan/item.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { verifies } from '#test/support/verifies.ts'
import { Decision, decide } from '../request/decide.ts'
import { backendItem, listenerItem, livePlan, policyItem, routeItem } from '../testing.ts'
import { backendTargets } from './backend-targets.ts'
import type { Place } from './place.ts'

const SERVICE: BackendItem = {
  ...backendItem('svc'),
  key: 'Service/default/svc/80',
  type: 'service',
  spec: { hostname: 'svc.default.svc', port: 80 },
}
const ENDPOINTS: EndpointsItem = {
  kind: 'endpoints',
  key: 'Endpoints/default/svc/80',
  addresses: [{ host: '10.0.0.7', port: 8080 }],
  origin: { kind: 'Service', namespace: 'default', name: 'svc' },
}
const MCP = backendItem('m', {
  type: 'mcp',
  spec: {
    sessionRouting: 'Stateful',
    targets: [
      { name: 'svc-80', entry: 'found', backend: SERVICE.key, port: 80 },
      { name: 'fixed', entry: 'fixed', host: 'mcp.test', port: 81 },
    ],
  },
})
const STATIC = backendItem('b')

test.each<[item: BackendItem, section: string | undefined, targets: readonly string[]]>([
  [STATIC, undefined, ['ProxyBackend/default/b']],
  [STATIC, 'one', ['ProxyBackend/default/b', 'ProxyBackend/default/b/one']],
  [SERVICE, undefined, ['Service/default/svc', 'Service/default/svc/80']],
  [MCP, undefined, ['ProxyBackend/default/m']],
  [MCP, 'fixed', ['ProxyBackend/default/m', 'ProxyBackend/default/m/fixed']],
  [
    MCP,
    'svc-80',
    [
      'Service/default/svc',
      'Service/default/svc/80',
      'ProxyBackend/default/m',
      'ProxyBackend/default/m/svc-80',
      'ProxyBackend/default/m/found',
    ],
  ],
])('%j, section %s: policies at %j', (item, section, targets) => {
  expect(backendTargets(item, section)).toEqual(targets)
})

/** Connect timeouts of the endpoints of a backend; the first of these policies sets 1 s, the second 2 s. */
async function timeouts(item: BackendItem, ...targets: readonly string[]): Promise<number[]> {
  const route = routeItem('r', { backends: [{ backend: item.key, weight: 1, path: '' }] })
  const policies: PlanItem[] = targets.map((target, i) =>
    policyItem('backend.tcp', target, { connectTimeout: `${i + 1}s` }, { policy: `p${i}` }),
  )
  const { plan, socket } = livePlan(listenerItem(), route, SERVICE, ENDPOINTS, MCP, STATIC, ...policies)
  const decision = new Decision()
  await decide({ index: plan.index, socket, random: () => 0 }, exchangeWith(), decision)
  return decision.backend!.groups.flat().map(({ place }) => (place as Place).destinations.usual.connectTimeoutMs)
}

verifies('policy/backend-target-service', 'a policy of the Service is in force', async () => {
  expect(await timeouts(SERVICE, 'Service/default/svc')).toEqual([1000])
})

verifies(
  'policy/backend-target-service-port',
  'a policy for one port takes precedence over one for the Service',
  async () => {
    expect(await timeouts(SERVICE, 'Service/default/svc', 'Service/default/svc/80')).toEqual([2000])
    expect(await timeouts(SERVICE, 'Service/default/svc/80', 'Service/default/svc')).toEqual([1000])
    expect(await timeouts(SERVICE, 'Service/default/svc/81')).toEqual([10_000])
  },
)

verifies('policy/backend-target-backend', 'a policy of the ProxyBackend is in force', async () => {
  expect(await timeouts(STATIC, 'ProxyBackend/default/b')).toEqual([1000])
})

verifies('backend.mcp/target-section-name', 'a policy for one MCP target applies only to that target', async () => {
  expect(await timeouts(MCP, 'ProxyBackend/default/m/fixed')).toEqual([10_000, 1000])
  expect(await timeouts(MCP, 'ProxyBackend/default/m/svc-80')).toEqual([1000, 10_000])
})

test('a policy for an entry applies to all its targets; a policy for one target takes precedence', async () => {
  expect(await timeouts(MCP, 'ProxyBackend/default/m/found')).toEqual([1000, 10_000])
  expect(await timeouts(MCP, 'ProxyBackend/default/m/found', 'ProxyBackend/default/m/svc-80')).toEqual([2000, 10_000])
})

verifies(
  'backend.mcp.targets.selector/policies-on-service',
  'a policy of a selected Service applies to its target',
  async () => {
    expect(await timeouts(MCP, 'Service/default/svc')).toEqual([1000, 10_000])
    expect(await timeouts(MCP, 'ProxyBackend/default/m', 'Service/default/svc')).toEqual([2000, 1000])
  },
)
