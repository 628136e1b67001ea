import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findKind } from '#api/kinds.ts'
import { keyOf } from '#api/object.ts'
import { admit } from '#store/admit.ts'
import { FileStore } from '#store/files.ts'
import { gatewright } from '#test/support/command-line.ts'
import { backendYaml, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'

/** Fields of the Gateway API that are certainly mistakes: without them, an object would serve more than it should (decision A-07). */

const SHOP = `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: shop }
spec:
  parentRefs: [{ name: main }]
  hostnames: [shop.example]
  rules:
    - matches: [{ path: { type: PathPrefix, value: /admin } }]
      backendRefs: [{ group: gatewright.dev, kind: ProxyBackend, name: web }]
`

function open(yaml: string) {
  const file = join(temporaryFolder(), 'objects.yaml')
  writeFileSync(file, yaml)
  const store = new FileStore([file])
  const write = (next: string) => {
    writeFileSync(file, next)
    store.reload()
  }
  return { file, store, write, codes: () => store.problems().map(({ code, path }) => `${code} ${path}`.trim()) }
}

const route = (store: FileStore) => store.list().find(({ kind }) => kind === 'HTTPRoute')

const mistakes: [what: string, edit: (yaml: string) => string][] = [
  ['hostname: with a list', (yaml) => yaml.replace('hostnames:', 'hostname:')],
  ['hostname: with one name', (yaml) => yaml.replace('hostnames: [shop.example]', 'hostname: shop.example')],
  ['the word of another product', (yaml) => yaml.replace('hostnames:', 'hosts:')],
  ['matches', (yaml) => yaml.replace('matches:', 'matchs:')],
  ['match in the singular', (yaml) => yaml.replace('matches:', 'match:')],
  ['parentRefs', (yaml) => yaml.replace('parentRefs:', 'parentRef:')],
  ['backendRefs', (yaml) => yaml.replace('backendRefs:', 'backendRef:')],
  ['two of them', (yaml) => yaml.replace('hostnames:', 'hostname:').replace('matches:', 'match:')],
]

test.each(mistakes)('a route with a mistaken field keeps its matches, and refuses: %s', (_, edit) => {
  const { store, codes } = open(edit(SHOP))
  const right = open(SHOP).store
  expect(route(store)).toMatchObject({ refusal: 'never-valid' })
  const { parentRefs, hostnames, rules } = route(store)!.spec as unknown as Record<string, readonly object[]>
  const wanted = route(right)!.spec as unknown as Record<string, readonly object[]>
  expect({ parentRefs, hostnames }).toEqual({ parentRefs: wanted.parentRefs, hostnames: wanted.hostnames })
  expect(rules).toMatchObject([{ matches: [{ path: { type: 'PathPrefix', value: '/admin' } }] }])
  expect(codes()).toContainEqual(expect.stringMatching(/^unknown-field spec\./))
  // All that it matches is known, so the gateway becomes ready.
  expect(store.unknownProtection()).toEqual([])
})

test.each(mistakes)('the last valid version stays in force: %s', (_, edit) => {
  const { store, write } = open(SHOP)
  const valid = route(store)
  write(edit(SHOP))
  expect(route(store)).toBe(valid)
  expect(store.stale()).toHaveLength(1)
})

test('a match in the words of another product: it is unknown what the route matches', () => {
  const { store } = open(SHOP.replace('{ type: PathPrefix, value: /admin }', '{ prefix: /admin }'))
  expect(store.unknownProtection().map(({ code }) => code)).toEqual(['route-matches-unknown'])
})

test.each([
  ['a field that may be new', (yaml: string) => yaml.replace('  rules:', '  trafficClass: gold\n  rules:')],
  ['a field in metadata', (yaml: string) => yaml.replace('{ name: shop }', '{ name: shop, label: { a: b } }')],
])('an object with %s is used without it', (_, edit) => {
  const { store, codes } = open(edit(SHOP))
  expect(route(store)).toMatchObject({ spec: { hostnames: ['shop.example'] } })
  expect(route(store)?.refusal).toBeUndefined()
  expect(codes()).toEqual([expect.stringMatching(/^unknown-field /)])
})

test.each([
  ['Gateway', gatewayYaml(8080).replace('protocol: HTTP,', 'protocol: HTTP, hostnam: a.example,')],
  [
    'ReferenceGrant',
    `
apiVersion: gateway.networking.k8s.io/v1
kind: ReferenceGrant
metadata: { name: g }
spec:
  from: [{ group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: a }]
  to: [{ group: "", kind: Service, nme: only-this }]
`,
  ],
])('a %s with a mistaken field is not in force', (kind, yaml) => {
  const { store } = open(yaml)
  expect(store.list().filter((object) => object.kind === kind)).toEqual([])
  expect([...store.refused()]).toHaveLength(1)
})

test('an API decides itself about unknown fields: a stored object is used without them', () => {
  const info = findKind('HTTPRoute')!
  const written = {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name: 'shop', namespace: 'default' },
    spec: { parentRefs: [{ name: 'main' }], hostname: ['shop.example'] },
  }
  const stored = admit(written, { info, place: undefined })
  expect(stored.object && keyOf(stored.object)).toBe('HTTPRoute/default/shop')
  expect(admit(written, { info, place: { file: 'a.yaml', line: 1 } }).object).toBeUndefined()
})

test('requests for the mistaken hostname are refused, and those for others are not', async () => {
  const wrong = SHOP.replace('hostnames:', 'hostname:')
  const { file } = open(joinYaml(gatewayYaml(8080), backendYaml('web', 9000), routeYaml('all', '/', 'web'), wrong))
  const explain = async (url: string) =>
    JSON.parse((await gatewright(['explain', '-f', file, '-o', 'json', url])).stdout)
  expect(await explain('http://shop.example:8080/admin')).toMatchObject({
    route: { object: 'HTTPRoute default/shop' },
    outcome: { kind: 'refused', code: 'no-valid-backends' },
  })
  expect(await explain('http://other.example:8080/admin')).toMatchObject({
    route: { object: 'HTTPRoute default/all' },
    outcome: { kind: 'forwarded' },
  })
})
