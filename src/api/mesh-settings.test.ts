import { expect, test } from 'vitest'
import { DEFAULT_CA_ADDRESS, isTrustDomain, mergeMesh, parseCaAddress } from './mesh-settings.ts'

test('mesh merges by field, and is absent without any', () => {
  const additionalTrustDomains = ['a.test']
  expect(mergeMesh([{}, {}])).toBeUndefined()
  expect(mergeMesh([{ mesh: {} }])).toEqual({
    caAddress: 'https://istiod.istio-system.svc:15012',
    trustDomain: 'cluster.local',
    additionalTrustDomains: [],
  })
  const ofClass = { mesh: { caAddress: 'ca.test:1', trustDomain: 'class.test', additionalTrustDomains } }
  const own = { mesh: { trustDomain: 'own.test', additionalTrustDomains: ['b.test'] } }
  expect(mergeMesh([ofClass, own])).toEqual({
    caAddress: 'ca.test:1',
    trustDomain: 'own.test',
    additionalTrustDomains: ['b.test'],
  })
})

test.each([
  ['istiod.istio-system.svc:15012', { isSecure: true, host: 'istiod.istio-system.svc', port: 15_012 }],
  [DEFAULT_CA_ADDRESS, { isSecure: true, host: 'istiod.istio-system.svc', port: 15_012 }],
  ['https://10.0.0.1:443/', { isSecure: true, host: '10.0.0.1', port: 443 }],
  ['[2001:db8::1]:15012', { isSecure: true, host: '2001:db8::1', port: 15_012 }],
  ['http://127.0.0.1:15012', { isSecure: false, host: '127.0.0.1', port: 15_012 }],
  ['http://[::1]:15012', { isSecure: false, host: '::1', port: 15_012 }],
  ['http://localhost:15012', { isSecure: false, host: 'localhost', port: 15_012 }],
  ['http://istiod.istio-system.svc:15012', undefined],
  ['http://127.0.0.1.evil.test:15012', undefined],
  ['istiod.istio-system.svc', undefined],
  ['https://istiod.istio-system.svc', undefined],
  ['https://istiod.istio-system.svc:0', undefined],
  ['https://istiod.istio-system.svc:65536', undefined],
  ['https://user@istiod:15012', undefined],
  ['https://istiod:15012/path', undefined],
  ['grpc://istiod:15012', undefined],
  ['', undefined],
])('the address %s of a CA', (text, parsed) => expect(parseCaAddress(text)).toEqual(parsed))

test.each([
  ['cluster.local', true],
  ['a_b-1', true],
  ['Cluster.local', false],
  ['spiffe://cluster.local', false],
  ['a/b', false],
  ['*', false],
  ['', false],
  ['a'.repeat(256), false],
])('%s as a trust domain: %s', (text, isOne) => expect(isTrustDomain(text)).toBe(isOne))
