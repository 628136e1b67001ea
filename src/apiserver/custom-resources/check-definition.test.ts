import { expect, test } from 'vitest'
import { definitionKind } from './definition-kind.ts'

const SCHEMA = { type: 'object', properties: { spec: { type: 'object', properties: { a: { type: 'string' } } } } }
const VERSION = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: SCHEMA } }
const SPEC = {
  group: 'example.com',
  names: { plural: 'widgets', kind: 'Widget' },
  scope: 'Namespaced',
  versions: [VERSION],
}
const { admit } = definitionKind()

function refusals(spec: object, metadata: object = {}, before?: object): readonly string[] {
  const written = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com', ...metadata },
    spec: { ...SPEC, ...spec },
  }
  const { causes } = admit(written, { unknownFields: 'warn', before: before as never })
  return causes.map(({ field, message }) => `${field}: ${message}`)
}

const withSchema = (schema: object) => ({ versions: [{ ...VERSION, schema: { openAPIV3Schema: schema } }] })
const withField = (field: object) =>
  withSchema({ type: 'object', properties: { spec: { type: 'object', properties: { f: field } } } })
const FIELD = 'spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[f]'
const ROOT = 'spec.versions[0].schema.openAPIV3Schema'

test('a valid definition gets the names that follow from its kind', () => {
  const { object } = admit(
    {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.example.com' },
      spec: SPEC,
    },
    { unknownFields: 'refuse' },
  )
  expect(object?.spec).toMatchObject({
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    conversion: { strategy: 'None' },
  })
})

test('of the paths of a scale, only that of the label selector may be empty', () => {
  const refusedPaths = (paths: object) => {
    const scale = { specReplicasPath: '.spec.a', statusReplicasPath: '.status.a', ...paths }
    return refusals({ versions: [{ ...VERSION, subresources: { scale } }] })
  }
  expect(refusedPaths({ labelSelectorPath: '' })).toEqual([])
  expect(refusedPaths({ labelSelectorPath: 'a' })).toEqual([expect.stringContaining('under .spec or .status')])
  expect(refusedPaths({ specReplicasPath: '' })).toEqual([expect.stringContaining('under .spec')])
})

test('at most eight fields are selectable', () => {
  const names = Array.from({ length: 9 }, (_, at) => `f${at}`)
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'boolean' }]))
  const schema = { openAPIV3Schema: { type: 'object', properties } }
  const select = (count: number) => ({
    versions: [
      { ...VERSION, schema, selectableFields: names.slice(0, count).map((name) => ({ jsonPath: `.${name}` })) },
    ],
  })
  expect(refusals(select(8))).toEqual([])
  expect(refusals(select(9))).toEqual(['spec.versions[0].selectableFields: Too many: 9: must have at most 8 items'])
})

test.each<[name: string, spec: object, field: string, part: string]>([
  ['group without dot', { group: 'example' }, 'spec.group', 'should be a domain with at least one dot'],
  ['plural in capitals', { names: { plural: 'Widgets', kind: 'Widget' } }, 'spec.names.plural', 'DNS-1035'],
  ['kind with a space', { names: { plural: 'widgets', kind: 'My Widget' } }, 'spec.names.kind', 'may have mixed case'],
  [
    'list of the same kind',
    { names: { plural: 'widgets', kind: 'Widget', listKind: 'Widget' } },
    'spec.names.listKind',
    'may not be the same',
  ],
  [
    'short name',
    { names: { plural: 'widgets', kind: 'Widget', shortNames: ['w', 'W'] } },
    'spec.names.shortNames[1]',
    'DNS-1035',
  ],
  ['scope', { scope: 'Global' }, 'spec.scope', 'Cluster'],
  [
    'no storage version',
    { versions: [{ ...VERSION, storage: false }] },
    'spec.versions',
    'exactly one version marked as storage',
  ],
  [
    'two storage versions',
    { versions: [VERSION, { ...VERSION, name: 'v2' }] },
    'spec.versions',
    'exactly one version marked as storage',
  ],
  [
    'the same version twice',
    { versions: [VERSION, { ...VERSION, storage: false }] },
    'spec.versions',
    'unique version names',
  ],
  ['version name', { versions: [{ ...VERSION, name: 'V1' }] }, 'spec.versions[0].name', 'DNS-1035'],
  ['no schema', { versions: [{ name: 'v1', served: true, storage: true }] }, ROOT, 'schemas are required'],
  [
    'conversion by webhook',
    { conversion: { strategy: 'Webhook' } },
    'spec.conversion.strategy',
    'supported values: "None"',
  ],
  ['all fields kept', { preserveUnknownFields: true }, 'spec.preserveUnknownFields', 'cannot set to true'],
  [
    'column type',
    { versions: [{ ...VERSION, additionalPrinterColumns: [{ name: 'A', type: 'text', jsonPath: '.a' }] }] },
    'spec.versions[0].additionalPrinterColumns[0].type',
    'must be one of integer,number,string,boolean,date',
  ],
  [
    'column path',
    { versions: [{ ...VERSION, additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: 'a' }] }] },
    'spec.versions[0].additionalPrinterColumns[0].jsonPath',
    'simple json path',
  ],
  [
    'selectable field without path',
    { versions: [{ ...VERSION, selectableFields: [{ jsonPath: '' }] }] },
    'spec.versions[0].selectableFields[0].jsonPath',
    'Required value',
  ],
  [
    'selectable field that is unknown',
    { versions: [{ ...VERSION, selectableFields: [{ jsonPath: '.spec.a' }, { jsonPath: '.spec.b' }] }] },
    'spec.versions[0].selectableFields[1].jsonPath',
    'is an invalid path',
  ],
  [
    'selectable field of an object',
    { versions: [{ ...VERSION, selectableFields: [{ jsonPath: '.spec' }] }] },
    'spec.versions[0].selectableFields[0]',
    'must point to a field of type string, boolean or integer',
  ],
  [
    'selectable field in metadata',
    { versions: [{ ...VERSION, selectableFields: [{ jsonPath: '.metadata.name' }] }] },
    'spec.versions[0].selectableFields[0]',
    'must not point to fields in metadata',
  ],
  [
    'repeated selectable field',
    { versions: [{ ...VERSION, selectableFields: [{ jsonPath: '.spec.a' }, { jsonPath: '.spec.a' }] }] },
    'spec.versions[0].selectableFields[1].jsonPath',
    'Duplicate value',
  ],
  [
    'scale path',
    {
      versions: [
        { ...VERSION, subresources: { scale: { specReplicasPath: '.status.a', statusReplicasPath: '.status.a' } } },
      ],
    },
    'spec.versions[0].subresources.scale.specReplicasPath',
    'should be a json path under .spec',
  ],
  [
    'warning of a version that is not deprecated',
    { versions: [{ ...VERSION, deprecationWarning: 'old' }] },
    'spec.versions[0].deprecationWarning',
    'deprecated versions',
  ],
])('refused: %s', (_, spec, field, part) => {
  const found = refusals(spec).filter((text) => text.startsWith(`${field}: `))
  expect(found).toEqual([expect.stringContaining(part)])
})

