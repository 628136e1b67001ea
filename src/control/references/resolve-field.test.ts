import { expect, test } from 'vitest'
import type { PolicySection } from '#api/policy-fields.ts'
import { admitObject } from '#test/support/admit-object.ts'
import { verifies } from '#test/support/verifies.ts'
import { inContext } from '../testing.ts'
import { resolveField } from './resolve-field.ts'

const objects = [
  { kind: 'Secret', metadata: { name: 'full' }, stringData: { Authorization: 'x', '.htaccess': 'x' } },
  { kind: 'Secret', metadata: { name: 'empty', labels: { a: 'b' } } },
  { kind: 'ConfigMap', metadata: { name: 'ca' }, data: { 'ca.crt': 'x' } },
  { kind: 'ConfigMap', metadata: { name: 'other' }, data: { x: 'x' } },
  { kind: 'ProxyBackend', metadata: { name: 'static' }, spec: { static: { host: 'a', port: 1 } } },
  { kind: 'ProxyBackend', metadata: { name: 'agent' }, spec: { a2a: { host: 'a', port: 1 } } },
  { kind: 'ProxyBackend', metadata: { name: 'any' }, spec: { dynamicForwardProxy: {} } },
  { kind: 'Service', metadata: { name: 'svc' }, spec: { ports: [{ port: 80 }] } },
].map(admitObject)

const object = admitObject({
  kind: 'ProxyPolicy',
  metadata: { name: 'p' },
  spec: { targetRefs: [{ group: '', kind: 'Service', name: 'svc' }], backend: { tcp: { connectTimeout: '1s' } } },
})

function resolve(section: PolicySection, field: string, spec: unknown) {
  const { result, findings } = inContext(objects, (context) =>
    resolveField(context, { object, section, field, path: `spec.${section}.${field}`, spec }, context.reportOn(object)),
  )
  return { ...result, found: findings.map(({ path, code }) => `${path} ${code}`) }
}

const backend = (name: string) => ({ group: 'gatewright.dev', kind: 'ProxyBackend', name })

const references = [
  ['traffic', 'extAuth', { backendRef: backend('agent') }, ['ProxyBackend/default/agent'], []],
  [
    'traffic',
    'extAuth',
    { conditional: [{ policy: { backendRef: { name: 'svc', port: 80 } } }] },
    ['Service/default/svc/80'],
    [],
  ],
  ['traffic', 'extAuth', { backendRef: backend('gone') }, [], ['spec.traffic.extAuth.backendRef backend-not-found']],
  [
    'traffic',
    'extAuth',
    { backendRef: { name: 'svc', port: 81 } },
    [],
    ['spec.traffic.extAuth.backendRef.port backend-port-unknown'],
  ],
  [
    'traffic',
    'extAuth',
    { backendRef: backend('any') },
    ['ProxyBackend/default/any'],
    ['spec.traffic.extAuth.backendRef backend-without-address'],
  ],
  ['traffic', 'extAuth', { backendRef: { name: 'svc' } }, [], ['spec.traffic.extAuth.backendRef backend-port-missing']],
  [
    'frontend',
    'tracing',
    { backendRef: { group: 'x', kind: 'Y', name: 'z' } },
    [],
    ['spec.frontend.tracing.backendRef.kind backend-kind-unknown'],
  ],
  ['traffic', 'csrf', { backendRef: backend('gone') }, [], []],
] as const

for (const [section, field, spec, backends, found] of references) {
  verifies('platform/backend-object-reference', `${field} ${JSON.stringify(spec)}`, () => {
    expect(resolve(section, field, spec)).toMatchObject({ backends, found })
  })
}

test.each([
  ['a static backend', backend('static'), []],
  ['a Service', { name: 'svc', port: 80 }, []],
  [
    'a backend of another kind',
    backend('agent'),
    ['spec.traffic.jwtAuthentication.providers[0].jwks.remote.backendRef key-set-backend'],
  ],
])('a key set comes from %s', (_, backendRef, found) => {
  expect(resolve('traffic', 'jwtAuthentication', { providers: [{ jwks: { remote: { backendRef } } }] }).found).toEqual(
    found,
  )
})

const material = [
  ['backend', 'auth', { secretRef: { name: 'full' } }, ['Secret/default/full'], []],
  ['backend', 'auth', { secretRef: { name: 'gone' } }, [], ['spec.backend.auth.secretRef secret-not-found']],
  [
    'backend',
    'auth',
    { secretRef: { name: 'empty' } },
    ['Secret/default/empty'],
    ['spec.backend.auth.secretRef secret-key-missing'],
  ],
  ['traffic', 'basicAuthentication', { secretRef: { name: 'full' } }, ['Secret/default/full'], []],
  ['traffic', 'apiKeyAuthentication', { secretRef: { name: 'empty' } }, ['Secret/default/empty'], []],
  ['traffic', 'apiKeyAuthentication', { secretSelector: { matchLabels: { a: 'b' } } }, ['Secret/default/empty'], []],
  [
    'traffic',
    'apiKeyAuthentication',
    { secretSelector: { matchLabels: { a: 'c' } } },
    [],
    ['spec.traffic.apiKeyAuthentication.secretSelector selector-matches-nothing'],
  ],
  ['backend', 'tls', { caCertificateRefs: [{ name: 'ca' }] }, ['ConfigMap/default/ca'], []],
  [
    'backend',
    'tls',
    { caCertificateRefs: [{ name: 'gone' }] },
    [],
    ['spec.backend.tls.caCertificateRefs[0] config-map-not-found'],
  ],
  [
    'backend',
    'tls',
    { caCertificateRefs: [{ name: 'other' }] },
    ['ConfigMap/default/other'],
    ['spec.backend.tls.caCertificateRefs[0] config-map-key-missing'],
  ],
] as const

for (const [section, field, spec, keys, found] of material) {
  verifies('secrets/referenced', `${field} ${JSON.stringify(spec)}`, () => {
    expect(resolve(section, field, spec)).toMatchObject({ material: keys, found })
  })
}
