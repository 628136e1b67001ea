import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { translate } from '#control/translate.ts'
import type { PlanItem } from '#plan/item.ts'
import { readCases } from '#test/cases/golden-case.ts'
import { admitObject } from '#test/support/admit-object.ts'
import { GatewayScopes } from './gateway-scopes.ts'

const CASES = readCases(fileURLToPath(new URL('../../test/cases/translate', import.meta.url)))

function scopesOf(objects: readonly unknown[]) {
  const items = [...translate(objects.map(admitObject), { allowsExternalNames: true }).items.values()]
  const scopes = new GatewayScopes()
  scopes.take({ set: items, removed: [] })
  return { items, scopes }
}

describe('every item belongs to a Gateway, but backends that no route uses and what only they use', () => {
  for (const { name, given } of CASES) {
    test(name, () => {
      const { items, scopes } = scopesOf(given)
      const of = (keys: readonly string[]) => new Set(keys.flatMap((key) => [...scopes.itemsOf(key)]))
      const keysOf = (list: readonly PlanItem[]) => list.map(({ key }) => key)
      const used = of(keysOf(items.filter(({ kind }) => kind === 'gateway')))
      const left = items.filter(({ key }) => !used.has(key))
      const idle = of(keysOf(left).filter((key) => key.startsWith('ProxyBackend/')))
      // What is translated of policies without any use is harmless anywhere.
      expect(keysOf(left.filter(({ key, kind }) => !idle.has(key) && kind !== 'policy'))).toEqual([])
    })
  }
})

const GATEWAY = 'gateway.networking.k8s.io'
const gateway = (name: string, port: number) => ({
  kind: 'Gateway',
  metadata: { name },
  spec: { gatewayClassName: 'gatewright', listeners: [{ name: 'http', port, protocol: 'HTTP' }] },
})
const route = (name: string, backend: string) => ({
  kind: 'HTTPRoute',
  metadata: { name },
  spec: { parentRefs: [{ name }], rules: [{ backendRefs: [{ name: backend, port: 80 }] }] },
})
const service = (name: string) => ({ kind: 'Service', metadata: { name }, spec: { ports: [{ port: 80 }] } })
const keys = (target: string, secret: object) => ({
  kind: 'ProxyPolicy',
  metadata: { name: `keys-${target}` },
  spec: {
    targetRefs: [{ group: GATEWAY, kind: 'HTTPRoute', name: target }],
    traffic: { apiKeyAuthentication: secret },
  },
})
const secret = (name: string, labels = {}) => ({ kind: 'Secret', metadata: { name, labels }, stringData: { a: 'b' } })

const OBJECTS = [
  gateway('one', 8080),
  gateway('two', 8081),
  route('one', 'a'),
  route('two', 'b'),
  service('a'),
  service('b'),
  keys('one', { secretRef: { name: 'first' } }),
  keys('two', { secretSelector: { matchLabels: { for: 'two' } } }),
  secret('first'),
  secret('second', { for: 'two' }),
]

test('a Gateway has the Secrets and backends of its own routes only', () => {
  const { scopes } = scopesOf(OBJECTS)
  expect([...scopes.itemsOf('Gateway/default/one')].sort()).toEqual([
    'Endpoints/default/a/80',
    'Gateway/default/one',
    'HTTPRoute/default/one/0',
    'Listener/default/one/http',
    'Policy/HTTPRoute/default/one/traffic/PostRouting/apiKeyAuthentication/ProxyPolicy/default/keys-one',
    'Secret/default/first',
    'Service/default/a/80',
  ])
  expect([...scopes.itemsOf('Gateway/default/two')].filter((key) => key.startsWith('Secret/'))).toEqual([
    'Secret/default/second',
  ])
  expect(scopes.itemsOf('Gateway/default/three')).toEqual([])
})

test('a Gateway has the backends of filters', () => {
  const mirror = (name: string) => ({ type: 'RequestMirror', requestMirror: { backendRef: { name, port: 80 } } })
  const externalAuth = { protocol: 'HTTP', http: {}, backendRef: { name: 'authorizer', port: 80 } }
  const rule = {
    filters: [mirror('first'), mirror('second'), { type: 'ExternalAuth', externalAuth }],
    backendRefs: [{ name: 'a', port: 80, filters: [mirror('third')] }],
  }
  const services = ['a', 'first', 'second', 'third', 'authorizer']
  const { scopes } = scopesOf([
    gateway('one', 8080),
    { ...route('one', 'a'), spec: { parentRefs: [{ name: 'one' }], rules: [rule] } },
    ...services.map(service),
  ])
  const used = new Set(scopes.itemsOf('Gateway/default/one'))
  const missing = services.flatMap((name) => [`Service/default/${name}/80`, `Endpoints/default/${name}/80`])
  expect(missing.filter((key) => !used.has(key))).toEqual([])
})

test('what a Gateway uses changes with references and labels, not with values', () => {
  const { items, scopes } = scopesOf(OBJECTS)
  const find = (key: string) => items.find((item) => item.key === key)!
  const second = find('Secret/default/second') as Extract<PlanItem, { kind: 'secret' }>
  const rule = find('HTTPRoute/default/one/0') as Extract<PlanItem, { kind: 'route' }>
  const take = (...set: readonly PlanItem[]) => scopes.take({ set, removed: [] })
  expect(take({ ...second, data: { a: 'c' } })).toBe(false)
  expect(take({ ...second, labels: {} })).toBe(true)
  expect(scopes.itemsOf('Gateway/default/two').includes(second.key)).toBe(false)
  expect(take({ ...rule, created: '2026-01-01T00:00:00Z' })).toBe(false)
  expect(take({ ...rule, backends: [] })).toBe(true)
  expect(scopes.itemsOf('Gateway/default/one').includes('Service/default/a/80')).toBe(false)
  expect(scopes.take({ set: [], removed: [rule.key] })).toBe(true)
  expect(scopes.itemsOf('Gateway/default/one').includes(rule.key)).toBe(false)
})

test('without a ReferenceGrant, a Gateway does not get a Secret of another namespace that another Gateway has', () => {
  const withCertificate = (namespace: string, port: number) => ({
    kind: 'Gateway',
    metadata: { name: 'main', namespace },
    spec: {
      ...gateway('main', port).spec,
      tls: { backend: { clientCertificateRef: { name: 'client', namespace: 'certificates' } } },
    },
  })
  const { scopes } = scopesOf([
    withCertificate('default', 8080),
    withCertificate('certificates', 8081),
    {
      kind: 'Secret',
      metadata: { name: 'client', namespace: 'certificates' },
      stringData: { 'tls.crt': '-----BEGIN CERTIFICATE-----', 'tls.key': '-----BEGIN PRIVATE KEY-----' },
    },
  ])
  expect(scopes.itemsOf('Gateway/certificates/main')).toContain('Secret/certificates/client')
  expect(scopes.itemsOf('Gateway/default/main')).not.toContain('Secret/certificates/client')
})
