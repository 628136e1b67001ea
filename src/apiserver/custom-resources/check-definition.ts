import { sameData } from '#base/incremental/same-data.ts'
import type { Resource } from '#store/resources/resource.ts'
import { duplicateField, invalidField, requiredField, tooManyItems, unsupportedField } from '../kinds/field-errors.ts'
import type { Cause } from '../kinds/served-kind.ts'
import { checkEmbedded } from '../schemas/check-embedded.ts'
import { checkRules } from '../schemas/check-rules.ts'
import { checkSchema } from '../schemas/check-schema.ts'
import { checkValue } from '../schemas/check-value.ts'
import { compileRules, compileRulesInside } from '../schemas/compile-rules.ts'
import { isJsonObject, type JsonSchema, schemaOfMember } from '../schemas/json-schema.ts'
import type { DefinitionSpec, DefinitionVersion } from './definition-schema.ts'

const SUBDOMAIN = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/
const LABEL = /^[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?$/
const NOT_LABEL =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character"

/** What the platform keeps for itself. */
const PROTECTED_GROUP = /(?:^|\.)(?:k8s|kubernetes)\.io$/
const APPROVAL = 'api-approved.kubernetes.io'

/** A definition as it was written, with the members that its schema requires. */
export interface WrittenDefinition {
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> }
  readonly spec: DefinitionSpec
}

/** Checks what the schema of a CustomResourceDefinition cannot say. */
export function checkDefinition({ metadata, spec }: WrittenDefinition, before: Resource | undefined): readonly Cause[] {
  const { group, names, versions, conversion, preserveUnknownFields } = spec
  const causes: Cause[] = []
  if (metadata.name !== `${names.plural}.${group}`)
    causes.push(invalidField('metadata.name', metadata.name, 'must be spec.names.plural+"."+spec.group'))
  checkGroup(group, metadata.annotations?.[APPROVAL], causes)
  checkNames(names, causes)
  checkVersions(versions, causes)
  if (preserveUnknownFields === true)
    causes.push(
      invalidField(
        'spec.preserveUnknownFields',
        true,
        'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
      ),
    )
  if (conversion.strategy !== 'None')
    causes.push(unsupportedField('spec.conversion.strategy', conversion.strategy, ['None']))
  if (before !== undefined) checkChange(spec, before, causes)
  return causes
}

function checkGroup(group: string, approval: string | undefined, causes: Cause[]): void {
  if (!SUBDOMAIN.test(group) || group.length > 253)
    causes.push(
      invalidField(
        'spec.group',
        group,
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.'",
      ),
    )
  else if (!group.includes('.'))
    causes.push(invalidField('spec.group', group, 'should be a domain with at least one dot'))
  if (!PROTECTED_GROUP.test(group)) return
  const field = `metadata.annotations[${APPROVAL}]`
  const reason = `protected groups must have approval annotation "${APPROVAL}", see https://github.com/kubernetes/enhancements/pull/1111`
  if (approval === undefined) causes.push(requiredField(field, reason))
  else if (!approval.startsWith('unapproved') && !URL.canParse(approval))
    causes.push(invalidField(field, approval, reason))
}

function checkNames(names: DefinitionSpec['names'], causes: Cause[]): void {
  const { plural, singular, kind, listKind, shortNames = [], categories = [] } = names
  const check = (field: string, name: string | undefined, isKind = false) => {
    if (name === undefined || name === '' || LABEL.test(isKind ? name.toLowerCase() : name)) return
    const detail = isKind ? `may have mixed case, but should otherwise match: ${NOT_LABEL}` : NOT_LABEL
    causes.push(invalidField(`spec.names.${field}`, name, detail))
  }
  if (plural === '') causes.push(requiredField('spec.names.plural'))
  if (kind === '') causes.push(requiredField('spec.names.kind'))
  check('plural', plural)
  check('singular', singular)
  check('kind', kind, true)
  check('listKind', listKind, true)
  for (const [index, name] of shortNames.entries()) check(`shortNames[${index}]`, name)
  for (const [index, name] of categories.entries()) check(`categories[${index}]`, name)
  if (kind !== '' && kind === listKind)
    causes.push(invalidField('spec.names.listKind', listKind, 'kind and listKind may not be the same'))
}

function checkVersions(versions: readonly DefinitionVersion[], causes: Cause[]): void {
  const names = versions.map(({ name }) => name)
  if (new Set(names).size < names.length)
    causes.push(invalidField('spec.versions', undefined, 'must contain unique version names'))
  if (versions.filter(({ storage }) => storage).length !== 1)
    causes.push(invalidField('spec.versions', undefined, 'must have exactly one version marked as storage version'))
  for (const [index, version] of versions.entries()) checkVersion(version, `spec.versions[${index}]`, causes)
}

