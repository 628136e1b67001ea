import fc from 'fast-check'
import { expect, test } from 'vitest'
import { envoyService } from '#test/support/envoy-definitions.ts'
import {
  DELTA_PATH,
  type DiscoveryRequest,
  type DiscoveryResponse,
  decodeRequest,
  decodeResponse,
  encodeRequest,
  encodeResponse,
} from './discovery-messages.ts'

// `protobufjs` with the published definitions is the independent reader and writer.

const { DeltaAggregatedResources: method } = envoyService(
  'envoy/service/discovery/v3/ads.proto',
  'envoy.service.discovery.v3.AggregatedDiscoveryService',
)

test('the method has the published path', () => {
  expect(method).toMatchObject({ path: DELTA_PATH, requestStream: true, responseStream: true })
})

const STRUCT = { fields: { ready: { boolValue: true, kind: 'boolValue' } } }

test.each<[string, DiscoveryRequest, object]>([
  ['nothing', {}, {}],
  [
    'the node',
    { node: { id: 'pod-1', cluster: 'default/main', metadata: { ready: true } } },
    { node: { id: 'pod-1', cluster: 'default/main', metadata: STRUCT } },
  ],
  ['a type', { typeUrl: 'type.googleapis.com/a.B' }, { typeUrl: 'type.googleapis.com/a.B' }],
  [
    'names',
    { subscribe: ['a', 'b'], unsubscribe: ['c'] },
    { resourceNamesSubscribe: ['a', 'b'], resourceNamesUnsubscribe: ['c'] },
  ],
  [
    'versions',
    { initialVersions: new Map([['HTTPRoute/default/grün/0', '1']]) },
    { initialResourceVersions: { 'HTTPRoute/default/grün/0': '1' } },
  ],
  [
    'a refusal',
    { responseNonce: '7', errorDetail: { code: 3, message: '[]' } },
    { responseNonce: '7', errorDetail: { code: 3, message: '[]' } },
  ],
])('a request with %s, in both directions', (_, ours, theirs) => {
  expect(method!.requestDeserialize(Buffer.from(encodeRequest(ours)))).toMatchObject(theirs)
  expect(decodeRequest(method!.requestSerialize(theirs))).toEqual({ message: ours })
})

const VALUE = Buffer.from('0a027b7d', 'hex')

test.each<[string, DiscoveryResponse, object]>([
  ['nothing', {}, {}],
  ['a version', { systemVersion: '12' }, { systemVersionInfo: '12' }],
  [
    'resources',
    {
      typeUrl: 'a/b',
      resources: [
        { version: 'v', resource: { typeUrl: 'a/b', value: new Uint8Array(VALUE) }, name: 'n' },
        { name: '' },
      ],
    },
    {
      typeUrl: 'a/b',
      resources: [{ version: 'v', resource: { type_url: 'a/b', value: VALUE }, name: 'n' }, { name: '' }],
    },
  ],
  ['removed names', { removed: ['a', 'b'] }, { removedResources: ['a', 'b'] }],
  ['a nonce', { nonce: '3' }, { nonce: '3' }],
])('a response with %s, in both directions', (_, ours, theirs) => {
  expect(method!.responseDeserialize(Buffer.from(encodeResponse(ours)))).toMatchObject(theirs)
  expect(normal(decodeResponse(new Uint8Array(method!.responseSerialize(theirs))))).toEqual(normal({ message: ours }))
})

/** proto3 does not distinguish an empty text from none. */
function normal(decoded: object): unknown {
  return JSON.parse(JSON.stringify(decoded, (_, value: unknown) => (value === '' ? undefined : value)))
}

const long = 'x'.repeat(2049)

test.each<[string, DiscoveryRequest, string]>([
  ['id', { node: { id: long } }, 'node has a value with more than 2048 characters'],
  ['type', { typeUrl: long }, 'type_url has a value with more than 2048 characters'],
  ['nonce', { responseNonce: long }, 'response_nonce has a value with more than 2048 characters'],
  ['name', { subscribe: [long] }, 'resource_names_subscribe has a value with more than 2048 characters'],
  ['unwanted name', { unsubscribe: [long] }, 'resource_names_unsubscribe has a value with more than 2048 characters'],
  [
    'version',
    { initialVersions: new Map([['a', long]]) },
    'initial_resource_versions has a value with more than 2048 characters',
  ],
])('a request with a long %s is refused', (_, request, fault) => {
  expect(decodeRequest(encodeRequest(request))).toEqual({ fault })
})

test.each<[string, DiscoveryResponse, string]>([
  ['name', { resources: [{ name: long }] }, 'resources has a value with more than 2048 characters'],
  ['removed name', { removed: [long] }, 'removed_resources has a value with more than 2048 characters'],
  ['nonce', { nonce: long }, 'nonce has a value with more than 2048 characters'],
])('a response with a long %s is refused', (_, response, fault) => {
  expect(decodeResponse(encodeResponse(response))).toEqual({ fault })
})

test('a message with too many names or bytes is refused', () => {
  const subscribe = Array.from({ length: 500_001 }, () => '')
  expect(decodeRequest(encodeRequest({ subscribe }))).toEqual({
    fault: 'resource_names_subscribe has more than 500000 values',
  })
  const large = { errorDetail: { message: 'x'.repeat(16 * 1024 * 1024) } }
  expect(decodeRequest(encodeRequest(large))).toEqual({
    fault: 'the message has 16777226 bytes; the limit is 16777216',
  })
})

test('no bytes throw, and faults quote nothing', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
      for (const decoded of [decodeRequest(bytes), decodeResponse(bytes)])
        if ('fault' in decoded) expect(decoded.fault).toMatch(/^the message is not a DeltaDiscovery(Request|Response)$/)
    }),
  )
})
