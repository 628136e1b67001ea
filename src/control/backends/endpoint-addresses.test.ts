import { expect, test } from 'vitest'
import type { EndpointSliceObject } from '#api/endpoint-slice.ts'
import type { ServiceObject } from '#api/service.ts'
import { admitObject } from '#test/support/admit-object.ts'
import { findServicePort } from '../references/service-port.ts'
import { endpointAddresses } from './endpoint-addresses.ts'

function service(spec: object = {}): ServiceObject {
  const ports = [{ port: 80, name: 'http' }]
  return admitObject({ kind: 'Service', metadata: { name: 's' }, spec: { ports, ...spec } }) as ServiceObject
}

let slices = 0

function slice(endpoints: readonly unknown[], more: object = {}): EndpointSliceObject {
  return admitObject({
    kind: 'EndpointSlice',
    metadata: { name: `s-${slices++}`, labels: { 'kubernetes.io/service-name': 's' } },
    addressType: 'IPv4',
    endpoints,
    ports: [{ name: 'http', port: 8080 }],
    ...more,
  }) as EndpointSliceObject
}

const at = (address: string, conditions: object = {}, more: object = {}) => ({
  addresses: [address],
  conditions,
  ...more,
})
const pod = (name: string) => ({ targetRef: { kind: 'Pod', namespace: 'default', name } })

function addresses(found: ServiceObject, ...all: readonly EndpointSliceObject[]): string[] {
  return endpointAddresses(found, findServicePort(found, 80)!, all).map(({ host, port }) => `${host} ${port}`)
}

test.each<[what: string, slices: readonly EndpointSliceObject[], expected: readonly string[]]>([
  ['no slice', [], []],
  ['an empty slice', [slice([])], []],
  [
    'an unknown state counts as ready',
    [slice([{ addresses: ['10.0.0.1'] }, at('10.0.0.2', { ready: true })])],
    ['10.0.0.1 8080', '10.0.0.2 8080'],
  ],
  ['not ready', [slice([at('10.0.0.1', { ready: false }), at('10.0.0.2')])], ['10.0.0.2 8080']],
  [
    'terminating endpoints only if none is ready',
    [slice([at('10.0.0.1', { ready: false, serving: true, terminating: true }), at('10.0.0.2')])],
    ['10.0.0.2 8080'],
  ],
  [
    'without ready endpoints, those that terminate and still serve',
    [
      slice([at('10.0.0.1', { ready: false, serving: true, terminating: true })]),
      slice([
        at('10.0.0.2', { ready: false, terminating: true }),
        at('10.0.0.3', { ready: false, serving: false, terminating: true }),
        at('10.0.0.4', { ready: false }),
      ]),
    ],
    ['10.0.0.1 8080', '10.0.0.2 8080'],
  ],
  [
    'one endpoint in two slices, in one of them not ready',
    [slice([at('10.0.0.1')]), slice([at('10.0.0.1', { ready: false }), at('10.0.0.2')])],
    ['10.0.0.1 8080', '10.0.0.2 8080'],
  ],
  [
    'the number of a named port may differ between slices',
    [
      slice([at('10.0.0.1')]),
      slice([at('10.0.0.2')], {
        ports: [
          { name: 'http', port: 9090 },
          { name: 'admin', port: 1 },
        ],
      }),
    ],
    ['10.0.0.1 8080', '10.0.0.2 9090'],
  ],
  ['a slice without the port', [slice([at('10.0.0.1')], { ports: [{ name: 'admin', port: 1 }] })], []],
  ['a slice without a number', [slice([at('10.0.0.1')], { ports: [{ name: 'http' }] })], []],
  ['a UDP port of that name', [slice([at('10.0.0.1')], { ports: [{ name: 'http', port: 1, protocol: 'UDP' }] })], []],
  [
    'hints are ignored',
    [slice([at('10.0.0.1', {}, { zone: 'a', hints: { forZones: [{ name: 'b' }] } })])],
    ['10.0.0.1 8080'],
  ],
  [
    'a Pod of both families is one endpoint; others of the second family stay',
    [
      slice([at('10.0.0.1', {}, pod('a'))]),
      slice([at('2001:db8::1', {}, pod('a')), at('2001:db8::2', {}, pod('b')), at('2001:db8::3')], {
        addressType: 'IPv6',
      }),
    ],
    ['10.0.0.1 8080', '2001:db8::2 8080', '2001:db8::3 8080'],
  ],
  ['names', [slice([at('a.test')], { addressType: 'FQDN' })], ['a.test 8080']],
])('%s', (_, given, expected) => {
  expect(addresses(service(), ...given)).toEqual(expected)
})

test('the first family of the Service is used for Pods with both', () => {
  const both = [
    slice([at('10.0.0.1', {}, pod('a'))]),
    slice([at('2001:db8::1', {}, pod('a'))], { addressType: 'IPv6' }),
  ]
  expect(addresses(service({ ipFamilies: ['IPv6', 'IPv4'] }), ...both)).toEqual(['2001:db8::1 8080'])
  expect(addresses(service({ ipFamilies: ['IPv4', 'IPv6'] }), ...both)).toEqual(['10.0.0.1 8080'])
})

test('a port without a name is that of slices without a name', () => {
  const unnamed = service({ ports: [{ port: 80 }] })
  expect(addresses(unnamed, slice([at('10.0.0.1')], { ports: [{ port: 81 }] }))).toEqual(['10.0.0.1 81'])
  expect(addresses(unnamed, slice([at('10.0.0.1')], { ports: [{ name: '', port: 82 }] }))).toEqual(['10.0.0.1 82'])
})

test('an ExternalName is a name, at the port of the Service or, if it lists none, at any', () => {
  const external = { type: 'ExternalName', externalName: 'db.example.' }
  expect(addresses(service(external), slice([at('10.0.0.1')]))).toEqual(['db.example. 80'])
  expect(findServicePort(service(external), 81)).toBeUndefined()
  expect(addresses(service({ ...external, ports: [] }))).toEqual(['db.example. 80'])
  expect(addresses(service({ type: 'ExternalName' }))).toEqual([])
})

test('of ports with one number, the TCP port is found', () => {
  const dns = service({
    ports: [
      { port: 53, name: 'udp', protocol: 'UDP' },
      { port: 53, name: 'tcp' },
      { port: 54, name: 'other', protocol: 'UDP' },
    ],
  })
  expect(findServicePort(dns, 53)?.name).toBe('tcp')
  expect(findServicePort(dns, 54)).toBeUndefined()
})
