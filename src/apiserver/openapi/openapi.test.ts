import { expect, test } from 'vitest'
import { parseJson } from '#base/parse-json.ts'
import { KindRegistry } from '../kinds/registry.ts'
import { reviewKinds } from '../kinds/review-kinds.ts'
import type { ServedKind } from '../kinds/served-kind.ts'
import { builtInKinds } from '../platform-rules/built-in-kinds.ts'
import { definitionName } from './definition-names.ts'
import { ApiDocuments } from './documents.ts'
import { swaggerSchema } from './openapi-v2.ts'
import { operationsOf } from './operations.ts'

const KINDS = [...builtInKinds(), ...reviewKinds()]
const registry = new KindRegistry(KINDS)
const documents = new ApiDocuments(registry, '1.2.3')
// biome-ignore lint/suspicious/noExplicitAny: tests look into all documents
const read = (path: string): any => parseJson(String(documents.find(path, undefined)!.body))

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1'

/** All references in a document that lead nowhere. */
function brokenReferences(document: object, schemas: object, prefix: string): readonly string[] {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, target]) => target!)
  return references.filter((target) => !target.startsWith(prefix) || !(target.slice(prefix.length) in schemas))
}

test('the index of OpenAPI 3.0 leads to one document for each version', () => {
  const { paths } = read('/openapi/v3')
  expect(Object.keys(paths).sort()).toEqual(
    [
      ...new Set(KINDS.map(({ group, version }) => (group === '' ? `api/${version}` : `apis/${group}/${version}`))),
    ].sort(),
  )
  const { serverRelativeURL } = paths['apis/gatewright.dev/v1alpha1']
  expect(serverRelativeURL).toMatch(/^\/openapi\/v3\/apis\/gatewright\.dev\/v1alpha1\?hash=[0-9A-F]{64}$/)
  for (const path of Object.keys(paths)) {
    const document = read(`/openapi/v3/${path}`)
    expect(document.openapi).toBe('3.0.0')
    expect(brokenReferences(document, document.components.schemas, '#/components/schemas/')).toEqual([])
  }
  expect(documents.find('/openapi/v3/api/v2', undefined)).toBeUndefined()
})

test('the schema of a kind names it, and refers to the metadata that all kinds share', () => {
  const { components } = read('/openapi/v3/apis/gatewright.dev/v1alpha1')
  const backend = components.schemas['dev.gatewright.v1alpha1.ProxyBackend']
  expect(backend['x-kubernetes-group-version-kind']).toEqual([
    { group: 'gatewright.dev', kind: 'ProxyBackend', version: 'v1alpha1' },
  ])
  expect(backend.properties.metadata.allOf).toEqual([{ $ref: `#/components/schemas/${META}.ObjectMeta` }])
  expect(backend.properties.spec.properties.static.properties.port).toMatchObject({ type: 'integer', maximum: 65_535 })
  expect(backend.required).toEqual(['spec'])
  const list = components.schemas['dev.gatewright.v1alpha1.ProxyBackendList']
  expect(list.properties.items).toMatchObject({
    type: 'array',
    items: { $ref: '#/components/schemas/dev.gatewright.v1alpha1.ProxyBackend' },
  })
})

/** `kubectl` finds out with these whether the server validates fields, and whether it has dry runs. */
test('a patch has the parameters that kubectl looks for', () => {
  const { paths } = read('/openapi/v3/apis/gateway.networking.k8s.io/v1')
  const { patch } = paths['/apis/gateway.networking.k8s.io/v1/namespaces/{namespace}/httproutes/{name}']
  expect(patch['x-kubernetes-group-version-kind']).toEqual({
    group: 'gateway.networking.k8s.io',
    kind: 'HTTPRoute',
    version: 'v1',
  })
  const typeOf = ({ name, schema }: { name: string; schema: { type: string } }) => [name, schema.type]
  expect(patch.parameters.map(typeOf)).toEqual([
    ['dryRun', 'string'],
    ['fieldManager', 'string'],
    ['fieldValidation', 'string'],
    ['force', 'boolean'],
  ])
  expect(Object.keys(patch.requestBody.content)).not.toContain('application/strategic-merge-patch+json')
})

