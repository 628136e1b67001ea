import { expect, test } from 'vitest'
import { keyOf } from '#api/object.ts'
import { admitObject } from '#test/support/admit-object.ts'
import { translate } from '../translate.ts'
import { createRouteMemo } from './translate-routes.ts'

const gateway = (hostname: string) => ({
  kind: 'Gateway',
  metadata: { name: 'main' },
  spec: { gatewayClassName: 'gatewright', listeners: [{ name: 'http', port: 8080, protocol: 'HTTP', hostname }] },
})
const route = (name: string, path: string) => ({
  kind: 'HTTPRoute',
  metadata: { name },
  spec: {
    parentRefs: [{ name: 'main' }],
    hostnames: ['a.example'],
    rules: [
      {
        matches: [{ path: { value: path } }],
        backendRefs: [
          { name: 'svc', port: 80 },
          { name: 'svc', namespace: 'other', port: 80 },
          { group: 'gatewright.dev', kind: 'ProxyBackend', name: 'app' },
        ],
      },
    ],
  },
})
const service = (namespace: string, port: number) => ({
  kind: 'Service',
  metadata: { name: 'svc', namespace },
  spec: { ports: [{ port }] },
})
const backend = (host: string) => ({
  kind: 'ProxyBackend',
  metadata: { name: 'app' },
  spec: { static: { host, port: 1 } },
})
const grant = {
  kind: 'ReferenceGrant',
  metadata: { name: 'g', namespace: 'other' },
  spec: {
    from: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: 'default' }],
    to: [{ group: '', kind: 'Service' }],
  },
}

/** One edit after the other; undefined takes the object of that key away. */
const edits: readonly (readonly [key: string, object: unknown])[] = [
  ['HTTPRoute/default/a', route('a', '/a')],
  ['HTTPRoute/default/b', route('b', '/b')],
  ['Gateway/default/main', gateway('a.example')],
  ['Service/default/svc', service('default', 80)],
  ['ProxyBackend/default/app', backend('one')],
  ['ProxyBackend/default/app', backend('two')],
  ['Service/other/svc', service('other', 80)],
  ['ReferenceGrant/other/g', grant],
  ['HTTPRoute/default/a', route('a', '/other')],
  ['Service/default/svc', service('default', 81)],
  ['ReferenceGrant/other/g', undefined],
  ['ProxyBackend/default/app', undefined],
  ['Gateway/default/main', gateway('b.example')],
  ['HTTPRoute/default/b', undefined],
  ['Gateway/default/main', undefined],
]

test('remembered routes are what a fresh translation makes of them, after every edit', () => {
  const memo = createRouteMemo()
  const objects = new Map<string, ReturnType<typeof admitObject>>()
  for (const [key, raw] of edits) {
    if (raw === undefined) objects.delete(key)
    else objects.set(key, admitObject(raw))
    expect([...objects.values()].map(keyOf)).toEqual([...objects.keys()])
    const fresh = translate([...objects.values()])
    const remembered = translate([...objects.values()], { memo })
    expect(remembered.items).toEqual(fresh.items)
    expect(remembered.findings).toEqual(fresh.findings)
    expect(remembered.statuses).toEqual(fresh.statuses)
  }
})

test('a route that did not change keeps its items', () => {
  const memo = createRouteMemo()
  const still = [gateway('a.example'), service('default', 80), route('a', '/a')].map(admitObject)
  const before = translate([...still, admitObject(route('b', '/b'))], { memo })
  const after = translate([...still, admitObject(route('b', '/c')), admitObject(backend('x'))], { memo })
  const later = translate([...still, admitObject(route('b', '/d')), admitObject(backend('y'))], { memo })
  expect(after.items.get('HTTPRoute/default/a/0')).not.toBe(before.items.get('HTTPRoute/default/a/0'))
  expect(later.items.get('HTTPRoute/default/a/0')).toBe(after.items.get('HTTPRoute/default/a/0'))
  expect(later.items.get('HTTPRoute/default/b/0')).not.toEqual(after.items.get('HTTPRoute/default/b/0'))
})