const COLUMN_TYPES: readonly string[] = ['integer', 'number', 'string', 'boolean', 'date']
const COLUMN_FORMATS: readonly string[] = ['int32', 'int64', 'float', 'double', 'byte', 'date', 'date-time', 'password']

function checkVersion(version: DefinitionVersion, path: string, causes: Cause[]): void {
  const { name, schema, subresources, additionalPrinterColumns = [], deprecated, deprecationWarning } = version
  if (!LABEL.test(name)) causes.push(invalidField(`${path}.name`, name, NOT_LABEL))
  if (deprecationWarning !== undefined && deprecated !== true)
    causes.push(
      invalidField(`${path}.deprecationWarning`, deprecationWarning, 'can only be set for deprecated versions'),
    )
  const schemaPath = `${path}.schema.openAPIV3Schema`
  if (schema?.openAPIV3Schema === undefined) causes.push(requiredField(schemaPath, 'schemas are required'))
  else checkVersionSchema(schema.openAPIV3Schema, schemaPath, causes)
  checkSelectableFields(version, `${path}.selectableFields`, causes)
  additionalPrinterColumns.forEach(({ name: title, type, format, jsonPath }, index) => {
    const at = `${path}.additionalPrinterColumns[${index}]`
    if (title === '') causes.push(requiredField(`${at}.name`))
    if (!COLUMN_TYPES.includes(type))
      causes.push(invalidField(`${at}.type`, type, `must be one of ${COLUMN_TYPES.join(',')}`))
    if (format !== undefined && format !== '' && !COLUMN_FORMATS.includes(format))
      causes.push(invalidField(`${at}.format`, format, `must be one of ${COLUMN_FORMATS.join(',')}`))
    if (!/^[.[]/.test(jsonPath))
      causes.push(invalidField(`${at}.jsonPath`, jsonPath, 'must be a simple json path starting with .'))
  })
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = subresources?.scale ?? {}
  checkScalePath('specReplicasPath', specReplicasPath, ['.spec.'], path, causes)
  checkScalePath('statusReplicasPath', statusReplicasPath, ['.status.'], path, causes)
  checkScalePath('labelSelectorPath', labelSelectorPath, ['.spec.', '.status.'], path, causes)
}

const MOST_SELECTABLE_FIELDS = 8
const SELECTABLE_TYPES: readonly (string | undefined)[] = ['string', 'boolean', 'integer']

function checkSelectableFields(
  { schema, selectableFields = [] }: DefinitionVersion,
  path: string,
  causes: Cause[],
): void {
  const root = isJsonObject(schema?.openAPIV3Schema) ? (schema.openAPIV3Schema as JsonSchema) : undefined
  const known = new Set<string>()
  selectableFields.forEach(({ jsonPath }, index) => {
    const at = `${path}[${index}]`
    const found = root === undefined || jsonPath.includes('[') ? undefined : schemaAt(root, jsonPath)
    if (jsonPath === '') causes.push(requiredField(`${at}.jsonPath`))
    else if (/^\.metadata(?:\.|$)/.test(jsonPath))
      causes.push(invalidField(at, jsonPath, 'must not point to fields in metadata'))
    else if (found === undefined) causes.push(invalidField(`${at}.jsonPath`, jsonPath, 'is an invalid path'))
    else if (!SELECTABLE_TYPES.includes(found.type)) causes.push(invalidField(at, jsonPath, NOT_SELECTABLE))
    if (known.has(jsonPath)) causes.push(duplicateField(`${at}.jsonPath`, jsonPath))
    known.add(jsonPath)
  })
  if (known.size > MOST_SELECTABLE_FIELDS) causes.push(tooManyItems(path, known.size, MOST_SELECTABLE_FIELDS))
}

const NOT_SELECTABLE =
  'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.'

function checkScalePath(
  name: string,
  value: string | undefined,
  prefixes: readonly string[],
  path: string,
  causes: Cause[],
): void {
  if (value === undefined || (value === '' && prefixes.length > 1)) return
  const isSimple = /^(?:\.[A-Za-z0-9_-]+)+$/.test(value)
  if (isSimple && prefixes.some((prefix) => value.startsWith(prefix))) return
  const below = prefixes.map((prefix) => prefix.slice(0, -1)).join(' or ')
  causes.push(invalidField(`${path}.subresources.scale.${name}`, value, `should be a json path under ${below}`))
}

function checkVersionSchema(schema: unknown, path: string, causes: Cause[]): void {
  const structural = checkSchema(schema, path)
  causes.push(...structural)
  if (structural.length > 0 || !isJsonObject(schema)) return
  const { problems } = compileRules(schema as JsonSchema)
  for (const { path: at, expression, message } of problems)
    causes.push(invalidField(`${path}${at}`, expression, message))
  if (problems.length === 0) checkDefaults(schema as JsonSchema, path, causes)
  checkRuleMembers(schema as JsonSchema, path, causes)
}

/** A default must be valid itself, without the defaults inside it, also for the rules. Those in maps are not checked, as in API servers. */
function checkDefaults(schema: JsonSchema, path: string, causes: Cause[]): void {
  forEachSchema(schema, path, ({ default: value, ...node }, at) => {
    if (value === undefined || at.includes('.additionalProperties')) return
    const refused = [...checkValue(value, node, 'default'), ...checkEmbedded(value, node, 'default')]
    const rules = refused.length === 0 ? compileRulesInside(node) : undefined
    const broken = rules === undefined ? [] : checkRules(rules, value, value)
    for (const cause of [...refused, ...broken]) causes.push({ ...cause, field: `${at}.default` })
  })
}

const REASONS: readonly string[] = [
  'FieldValueRequired',
  'FieldValueInvalid',
  'FieldValueForbidden',
  'FieldValueDuplicate',
]

function checkRuleMembers(schema: JsonSchema, path: string, causes: Cause[]): void {
  forEachSchema(schema, path, (node, at) => {
    node['x-kubernetes-validations']?.forEach(({ rule, message, reason, fieldPath }, index) => {
      const field = `${at}.x-kubernetes-validations[${index}]`
      if (message !== undefined && message.trim() === '')
        causes.push(invalidField(`${field}.message`, message, 'must be non-empty if specified'))
      if (message !== undefined && /[\r\n]/.test(message.trim()))
        causes.push(invalidField(`${field}.message`, message, 'must not contain line breaks'))
      if (message === undefined && /[\r\n]/.test(rule.trim()))
        causes.push(requiredField(`${field}.message`, 'message must be specified if rule contains line breaks'))
      if (reason !== undefined && !REASONS.includes(reason))
        causes.push(unsupportedField(`${field}.reason`, reason, REASONS))
      if (fieldPath !== undefined && schemaAt(node, fieldPath) === undefined)
        causes.push(invalidField(`${field}.fieldPath`, fieldPath, 'must be a valid path'))
    })
  })
}

/** The schema to which a path such as `.spec.ports['http']` leads. */
function schemaAt(schema: JsonSchema, path: string): JsonSchema | undefined {
  const parts = [...path.matchAll(/\.([A-Za-z_][\w-]*)|\['((?:[^'\\]|\\.)*)'\]/g)]
  if (parts.length === 0 || parts.map(([whole]) => whole).join('') !== path) return undefined
  return parts.reduce<JsonSchema | undefined>((node, [, name, key]) => {
    return name === undefined ? schemaOfMember(node, key!) : node?.properties?.[name]
  }, schema)
}

function forEachSchema(schema: JsonSchema, path: string, visit: (node: JsonSchema, path: string) => void): void {
  visit(schema, path)
  const { properties = {}, additionalProperties, items } = schema
  for (const [name, property] of Object.entries(properties))
    forEachSchema(property, `${path}.properties[${name}]`, visit)
  if (typeof additionalProperties === 'object')
    forEachSchema(additionalProperties, `${path}.additionalProperties`, visit)
  if (items !== undefined) forEachSchema(items, `${path}.items`, visit)
}

/** What must stay as it is while objects of the kind may be stored. */
function checkChange({ group, names, scope, versions }: DefinitionSpec, before: Resource, causes: Cause[]): void {
  const old = before.spec as DefinitionSpec
  const keep = (field: string, value: unknown, earlier: unknown) => {
    if (!sameData(value, earlier)) causes.push(invalidField(field, value, 'field is immutable'))
  }
  keep('spec.group', group, old.group)
  keep('spec.scope', scope, old.scope)
  keep('spec.names.kind', names.kind, old.names.kind)
  keep('spec.names.plural', names.plural, old.names.plural)
  const { storedVersions = [] } = (before.status ?? {}) as { readonly storedVersions?: readonly string[] }
  storedVersions.forEach((stored, index) => {
    if (versions.some(({ name }) => name === stored)) return
    const detail = `missing from spec.versions; ${stored} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${stored} and removes ${stored} from status.storedVersions`
    causes.push(invalidField(`status.storedVersions[${index}]`, stored, detail))
  })
}
