import { expect, test } from 'vitest'
import { admitObject } from '#test/support/admit-object.ts'
import { inContext } from '../testing.ts'
import { resolveBackend } from './resolve-backend.ts'

const GATEWAY_GROUP = 'gateway.networking.k8s.io'
const OWN_GROUP = 'gatewright.dev'

const service = (namespace: string) =>
  admitObject({ kind: 'Service', metadata: { name: 'web', namespace }, spec: { ports: [{ port: 80 }] } })
const backend = admitObject({
  kind: 'ProxyBackend',
  metadata: { name: 'web' },
  spec: { static: { host: '127.0.0.1', port: 9000 } },
})
const grantTo = (group: string, kind: string) =>
  admitObject({
    kind: 'ReferenceGrant',
    metadata: { name: 'g', namespace: 'other' },
    spec: { from: [{ group, kind, namespace: 'default' }], to: [{ group: '', kind: 'Service' }] },
  })

const from = (kind: string) => ({ kind, metadata: { namespace: 'default', name: 'a' } }) as const

test.each([
  ['a Service', { name: 'web', port: 80 }, 'Service/default/web/80', undefined],
  ['a ProxyBackend', { group: OWN_GROUP, kind: 'ProxyBackend', name: 'web' }, 'ProxyBackend/default/web', undefined],
  ['another kind', { group: 'example.com', kind: 'Bucket', name: 'web' }, undefined, 'InvalidKind'],
  ['the kind of another group', { kind: 'ProxyBackend', name: 'web' }, undefined, 'InvalidKind'],
  ['no port', { name: 'web' }, undefined, 'UnsupportedValue'],
  ['a port that the Service has not', { name: 'web', port: 81 }, 'Service/default/web/81', 'BackendNotFound'],
  ['a Service that does not exist', { name: 'gone', port: 80 }, 'Service/default/gone/80', 'BackendNotFound'],
  [
    'a ProxyBackend that does not exist',
    { group: OWN_GROUP, kind: 'ProxyBackend', name: 'gone' },
    'ProxyBackend/default/gone',
    'BackendNotFound',
  ],
  ['another namespace', { name: 'web', namespace: 'other', port: 80 }, 'Service/other/web/80', 'RefNotPermitted'],
])('a reference to %s', (_, ref, key, reason) => {
  const objects = [service('default'), service('other'), backend]
  const { result } = inContext(objects, (context) => resolveBackend(context, from('HTTPRoute'), ref))
  expect([result.key, result.fault?.reason]).toEqual([key, reason])
})

test.each([
  ['HTTPRoute', GATEWAY_GROUP],
  ['GRPCRoute', GATEWAY_GROUP],
  ['ProxyPolicy', OWN_GROUP],
  ['ProxyBackend', OWN_GROUP],
])('a ReferenceGrant permits a %s by its own group, %s', (kind, group) => {
  const ref = { name: 'web', namespace: 'other', port: 80 }
  const reasonWith = (granted: string) =>
    inContext([service('other'), grantTo(granted, kind)], (context) => resolveBackend(context, from(kind), ref)).result
      .fault?.reason
  expect(reasonWith(group)).toBeUndefined()
  expect(reasonWith(group === OWN_GROUP ? GATEWAY_GROUP : OWN_GROUP)).toBe('RefNotPermitted')
})
