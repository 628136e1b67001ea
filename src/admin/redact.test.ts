import { expect, test } from 'vitest'
import type { BackendItem, PlanItem, PolicyItem, SecretItem } from '#plan/item.ts'
import { redactItem } from './redact.ts'

const origin = { kind: 'ProxyPolicy', namespace: 'default', name: 'p' }

function policy(section: PolicyItem['section'], field: string, spec: unknown): PolicyItem {
  const item = {
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
  return item as PolicyItem
}

const KEY = { key: 'sk-1' }
const HIDDEN = { key: '<redacted>' }

const specs: readonly (readonly [
  what: string,
  section: PolicyItem['section'],
  field: string,
  spec: unknown,
  shown: unknown,
])[] = [
  ['a key towards a backend', 'backend', 'auth', KEY, HIDDEN],
  ['a key by reference', 'backend', 'auth', { secretRef: { name: 'keys' } }, { secretRef: { name: 'keys' } }],
  [
    'users',
    'traffic',
    'basicAuthentication',
    { realm: 'r', users: ['ann:$apr1$x$y', 'no-colon'] },
    { realm: 'r', users: ['ann:<redacted>', '<redacted>'] },
  ],
  ['a user that is no text', 'traffic', 'basicAuthentication', { users: [7] }, { users: ['<redacted>'] }],
  [
    'an inline key set',
    'traffic',
    'jwtAuthentication',
    { providers: [{ issuer: 'i', jwks: { inline: '{"keys":[]}' } }] },
    { providers: [{ issuer: 'i', jwks: { inline: '<redacted>' } }] },
  ],
  ...['Authorization', 'x-goog-api-key', 'X-Auth-Token', 'Ocp-Apim-Subscription-Key', 'x-api-key'].map(
    (name) =>
      [
        `a header that is set: ${name}`,
        'traffic',
        'headerModifiers',
        { request: { set: [{ name, value: 's' }] } },
        { request: { set: [{ name, value: '<redacted>' }] } },
      ] as const,
  ),
  [
    'an expression for a header',
    'traffic',
    'transformation',
    { request: { set: [{ name: 'x-api-key', value: '"s"' }] } },
    { request: { set: [{ name: 'x-api-key', value: '<redacted>' }] } },
  ],
  [
    'another header',
    'traffic',
    'headerModifiers',
    { set: [{ name: 'x-tag', value: 'a' }] },
    { set: [{ name: 'x-tag', value: 'a' }] },
  ],
  [
    'a header that is matched',
    'traffic',
    'cors',
    { name: 'authorization', type: 'Exact' },
    { name: 'authorization', type: 'Exact' },
  ],
  ['what has no schema', 'traffic', 'nothing', { labels: { key: 'a' }, key: 'b' }, { labels: { key: 'a' }, key: 'b' }],
  ['plain values', 'traffic', 'nothing', [1, null, true, 'text', {}], [1, null, true, 'text', {}]],
]

for (const [what, section, field, spec, shown] of specs) {
  test(`redacts a policy: ${what}`, () =>
    expect(redactItem(policy(section, field, spec))).toMatchObject({ spec: shown }))
}

test('a policy of a provider deep inside a backend', () => {
  const item = {
    ...policy('backend', 'auth', KEY),
    origin: { ...origin, kind: 'ProxyBackend' },
    path: 'spec.ai.groups[0].providers[1].policies.auth',
  }
  expect(redactItem(item)).toMatchObject({ spec: HIDDEN })
})

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

test('the inline policies of a backend are redacted', () => {
  const backend = {
    kind: 'backend',
    key: 'ProxyBackend/default/models',
    namespace: 'default',
    name: 'models',
    type: 'mcp',
    spec: { targets: [{ name: 'a', static: { host: 'h', policies: { auth: KEY } } }] },
    broken: undefined,
    origin: { ...origin, kind: 'ProxyBackend' },
  }
  expect(redactItem(backend as object as BackendItem)).toMatchObject({
    spec: { targets: [{ static: { host: 'h', policies: { auth: HIDDEN } } }] },
  })
})

test('an item without secrets stays as it is', () => {
  const item: PlanItem = { kind: 'endpoints', key: 'Endpoints/default/a/80', addresses: [], origin }
  expect(redactItem(item)).toEqual(item)
})

test('the item itself is not changed', () => {
  const item = policy('backend', 'auth', { key: 'sk-1' })
  redactItem(item)
  expect(item).toMatchObject({ spec: { key: 'sk-1' } })
})
