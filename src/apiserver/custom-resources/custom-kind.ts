import type { Column } from '#api/definitions/printer-columns.ts'
import type { StructuralSchema } from '#api/definitions/structural-schema.ts'
import { invalidField } from '../kinds/field-errors.ts'
import type { AdmitOptions, Admitted, Cause, ServedKind, WrittenObject } from '../kinds/served-kind.ts'
import { checkMetadata } from '../platform-rules/check-metadata.ts'
import { assignDefaults } from '../schemas/assign-defaults.ts'
import { checkEmbedded, checkMetadataSchema } from '../schemas/check-embedded.ts'
import { checkLists } from '../schemas/check-lists.ts'
import { checkRules } from '../schemas/check-rules.ts'
import { checkValue } from '../schemas/check-value.ts'
import { compileRules, type RuleNode } from '../schemas/compile-rules.ts'
import type { JsonObject, JsonSchema } from '../schemas/json-schema.ts'
import { prune } from '../schemas/prune.ts'
import type { DefinitionSpec, DefinitionVersion } from './definition-schema.ts'

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
    selectableFields: (version.selectableFields ?? []).map(({ jsonPath }) => jsonPath.slice(1)),
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
