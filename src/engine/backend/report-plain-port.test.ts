import { expect, test } from 'vitest'
import type { PlanItem } from '#plan/item.ts'
import { PlanCheck } from '../plan/check-plan.ts'
import { backendItem, listenerItem, policyItem, routeItem, stateOf } from '../testing.ts'

const KEY = 'Service/default/s/443'

function codes(appProtocol: string, ...policies: readonly PlanItem[]): string[] {
  const spec = { hostname: 's.default.svc', port: 443, appProtocol }
  const service = backendItem('s', { key: KEY, type: 'service', spec })
  const endpoints: PlanItem = {
    kind: 'endpoints',
    key: 'Endpoints/default/s/443',
    addresses: [
      { host: '10.0.0.1', port: 8443 },
      { host: '10.0.0.2', port: 8443 },
    ],
    origin: { kind: 'Service', namespace: 'default', name: 's' },
  }
  const route = routeItem('r', { backends: [{ backend: KEY, weight: 1, path: '' }] })
  const items = [listenerItem(), route, service, endpoints, ...policies]
  const { problems } = new PlanCheck(stateOf()).take({ set: items, removed: [] })
  return [...problems.values()].flat().map(({ path, code }) => `${path} ${code}`)
}

test.each([
  ['https', true],
  ['wss', true],
  ['kubernetes.io/wss', true],
  ['http', false],
  ['kubernetes.io/h2c', false],
])('requests in plain text to a port with appProtocol %s are reported: %s', (appProtocol, reported) => {
  expect(codes(appProtocol)).toEqual(reported ? ['spec.ports service-port-expects-tls'] : [])
})

test('requests over TLS are not reported', () => {
  expect(codes('https', policyItem('backend.tls', 'Service/default/s', {}))).toEqual([])
})
