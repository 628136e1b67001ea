import type { Column } from '#api/definitions/printer-columns.ts'
import type { StructuralSchema } from '#api/definitions/structural-schema.ts'
import { objectMeta } from '#api/object-meta.ts'
import { validate } from '#schema/index.ts'
import { causeOf } from '../kinds/causes.ts'
import { invalidField, requiredField } from '../kinds/field-errors.ts'
import type { AdmitOptions, Admitted, Cause, ServedKind, WrittenObject } from '../kinds/served-kind.ts'
import { checkMetadata } from '../platform-rules/check-metadata.ts'
import { assignDefaults } from './assign-defaults.ts'
import { checkLists } from './check-lists.ts'
import { checkRules } from './check-rules.ts'
import { checkValue } from './check-value.ts'
import { compileRules, type RuleNode } from './compile-rules.ts'
import type { DefinitionSpec, DefinitionVersion } from './definition-schema.ts'
import { isJsonObject, type JsonObject, type JsonSchema, schemaOfMember } from './json-schema.ts'
import { prune } from './prune.ts'

const AGE: Column = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }

/** The kinds of the served versions of a valid definition. */
export function customKinds(spec: DefinitionSpec): readonly ServedKind[] {
  return spec.versions.filter(({ served }) => served).map((version) => customKind(spec, version))
}

function customKind({ group, names, scope, versions }: DefinitionSpec, version: DefinitionVersion): ServedKind {
  const schema = version.schema?.openAPIV3Schema as JsonSchema
  const {
    kind,
    plural,
    singular = kind.toLowerCase(),
    listKind = `${kind}List`,
    shortNames = [],
    categories = [],
  } = names
  const { status, scale } = version.subresources ?? {}
  const { root } = compileRules(schema)
  return {
    group,
    version: version.name,
    storageVersion: versions.find(({ storage }) => storage)!.name,
    kind,
    listKind,
    plural,
    singular,
    shortNames,
    categories,
    namespaced: scope === 'Namespaced',
    schema: schema as StructuralSchema,
    hasStatus: status !== undefined,
    ...(scale === undefined ? {} : { scale: scale as NonNullable<ServedKind['scale']> }),
    hasGeneration: true,
    columns: (version.additionalPrinterColumns as readonly Column[] | undefined) ?? [AGE],
    hasStrategicMerge: false,
    admit: (object, options) => admit(schema, root, deprecationOf(group, kind, version), object, options),
  }
}

function deprecationOf(group: string, kind: string, { name, deprecated, deprecationWarning }: DefinitionVersion) {
  return deprecated === true ? [deprecationWarning ?? `${group}/${name} ${kind} is deprecated`] : []
}

/** Refusals after which the rules of a schema cannot be evaluated. */
const BLOCKING: readonly Cause['reason'][] = [
  'FieldValueRequired',
  'FieldValueTypeInvalid',
  'FieldValueTooLong',
  'FieldValueTooMany',
]

function admit(
  schema: JsonSchema,
  rules: RuleNode | undefined,
  deprecations: readonly string[],
  written: WrittenObject,
  { unknownFields, before }: AdmitOptions,
): Admitted {
  const { object, unknown } = prune(written, schema)
  const refused = unknownFields === 'refuse' ? unknown.map((path) => unknownField(path)) : []
  const told = unknownFields === 'warn' ? unknown.map((path) => `unknown field "${path}"`) : []
  const completed = assignDefaults(object, schema)
  const causes = [...refused, ...checkObject(completed, schema)]
  if (rules !== undefined) {
    if (!causes.some(({ reason }) => BLOCKING.includes(reason))) causes.push(...checkRules(rules, completed, before))
    else causes.push(invalidField('', undefined, SOME_UNCHECKED))
  }
  const warnings = [...deprecations, ...told]
  return causes.length === 0 ? { object: completed as WrittenObject, causes, warnings } : { causes, warnings }
}

const SOME_UNCHECKED =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation'

function unknownField(path: string): Cause {
  const name = path.slice(path.lastIndexOf('.') + 1)
  return { reason: 'FieldValueInvalid', field: path, message: `unknown field "${name}"` }
}

/** Everything but the rules. */
function checkObject(object: JsonObject, schema: JsonSchema): readonly Cause[] {
  return [
    ...checkMetadataSchema(object.metadata, 'metadata'),
    ...checkMetadata(object as WrittenObject),
    ...checkValue(object, schema, ''),
    ...checkLists(object, schema, ''),
    ...checkEmbedded(object, schema, ''),
  ]
}

function checkMetadataSchema(metadata: unknown, path: string): readonly Cause[] {
  const { problems } = validate(objectMeta, metadata)
  return problems
    .filter(({ severity }) => severity === 'error')
    .map((problem) => causeOf({ ...problem, path: problem.path === '' ? path : `${path}.${problem.path}` }))
}

/** An object inside another one has a kind, a version and valid metadata, too (Kubernetes, `x-kubernetes-embedded-resource`). */
function checkEmbedded(value: unknown, schema: JsonSchema | undefined, path: string): readonly Cause[] {
  if (schema === undefined) return []
  if (Array.isArray(value))
    return value.flatMap((item, index) => checkEmbedded(item, schema.items, `${path}[${index}]`))
  if (!isJsonObject(value)) return []
  const inside = (name: string) => (path === '' ? name : `${path}.${name}`)
  const own = schema['x-kubernetes-embedded-resource'] === true ? checkIdentity(value, inside) : []
  const members = Object.entries(value).flatMap(([name, member]) =>
    checkEmbedded(member, schemaOfMember(schema, name), inside(name)),
  )
  return [...own, ...members]
}

function checkIdentity(object: JsonObject, inside: (name: string) => string): readonly Cause[] {
  const missing = ['apiVersion', 'kind'].filter((name) => typeof object[name] !== 'string' || object[name] === '')
  const causes = missing.map((name) => requiredField(inside(name), 'must not be empty'))
  return object.metadata === undefined
    ? causes
    : [...causes, ...checkMetadataSchema(object.metadata, inside('metadata'))]
}