test.each<[name: string, spec: object, field: string, part: string]>([
  ['root that is no object', withSchema({ type: 'string' }), `${ROOT}.type`, 'must be object at the root'],
  ['root without type', withSchema({}), `${ROOT}.type`, 'must not be empty at the root'],
  [
    'nullable root',
    withSchema({ type: 'object', nullable: true }),
    `${ROOT}.nullable`,
    'nullable cannot be true at the root',
  ],
  [
    'map at the root',
    withSchema({ type: 'object', additionalProperties: { type: 'string' } }),
    `${ROOT}.additionalProperties`,
    'must not be used at the root',
  ],
  [
    'rules for metadata',
    withSchema({
      type: 'object',
      properties: { metadata: { type: 'object', properties: { labels: { type: 'object' } } } },
    }),
    `${ROOT}.properties[metadata]`,
    'other than name and generateName',
  ],
  ['field without type', withField({}), `${FIELD}.type`, 'must not be empty for specified object fields'],
  ['unknown type', withField({ type: 'text' }), `${FIELD}.type`, 'supported values'],
  ['list without items', withField({ type: 'array' }), `${FIELD}.items`, 'must be specified'],
  ['items without type', withField({ type: 'array', items: {} }), `${FIELD}.items.type`, 'specified array items'],
  ['several item schemas', withField({ type: 'array', items: [{ type: 'string' }] }), `${FIELD}.items`, 'not an array'],
  ['reference', withField({ type: 'string', $ref: '#/a' }), `${FIELD}.$ref`, '$ref is not supported'],
  [
    'unique items',
    withField({ type: 'array', items: { type: 'string' }, uniqueItems: true }),
    `${FIELD}.uniqueItems`,
    'quadratic',
  ],
  [
    'closed object',
    withField({ type: 'object', additionalProperties: false }),
    `${FIELD}.additionalProperties`,
    'cannot be set to false',
  ],
  [
    'map with members',
    withField({ type: 'object', properties: { a: { type: 'string' } }, additionalProperties: { type: 'string' } }),
    `${FIELD}.additionalProperties`,
    'mutual exclusive',
  ],
  ['pattern', withField({ type: 'string', pattern: '(' }), `${FIELD}.pattern`, 'must be a valid regular expression'],
  [
    'dropped unknown fields said twice',
    withField({ type: 'object', 'x-kubernetes-preserve-unknown-fields': false }),
    `${FIELD}.x-kubernetes-preserve-unknown-fields`,
    'must be true or undefined',
  ],
  [
    'union that keeps fields',
    withField({ 'x-kubernetes-int-or-string': true, 'x-kubernetes-preserve-unknown-fields': true }),
    `${FIELD}.x-kubernetes-preserve-unknown-fields`,
    'must be false if',
  ],
  [
    'embedded text',
    withField({ type: 'string', 'x-kubernetes-embedded-resource': true }),
    `${FIELD}.type`,
    'must be object if x-kubernetes-embedded-resource',
  ],
  [
    'embedded map',
    withField({
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
      additionalProperties: { type: 'string' },
    }),
    `${FIELD}.additionalProperties`,
    'must not be used if x-kubernetes-embedded-resource is set',
  ],
  [
    'embedded object without members',
    withField({ type: 'object', 'x-kubernetes-embedded-resource': true }),
    `${FIELD}.properties`,
    'must not be empty',
  ],
  [
    'unknown list type',
    withField({ type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'bag' }),
    `${FIELD}.x-kubernetes-list-type`,
    'supported values',
  ],
  [
    'list type of a text',
    withField({ type: 'string', 'x-kubernetes-list-type': 'set' }),
    `${FIELD}.type`,
    'must be array',
  ],
  [
    'set of maps',
    withField({ type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'set' }),
    `${FIELD}.items.x-kubernetes-map-type`,
    'must be atomic',
  ],
  [
    'map without keys',
    withField({ type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'map' }),
    `${FIELD}.x-kubernetes-list-map-keys`,
    'must not be empty',
  ],
  [
    'key that is no member',
    withField({
      type: 'array',
      items: { type: 'object' },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['a'],
    }),
    `${FIELD}.x-kubernetes-list-map-keys`,
    'names of item properties',
  ],
  [
    'key that may be missing',
    withField({
      type: 'array',
      items: { type: 'object', properties: { a: { type: 'string' } } },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['a'],
    }),
    `${FIELD}.items.properties[a].default`,
    'must have a default or be a required property',
  ],
  [
    'type in a condition',
    withField({ type: 'string', anyOf: [{ type: 'string' }] }),
    `${FIELD}.anyOf[0].type`,
    'must be empty to be structural',
  ],
  [
    'default in a condition',
    withField({ type: 'string', not: { default: 'x' } }),
    `${FIELD}.not.default`,
    'must be undefined to be structural',
  ],
  [
    'metadata in a condition',
    withField({ type: 'object', allOf: [{ properties: { metadata: {} } }] }),
    `${FIELD}.allOf[0].properties[metadata]`,
    'nested context',
  ],
  [
    'default of another type',
    withField({ type: 'integer', default: 'x' }),
    `${FIELD}.default`,
    'must be of type integer',
  ],
  [
    'rule with a misspelt member',
    withField({
      type: 'object',
      properties: { a: { type: 'string' } },
      'x-kubernetes-validations': [{ rule: 'self.b == ""' }],
    }),
    `${FIELD}.x-kubernetes-validations[0].rule`,
    'self has no member b',
  ],
  [
    'rule that is no condition',
    withField({ type: 'integer', 'x-kubernetes-validations': [{ rule: 'self + 1' }] }),
    `${FIELD}.x-kubernetes-validations[0].rule`,
    'expected bool',
  ],
  [
    'message that is no text',
    withField({ type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 1', messageExpression: 'self' }] }),
    `${FIELD}.x-kubernetes-validations[0].messageExpression`,
    'expected string',
  ],
  [
    'unknown reason',
    withField({ type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 1', reason: 'Bad' }] }),
    `${FIELD}.x-kubernetes-validations[0].reason`,
    'supported values',
  ],
  [
    'path that leads nowhere',
    withField({ type: 'object', 'x-kubernetes-validations': [{ rule: 'true', fieldPath: '.a' }] }),
    `${FIELD}.x-kubernetes-validations[0].fieldPath`,
    'must be a valid path',
  ],
])('refused schema: %s', (_, spec, field, part) => {
  const found = refusals(spec).filter((text) => text.startsWith(`${field}: `))
  expect(found).toEqual([expect.stringContaining(part)])
})

test('the name is made of plural and group', () => {
  expect(refusals({}, { name: 'gears.example.com' })).toEqual([
    'metadata.name: Invalid value: "gears.example.com": must be spec.names.plural+"."+spec.group',
  ])
})

test.each([
  ['without approval', {}, 'Required value'],
  ['with an approval that is no URL', { annotations: { 'api-approved.kubernetes.io': 'yes' } }, 'Invalid value: "yes"'],
])("the platform's own groups need an approval: %s", (_, metadata, part) => {
  const found = refusals({ group: 'x.k8s.io' }, { name: 'widgets.x.k8s.io', ...metadata })
  expect(found).toEqual([expect.stringContaining(`metadata.annotations[api-approved.kubernetes.io]: ${part}`)])
})

test('names and stored versions cannot change', () => {
  const before = { spec: SPEC, status: { storedVersions: ['v0', 'v1'] } }
  const names = { plural: 'widgets', kind: 'Gadget' }
  expect(refusals({ scope: 'Cluster', names }, {}, before)).toEqual([
    'spec.scope: Invalid value: "Cluster": field is immutable',
    'spec.names.kind: Invalid value: "Gadget": field is immutable',
    expect.stringContaining('status.storedVersions[0]: Invalid value: "v0": missing from spec.versions'),
  ])
})
