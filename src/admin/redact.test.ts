import { expect, test } from 'vitest'
import type { BackendItem, PlanItem, PolicyItem, SecretItem } from '#plan/item.ts'
import { redactItem, redactSpec } from './redact.ts'

const origin = { kind: 'ProxyPolicy', namespace: 'default', name: 'p' }

function policy(section: PolicyItem['section'], field: string, spec: unknown): PolicyItem {
  return {
    kind: 'policy',
    key: `Policy/${field}`,
    section,
    phase: undefined,
    field,
    target: 'Gateway/default/main',
    level: 'Gateway',
    spec,
    origin,
    path: `spec.${section}.${field}`,
    created: '',
  }
}

const specs: readonly (readonly [what: string, spec: unknown, shown: unknown])[] = [
  ['a key towards a backend', { auth: { key: 'sk-1' } }, { auth: { key: '<redacted>' } }],
  ['a key by reference', { auth: { secretRef: { name: 'keys' } } }, { auth: { secretRef: { name: 'keys' } } }],
  [
    'a key deep inside a backend',
    { groups: [{ providers: [{ name: 'a', policies: { auth: { key: 'sk-1' } } }] }] },
    { groups: [{ providers: [{ name: 'a', policies: { auth: { key: '<redacted>' } } }] }] },
  ],
  [
    'users',
    { basicAuthentication: { realm: 'r', users: ['ann:$apr1$x$y', 'no-colon'] } },
    { basicAuthentication: { realm: 'r', users: ['ann:<redacted>', '<redacted>'] } },
  ],
  ['users that are no list', { basicAuthentication: { users: 7 } }, { basicAuthentication: { users: '<redacted>' } }],
  [
    'an inline key set',
    { jwtAuthentication: { providers: [{ issuer: 'i', jwks: { inline: '{"keys":[]}' } }] } },
    { jwtAuthentication: { providers: [{ issuer: 'i', jwks: { inline: '<redacted>' } }] } },
  ],
  [
    'a credential in a header that is set',
    { headerModifiers: { request: { set: [{ name: 'Authorization', value: 'Bearer a' }] } } },
    { headerModifiers: { request: { set: [{ name: 'Authorization', value: '<redacted>' }] } } },
  ],
  ['another header', { set: [{ name: 'x-tag', value: 'a' }] }, { set: [{ name: 'x-tag', value: 'a' }] }],
  ['a header that is matched', { name: 'authorization', type: 'Exact' }, { name: 'authorization', type: 'Exact' }],
  ['a key that is no credential', { labels: { key: 'a' }, key: 'b' }, { labels: { key: 'a' }, key: 'b' }],
  ['plain values', [1, null, true, 'text', {}], [1, null, true, 'text', {}]],
]

for (const [what, spec, shown] of specs) {
  test(`redacts a spec: ${what}`, () => expect(redactSpec(spec)).toEqual(shown))
}

test('a Secret shows the names of its entries only', () => {
  const secret: SecretItem = {
    kind: 'secret',
    key: 'Secret/default/keys',
    namespace: 'default',
    name: 'keys',
    labels: { app: 'shop' },
    data: { ann: 'k-ann', bob: '' },
    origin,
  }
  expect(redactItem(secret)).toEqual({ ...secret, data: { ann: '<redacted>', bob: '<redacted>' } })
})

test('the field of a policy counts as the first name of the path', () => {
  expect(redactItem(policy('backend', 'auth', { key: 'sk-1' }))).toMatchObject({ spec: { key: '<redacted>' } })
  expect(redactItem(policy('traffic', 'basicAuthentication', { users: ['a:b'] }))).toMatchObject({
    spec: { users: ['a:<redacted>'] },
  })
})

test('the inline policies of a backend are redacted', () => {
  const backend: BackendItem = {
    kind: 'backend',
    key: 'ProxyBackend/default/models',
    namespace: 'default',
    name: 'models',
    type: 'mcp',
    spec: { targets: [{ name: 'a', policies: { auth: { key: 'sk-1' } } }] },
    broken: undefined,
    origin,
  }
  expect(JSON.stringify(redactItem(backend))).not.toContain('sk-1')
})

test('an item without secrets stays as it is', () => {
  const item: PlanItem = { kind: 'endpoints', key: 'Endpoints/default/a/80', addresses: [], origin }
  expect(redactItem(item)).toBe(item)
})

test('the item itself is not changed', () => {
  const item = policy('backend', 'auth', { key: 'sk-1' })
  redactItem(item)
  expect(item).toMatchObject({ spec: { key: 'sk-1' } })
})