test('operations of a kind without namespaces, and of a question', () => {
  const listed = (name: string) =>
    operationsOf(KINDS.find(({ kind }) => kind === name)!).map(({ method, path }) => `${method} ${path}`)
  expect(listed('Namespace')).toEqual([
    'get /api/v1/namespaces',
    'post /api/v1/namespaces',
    'get /api/v1/namespaces/{name}',
    'put /api/v1/namespaces/{name}',
    'patch /api/v1/namespaces/{name}',
    'delete /api/v1/namespaces/{name}',
    'get /api/v1/namespaces/{name}/status',
    'put /api/v1/namespaces/{name}/status',
    'patch /api/v1/namespaces/{name}/status',
  ])
  expect(listed('SelfSubjectAccessReview')).toEqual(['post /apis/authorization.k8s.io/v1/selfsubjectaccessreviews'])
})

test('kinds with strategic merge patches have the merge keys of their lists', () => {
  const { components, paths } = read('/openapi/v3/api/v1')
  const { spec, metadata } = components.schemas['io.k8s.api.core.v1.Service'].properties
  const merged = { 'x-kubernetes-patch-merge-key': 'port', 'x-kubernetes-patch-strategy': 'merge' }
  expect(spec.properties.ports).toMatchObject(merged)
  expect(metadata.allOf).toBeDefined()
  const { patch } = paths['/api/v1/namespaces/{namespace}/services/{name}']
  expect(Object.keys(patch.requestBody.content)).toContain('application/strategic-merge-patch+json')
})

test('names of operations are unique', () => {
  const ids = KINDS.flatMap(operationsOf).map(({ id }) => id)
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
})

test('a kind with a scale has its operations and its schema', () => {
  const scaled: ServedKind = {
    ...KINDS.find(({ kind }) => kind === 'ProxyBackend')!,
    scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
  }
  const all = new ApiDocuments(new KindRegistry([scaled]), '1')
  const document = parseJson(String(all.find('/openapi/v3/apis/gatewright.dev/v1alpha1', undefined)!.body))
  expect(document).toMatchObject({
    paths: {
      '/apis/gatewright.dev/v1alpha1/namespaces/{namespace}/proxybackends/{name}/scale': {
        put: { 'x-kubernetes-group-version-kind': { group: 'autoscaling', kind: 'Scale', version: 'v1' } },
      },
    },
    components: { schemas: { 'io.k8s.api.autoscaling.v1.Scale': { type: 'object' } } },
  })
})

test('OpenAPI 2.0 has all kinds in one document', () => {
  const document = read('/openapi/v2')
  expect(document.swagger).toBe('2.0')
  for (const kind of KINDS) expect(document.definitions[definitionName(kind)].type).toBe('object')
  expect(brokenReferences(document, document.definitions, '#/definitions/')).toEqual([])
})

test.each<[name: string, schema: object, expected: object]>([
  [
    'integer or text',
    { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
    { 'x-kubernetes-int-or-string': true },
  ],
  ['nullable', { type: 'string', nullable: true, description: 'A.' }, { description: 'A.' }],
  [
    'inside of a list and of a map',
    { type: 'array', items: { type: 'object', additionalProperties: { type: 'string', nullable: true } } },
    { type: 'array', items: { type: 'object', additionalProperties: {} } },
  ],
  [
    'rules',
    { type: 'object', properties: { a: { type: 'string', default: 'x' } }, 'x-kubernetes-validations': [] },
    { type: 'object', properties: { a: { type: 'string' } } },
  ],
])('OpenAPI 2.0 of %s', (_, schema, expected) => {
  expect(swaggerSchema(schema as never)).toEqual(expected)
})

test('clients written in Go get OpenAPI 2.0 as protobuf', () => {
  const type = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'
  const { contentType, body } = documents.find('/openapi/v2', `${type},application/json`)!
  // The old name has a character that Go refuses in a media type.
  expect(contentType).toBe('application/com.github.proto-openapi.spec.v2.v1.0+protobuf')
  // Field 1, the version, then field 2, the information.
  expect([...(body as Uint8Array).subarray(0, 6)]).toEqual([0x0a, 3, 0x32, 0x2e, 0x30, 0x12])
  expect(documents.find('/openapi/v2', 'application/json')?.contentType).toBe('application/json')
})
