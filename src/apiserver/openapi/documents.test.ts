import { expect, test } from 'vitest'
import { parseJson } from '#base/parse-json.ts'
import { KindRegistry } from '../kinds/registry.ts'
import { reviewKinds } from '../kinds/review-kinds.ts'
import { builtInKinds } from '../platform-rules/built-in-kinds.ts'
import { ApiDocuments } from './documents.ts'

function documents() {
  const kinds = new KindRegistry([...builtInKinds(), ...reviewKinds()])
  const documents = new ApiDocuments(kinds, '1.2.3')
  // biome-ignore lint/suspicious/noExplicitAny: tests look into all documents
  const read = (path: string, accept?: string): any => parseJson(String(documents.find(path, accept)!.body))
  return { kinds, documents, read }
}

test('the core group and the others', () => {
  const { read } = documents()
  expect(read('/api')).toMatchObject({ kind: 'APIVersions', versions: ['v1'] })
  const { kind, groups } = read('/apis')
  expect(kind).toBe('APIGroupList')
  const gateway = groups.find(({ name }: { name: string }) => name === 'gateway.networking.k8s.io')
  expect(gateway).toMatchObject({ preferredVersion: { groupVersion: 'gateway.networking.k8s.io/v1', version: 'v1' } })
  expect(gateway.versions.map(({ version }: { version: string }) => version)).toEqual([
    'v1',
    'v1beta1',
    'v1alpha3',
    'v1alpha2',
  ])
  expect(read('/apis/gateway.networking.k8s.io')).toEqual({ kind: 'APIGroup', apiVersion: 'v1', ...gateway })
})

test('the paths of all documents', () => {
  const { documents: all, read } = documents()
  const { paths } = read('/')
  expect(paths).toEqual(expect.arrayContaining(['/api/v1', '/apis/gatewright.dev', '/healthz', '/openapi/v3']))
  for (const path of paths) expect(all.find(path, undefined), path).toBeDefined()
})

test('the kinds of a version, with their subresources', () => {
  const { groupVersion, resources } = documents().read('/apis/gatewright.dev/v1alpha1')
  expect(groupVersion).toBe('gatewright.dev/v1alpha1')
  expect(resources.map(({ name }: { name: string }) => name)).toEqual([
    'proxybackends',
    'proxybackends/status',
    'proxyparameters',
    'proxyparameters/status',
    'proxypolicies',
    'proxypolicies/status',
  ])
  expect(resources[0]).toEqual({
    name: 'proxybackends',
    singularName: 'proxybackend',
    namespaced: true,
    kind: 'ProxyBackend',
    verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
    shortNames: ['pbackend'],
    categories: ['gatewright'],
    storageVersionHash: expect.stringMatching(/^[\w+/]{11}=$/),
  })
  expect(resources[1]).toMatchObject({ kind: 'ProxyBackend', verbs: ['get', 'patch', 'update'] })
})

test('everything at once, if the client can read it', () => {
  const { documents: all, read } = documents()
  const accept = (version: string) =>
    `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList,application/json`
  expect(all.find('/apis', accept('v2'))?.contentType).toBe(
    'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
  )
  const core = read('/api', accept('v2beta1'))
  expect([core.apiVersion, core.items.length, core.items[0].metadata.name]).toEqual([
    'apidiscovery.k8s.io/v2beta1',
    1,
    '',
  ])
  const { items } = read('/apis', accept('v2'))
  const own = items.find(({ metadata }: { metadata: { name: string } }) => metadata.name === 'gatewright.dev')
  expect(own.versions[0].resources[0]).toMatchObject({
    resource: 'proxybackends',
    responseKind: { group: 'gatewright.dev', version: 'v1alpha1', kind: 'ProxyBackend' },
    scope: 'Namespaced',
    subresources: [{ subresource: 'status' }],
  })
  expect(read('/apis', accept('v9')).kind).toBe('APIGroupList')
})

test('the version, the health, and paths that do not exist', () => {
  const { documents: all, read } = documents()
  expect(read('/version')).toMatchObject({ major: '1', gitVersion: expect.stringContaining('+gatewright-1.2.3') })
  expect(['/healthz', '/livez', '/readyz'].map((path) => all.find(path, undefined)?.body)).toEqual(['ok', 'ok', 'ok'])
  for (const path of ['/nothing', '/api/v2', '/apis/none', '/apis/gatewright.dev/v9', '/apis/', '/other']) {
    expect(all.find(path, undefined)).toBeUndefined()
  }
})

test('the documents change with the kinds', () => {
  const { kinds, documents: all } = documents()
  const before = all.find('/apis/gatewright.dev/v1alpha1', undefined)
  expect(all.find('/apis/gatewright.dev/v1alpha1', undefined)).toBe(before)
  kinds.replace({ group: 'gatewright.dev', plural: 'proxybackends' }, [])
  const after = all.find('/apis/gatewright.dev/v1alpha1', undefined)
  expect(after?.etag).not.toBe(before?.etag)
  expect(String(after?.body)).not.toContain('proxybackends')
})

test('only questions can be asked of kinds that are not stored', () => {
  const { read } = documents()
  const { resources } = read('/apis/authorization.k8s.io/v1')
  expect(resources[0]).toMatchObject({ name: 'selfsubjectaccessreviews', verbs: ['create'] })
})
