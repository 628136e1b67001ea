import { expect, test } from 'vitest'
import { validate } from '#schema/index.ts'
import { findKind } from './kinds.ts'

/** The messages about unknown fields of an object. */
function unknownFields(kind: string, object: object): string[] {
  const { problems, tolerated } = validate(findKind(kind)!.schema, object, { fromFile: true })
  return [...problems, ...tolerated]
    .filter(({ code }) => code === 'unknown-field')
    .map(({ path, message }) => `${path}${message.replace(/^unknown field "[^"]*"/, '')}`)
}

const metadata = { name: 'a' }
const address = { host: '127.0.0.1', port: 9000 }
const target = { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'main' }

test.each([
  ['ProxyBackend', { metadata, static: address }, 'static; it belongs in spec'],
  ['ProxyBackend', { metadata, spec: {}, static: address }, 'static; it belongs in spec'],
  ['ProxyBackend', { metadata, spec: { static: { host: 'a' }, port: 1 } }, 'spec.port; it belongs in spec.static'],
  [
    'ProxyBackend',
    { metadata, spec: { static: { ...address, policies: { tcp: { connectTimeout: '1s' } } } } },
    'spec.static.policies; it belongs in spec',
  ],
  [
    'ProxyBackend',
    { metadata: { ...metadata, spec: { static: address } } },
    'metadata.spec; it belongs at the top level of the object',
  ],
  ['HTTPRoute', { metadata, rules: [{ backendRefs: [{ name: 'a', port: 1 }] }] }, 'rules; it belongs in spec'],
  [
    'HTTPRoute',
    { metadata, spec: { rules: [{ matches: [{ backendRefs: [{ name: 'a', port: 1 }] }] }] } },
    'spec.rules[0].matches[0].backendRefs; it belongs in spec.rules[0]',
  ],
  [
    'ProxyPolicy',
    { metadata, spec: { targetRefs: [target], backend: { cors: { allowOrigins: ['https://a.test'] } } } },
    'spec.backend.cors; it belongs in spec.traffic',
  ],
  [
    'ProxyPolicy',
    {
      metadata,
      spec: {
        targetRefs: [target],
        traffic: { extAuth: { conditional: [{ condition: 'true', backendRef: metadata }] } },
      },
    },
    'spec.traffic.extAuth.conditional[0].backendRef; it belongs in spec.traffic.extAuth.conditional[0].policy',
  ],
])('%s %j: %s', (kind, object, message) => {
  expect(unknownFields(kind, object)).toEqual([message])
})

test.each([
  // Present where it belongs.
  ['ProxyBackend', { metadata, static: address, spec: { static: address } }, 'static'],
  // Its form is wrong there.
  ['ProxyBackend', { metadata, static: 'yes', spec: { static: address } }, 'static'],
  ['ProxyBackend', { metadata, static: { weight: 1 }, spec: { static: address } }, 'static'],
  // Several objects have such a field.
  ['ProxyBackend', { metadata, spec: { port: 1 } }, 'spec.port'],
  // Many fields have such a name and such a value.
  [
    'ProxyPolicy',
    { metadata, spec: { targetRefs: [target], traffic: { apiKeyAuthentication: { secretRef: metadata, key: 'a' } } } },
    'spec.traffic.apiKeyAuthentication.key',
  ],
  [
    'ProxyPolicy',
    { metadata, spec: { targetRefs: [target], backend: { auth: { secretRef: { ...metadata, namespace: 'b' } } } } },
    'spec.backend.auth.secretRef.namespace',
  ],
])('%s %j: no place is certain for %s', (kind, object, path) => {
  const [message] = unknownFields(kind, object)
  expect(message?.startsWith(path)).toBe(true)
  expect(message).not.toContain('belongs')
})
