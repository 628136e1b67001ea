import { expect, test } from 'vitest'
import { meshSource } from './mesh-source.ts'
import { UsageError } from './usage-error.ts'

const POD = { NAMESPACE: 'shop', SERVICE_ACCOUNT: 'main' }

test('without the address of a CA, a proxy is in no mesh', () => {
  expect(meshSource({ ...POD, TRUST_DOMAIN: 'mesh.test' })).toBeUndefined()
  expect(meshSource({ ...POD, CA_ADDRESS: '' })).toBeUndefined()
})

test('the files are where the pod of a Gateway has them', () => {
  expect(meshSource({ ...POD, CA_ADDRESS: 'ca.test:15012', TRUST_DOMAIN: 'mesh.test' })).toEqual({
    caUrl: new URL('https://ca.test:15012'),
    trustDomain: 'mesh.test',
    workload: { namespace: 'shop', serviceAccount: 'main' },
    rootsFile: '/var/run/secrets/istio/root-cert.pem',
    tokenFile: '/var/run/secrets/tokens/istio-token',
  })
})

test.each([
  ['https://istiod.istio-system.svc:15012', 'https://istiod.istio-system.svc:15012'],
  ['[2001:db8::1]:15012', 'https://[2001:db8::1]:15012'],
  ['http://[::1]:15012', 'http://[::1]:15012'],
])('the CA at %s', (address, origin) => {
  const source = meshSource({ ...POD, CA_ADDRESS: address })
  expect([source?.caUrl.origin, source?.trustDomain]).toEqual([origin, 'cluster.local'])
})

test.each([
  [
    { ...POD, CA_ADDRESS: 'ca.test' },
    'CA_ADDRESS is ca.test; it must be host:port or https://host:port; http only to this machine',
  ],
  [
    { ...POD, CA_ADDRESS: 'ca.test:1', TRUST_DOMAIN: 'A' },
    'TRUST_DOMAIN is A; it must be a SPIFFE trust domain, such as cluster.local',
  ],
  [
    { NAMESPACE: 'shop', CA_ADDRESS: 'ca.test:1' },
    'CA_ADDRESS is set, so NAMESPACE and SERVICE_ACCOUNT must be set, too',
  ],
  [
    { SERVICE_ACCOUNT: 'main', CA_ADDRESS: 'ca.test:1' },
    'CA_ADDRESS is set, so NAMESPACE and SERVICE_ACCOUNT must be set, too',
  ],
])('%j is refused', (environment, message) => {
  expect(() => meshSource(environment)).toThrow(new UsageError(message))
})
