import { expect, test } from 'vitest'
import { SecretSet } from '#base/secret-set.ts'
import type { PolicyItem, SecretItem } from '#plan/item.ts'
import { admitObject } from '#test/support/admit-object.ts'
import { noteSecrets, secretsOfItem, secretsOfObject } from './secret-values.ts'

const SECRET = admitObject({
  kind: 'Secret',
  metadata: { name: 'keys' },
  data: { bob: 'c2VjcmV0LWJvYg==' },
  stringData: { ann: 'secret-\u00e4nn' },
})
const POLICY = admitObject({
  kind: 'ProxyPolicy',
  metadata: { name: 'p' },
  spec: {
    targetRefs: [{ group: '', kind: 'Service', name: 's' }],
    backend: { auth: { key: 'inline-key' } },
  },
})
const BACKEND = admitObject({
  kind: 'ProxyBackend',
  metadata: { name: 'models' },
  spec: { ai: { groups: [{ providers: [{ name: 'a', providerOne: {}, policies: { auth: { key: 'deep-key' } } }] }] } },
})
const CONFIG_MAP = admitObject({ kind: 'ConfigMap', metadata: { name: 'plain' }, data: { text: 'shown' } })

test.each([
  ['a Secret, as byte text', SECRET, ['secret-bob', 'secret-\u00c3\u00a4nn']],
  ['a policy', POLICY, ['inline-key']],
  ['a provider deep inside a backend', BACKEND, ['deep-key']],
  ['an object without secrets', CONFIG_MAP, []],
])('secrets of %s', (_, object, secrets) => expect(secretsOfObject(object)).toEqual(secrets))

test('secrets of items of the plan', () => {
  const { origin } = POLICY
  const secret: SecretItem = {
    kind: 'secret',
    key: 'k',
    namespace: 'n',
    name: 'a',
    labels: {},
    data: { a: 'b' },
    origin,
  }
  expect(secretsOfItem(secret)).toEqual(['b'])
  const auth = { kind: 'policy', path: 'spec.backend.auth', spec: { key: 'inline-key' }, origin } as PolicyItem
  expect(secretsOfItem(auth)).toEqual(['inline-key'])
})

test('the secrets of objects are known from their changes', () => {
  const secrets = new SecretSet()
  noteSecrets(secrets, { set: [SECRET, POLICY, CONFIG_MAP], removed: [] })
  expect(secrets.hide('secret-bob inline-key shown')).toBe('<redacted> <redacted> shown')
  const { version } = secrets
  noteSecrets(secrets, { set: [{ ...POLICY }], removed: [CONFIG_MAP] })
  expect(secrets.version, 'no secret has changed').toBe(version)
  noteSecrets(secrets, { set: [BACKEND], removed: [SECRET] })
  expect(secrets.hide('deep-key inline-key')).toBe('<redacted> <redacted>')
  expect(secrets.hide('secret-bob'), 'a record may have it').toBe('<redacted>')
})
