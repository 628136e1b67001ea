import { expect, test } from 'vitest'
import type { GatewayObject } from '#api/gateway.ts'
import type { ServiceObject } from '#api/service.ts'
import { isServiceOf, serviceAddresses } from './service-addresses.ts'

const ip = (value: string) => ({ type: 'IPAddress', value })

test.each([
  [{ type: 'LoadBalancer', clusterIP: '10.96.0.1' }, undefined, []],
  [{ type: 'LoadBalancer', clusterIP: '10.96.0.1' }, { loadBalancer: {} }, []],
  [
    { type: 'LoadBalancer' },
    { loadBalancer: { ingress: [{ ip: '192.0.2.1' }, { hostname: 'lb.test' }, { ports: [] }] } },
    [ip('192.0.2.1'), { type: 'Hostname', value: 'lb.test' }],
  ],
  [
    { type: 'ClusterIP', clusterIP: '10.96.0.1', clusterIPs: ['10.96.0.1', 'fd00::1'] },
    {},
    [ip('10.96.0.1'), ip('fd00::1')],
  ],
  [{ type: 'NodePort', clusterIP: '10.96.0.1' }, undefined, [ip('10.96.0.1')]],
  [{ type: 'ClusterIP', clusterIP: 'None' }, undefined, []],
  [{ type: 'ClusterIP' }, undefined, []],
])('the addresses of a Service %j with status %j', (spec, status, expected) => {
  expect(serviceAddresses({ spec, status } as Pick<ServiceObject, 'spec' | 'status'>)).toEqual(expected)
})

test.each([
  [undefined, false],
  [[{ kind: 'Deployment', name: 'main', uid: 'u' }], false],
  [[{ kind: 'Gateway', name: 'main', uid: 'earlier' }], false],
  [[{ kind: 'Gateway', name: 'main', uid: 'u' }], true],
])('a Service with the owners %j', (ownerReferences, expected) => {
  const service = { metadata: { name: 'main', ownerReferences } } as unknown as ServiceObject
  const gateway = { metadata: { name: 'main', uid: 'u' } } as unknown as GatewayObject
  expect(isServiceOf(service, gateway)).toBe(expected)
})
