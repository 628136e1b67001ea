import { describePatternFault } from '#base/pattern.ts'
import { forbiddenField, invalidField, requiredField, unsupportedField } from '../kinds/field-errors.ts'
import type { Cause } from '../kinds/served-kind.ts'
import { isJsonObject, type JsonSchema } from './json-schema.ts'

type Level = 'root' | 'items' | 'field'

const TYPES: readonly string[] = ['array', 'boolean', 'integer', 'number', 'object', 'string']
const UNSUPPORTED = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'] as const
const PLACES: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  items: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
}

/** Checks that a schema is structural (Kubernetes, "Specifying a structural schema"). */
export function checkSchema(schema: unknown, path: string): readonly Cause[] {
  const causes: Cause[] = []
  checkNode(schema, 'root', path, causes)
  if (isJsonObject(schema) && schema.nullable === true)
    causes.push(forbiddenField(`${path}.nullable`, 'nullable cannot be true at the root'))
  return causes
}

function checkNode(value: unknown, level: Level, path: string, causes: Cause[]): void {
  if (!isJsonObject(value)) {
    causes.push(invalidField(path, value, 'must be a schema object'))
    return
  }
  const schema = value as JsonSchema
  checkKeywords(schema, path, causes)
  checkType(schema, level, path, causes)
  checkExtensions(schema, path, causes)
  checkIdentity(schema, level, path, causes)
  checkChildren(schema, level, path, causes)
  checkNested(schema, path, causes)
}

function checkKeywords(schema: JsonSchema, path: string, causes: Cause[]): void {
  for (const keyword of UNSUPPORTED) {
    if (keyword in schema) causes.push(forbiddenField(`${path}.${keyword}`, `${keyword} is not supported`))
  }
  const { uniqueItems, additionalProperties, properties, pattern, items } = schema
  if (uniqueItems === true)
    causes.push(
      forbiddenField(
        `${path}.uniqueItems`,
        'uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
      ),
    )
  if (additionalProperties === false)
    causes.push(forbiddenField(`${path}.additionalProperties`, 'additionalProperties cannot be set to false'))
  if (additionalProperties && properties !== undefined && Object.keys(properties).length > 0)
    causes.push(
      forbiddenField(`${path}.additionalProperties`, 'additionalProperties and properties are mutual exclusive'),
    )
  if (Array.isArray(items))
    causes.push(forbiddenField(`${path}.items`, 'items must be a schema object and not an array'))
  const fault = typeof pattern === 'string' && pattern !== '' ? describePatternFault(pattern) : undefined
  if (fault !== undefined)
    causes.push(invalidField(`${path}.pattern`, pattern, `must be a valid regular expression, but isn't: ${fault}`))
}

function checkType(schema: JsonSchema, level: Level, path: string, causes: Cause[]): void {
  const { type = '', items } = schema
  const isUntyped =
    schema['x-kubernetes-int-or-string'] === true || schema['x-kubernetes-preserve-unknown-fields'] === true
  if (type !== '' && !TYPES.includes(type)) causes.push(unsupportedField(`${path}.type`, type, TYPES))
  if (type === '' && !isUntyped) causes.push(requiredField(`${path}.type`, PLACES[level]))
  if (level === 'root' && type !== '' && type !== 'object')
    causes.push(invalidField(`${path}.type`, type, 'must be object at the root'))
  if (type === 'array' && items === undefined) causes.push(requiredField(`${path}.items`, 'must be specified'))
}

function checkExtensions(schema: JsonSchema, path: string, causes: Cause[]): void {
  const { type = '', properties = {}, additionalProperties } = schema
  const keeps = schema['x-kubernetes-preserve-unknown-fields']
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true
  const isUnion = schema['x-kubernetes-int-or-string'] === true
  const at = (name: string) => `${path}.x-kubernetes-${name}`
  if (keeps === false) causes.push(invalidField(at('preserve-unknown-fields'), false, 'must be true or undefined'))
  if (isUnion && keeps === true)
    causes.push(
      invalidField(at('preserve-unknown-fields'), true, 'must be false if x-kubernetes-int-or-string is true'),
    )
  if (isUnion && isEmbedded)
    causes.push(invalidField(at('embedded-resource'), true, 'must be false if x-kubernetes-int-or-string is true'))
  if (isEmbedded && type !== 'object')
    causes.push(invalidField(`${path}.type`, type, 'must be object if x-kubernetes-embedded-resource is true'))
  if (isEmbedded && additionalProperties !== undefined)
    causes.push(
      forbiddenField(`${path}.additionalProperties`, 'must not be used if x-kubernetes-embedded-resource is set'),
    )
  if (isEmbedded && keeps !== true && Object.keys(properties).length === 0)
    causes.push(
      requiredField(
        `${path}.properties`,
        'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
      ),
    )
  checkMapType(schema, path, causes)
  checkListType(schema, path, causes)
}

function checkMapType(schema: JsonSchema, path: string, causes: Cause[]): void {
  const mapType = schema['x-kubernetes-map-type']
  if (mapType === undefined) return
  const at = `${path}.x-kubernetes-map-type`
  if (mapType !== 'atomic' && mapType !== 'granular') causes.push(unsupportedField(at, mapType, ['atomic', 'granular']))
  if (schema.type !== 'object')
    causes.push(invalidField(`${path}.type`, schema.type ?? '', 'must be object if x-kubernetes-map-type is specified'))
}

const LIST_TYPES: readonly unknown[] = ['atomic', 'set', 'map']

function checkListType(schema: JsonSchema, path: string, causes: Cause[]): void {
  const listType = schema['x-kubernetes-list-type']
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const items = isJsonObject(schema.items) ? (schema.items as JsonSchema) : undefined
  const at = `${path}.x-kubernetes-list-type`
  if (keys.length > 0 && listType !== 'map')
    causes.push(invalidField(at, listType, 'must be map if x-kubernetes-list-map-keys is non-empty'))
  if (listType === undefined) return
  if (!LIST_TYPES.includes(listType)) causes.push(unsupportedField(at, listType, LIST_TYPES))
  if (schema.type !== 'array')
    causes.push(invalidField(`${path}.type`, schema.type ?? '', 'must be array if x-kubernetes-list-type is specified'))
  if (listType !== 'atomic' && items?.nullable === true)
    causes.push(
      forbiddenField(`${path}.items.nullable`, `cannot be nullable when x-kubernetes-list-type is ${listType}`),
    )
  if (listType === 'set' && items !== undefined) checkSetItems(items, path, causes)
  if (listType === 'map') checkMapKeys(items, keys, path, causes)
}

function checkSetItems(items: JsonSchema, path: string, causes: Cause[]): void {
  const what = 'must be atomic as item of a list with x-kubernetes-list-type=set'
  const { 'x-kubernetes-list-type': listType = 'atomic', 'x-kubernetes-map-type': mapType } = items
  if (items.type === 'array' && listType !== 'atomic')
    causes.push(invalidField(`${path}.items.x-kubernetes-list-type`, listType, what))
  if (items.type === 'object' && mapType !== 'atomic')
    causes.push(invalidField(`${path}.items.x-kubernetes-map-type`, mapType, what))
}

function checkMapKeys(items: JsonSchema | undefined, keys: readonly string[], path: string, causes: Cause[]): void {
  const at = `${path}.x-kubernetes-list-map-keys`
  if (keys.length === 0) causes.push(requiredField(at, 'must not be empty if x-kubernetes-list-type is map'))
  if (items === undefined) return
  if (items.type !== 'object')
    causes.push(
      invalidField(
        `${path}.items.type`,
        items.type ?? '',
        "must be object if parent array's x-kubernetes-list-type is map",
      ),
    )
  if (new Set(keys).size < keys.length) causes.push(invalidField(at, keys, 'must not contain duplicate entries'))
  for (const key of keys) {
    const member = items.properties?.[key]
    const field = `${path}.items.properties[${key}]`
    if (member === undefined) causes.push(invalidField(at, keys, 'entries must all be names of item properties'))
    else if (member.type === 'array' || member.type === 'object')
      causes.push(
        invalidField(
          `${field}.type`,
          member.type,
          "must be a scalar type if parent array's x-kubernetes-list-type is map",
        ),
      )
    else if (member.default === undefined && !items.required?.includes(key))
      causes.push(
        requiredField(
          `${field}.default`,
          'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
        ),
      )
    if (member?.nullable === true)
      causes.push(
        forbiddenField(`${field}.nullable`, 'this property is in x-kubernetes-list-map-keys, so it cannot be nullable'),
      )
  }
}

/** What a schema may say of the members that every object has. */
function checkIdentity(schema: JsonSchema, level: Level, path: string, causes: Cause[]): void {
  if (level !== 'root' && schema['x-kubernetes-embedded-resource'] !== true) return
  const { apiVersion, kind, metadata } = schema.properties ?? {}
  for (const [name, member] of Object.entries({ apiVersion, kind })) {
    if (member !== undefined && member.type !== 'string')
      causes.push(invalidField(`${path}.properties[${name}].type`, member.type ?? '', 'must be string'))
  }
  if (metadata === undefined) return
  const at = `${path}.properties[metadata]`
  if (metadata.type !== 'object') causes.push(invalidField(`${at}.type`, metadata.type ?? '', 'must be object'))
  const { type: _, description: __, properties = {}, ...others } = metadata
  const isOnlyNames = Object.keys(properties).every((name) => name === 'name' || name === 'generateName')
  if (level === 'root' && (!isOnlyNames || Object.keys(others).length > 0))
    causes.push(
      forbiddenField(
        at,
        'must not specify anything other than name and generateName, but metadata is implicitly specified',
      ),
    )
}

function checkChildren(schema: JsonSchema, level: Level, path: string, causes: Cause[]): void {
  const { items, properties = {}, additionalProperties } = schema
  if (isJsonObject(items)) checkNode(items, 'items', `${path}.items`, causes)
  if (isJsonObject(additionalProperties))
    checkNode(additionalProperties, 'field', `${path}.additionalProperties`, causes)
  if (additionalProperties && level === 'root')
    causes.push(forbiddenField(`${path}.additionalProperties`, 'must not be used at the root'))
  for (const [name, property] of Object.entries(properties)) {
    // The metadata of the root is checked apart, and its name may have a pattern.
    if (level === 'root' && name === 'metadata') continue
    checkNode(property, 'field', `${path}.properties[${name}]`, causes)
  }
}

const EMPTY_IN_NESTED = {
  type: 'must be empty to be structural',
  additionalProperties: 'must be undefined to be structural',
  default: 'must be undefined to be structural',
  title: 'must be empty to be structural',
  description: 'must be empty to be structural',
  nullable: 'must be false to be structural',
  'x-kubernetes-preserve-unknown-fields': 'must be false to be structural',
  'x-kubernetes-embedded-resource': 'must be false to be structural',
  'x-kubernetes-int-or-string': 'must be false to be structural',
  'x-kubernetes-list-map-keys': 'must be empty to be structural',
  'x-kubernetes-list-type': 'must be undefined to be structural',
  'x-kubernetes-map-type': 'must be undefined to be structural',
  'x-kubernetes-validations': 'must be empty to be structural',
} as const

/** Schemas in `allOf` and the like restrict values; only the schema around them says what members there are. */
function checkNested(schema: JsonSchema, path: string, causes: Cause[]): void {
  const isUnion = schema['x-kubernetes-int-or-string'] === true
  for (const keyword of ['allOf', 'anyOf', 'oneOf'] as const) {
    schema[keyword]?.forEach((nested, index) => {
      const mayHaveTypes =
        isUnion && ((keyword === 'anyOf' && isTypeUnion(schema.anyOf)) || (keyword === 'allOf' && index === 0))
      checkRestriction(nested, mayHaveTypes, `${path}.${keyword}[${index}]`, causes)
    })
  }
  if (schema.not !== undefined) checkRestriction(schema.not, false, `${path}.not`, causes)
}

/** The form of a schema for an integer or a text (Kubernetes, `x-kubernetes-int-or-string`). */
function isTypeUnion(schemas: readonly JsonSchema[] | undefined): boolean {
  return schemas?.length === 2 && schemas[0]?.type === 'integer' && schemas[1]?.type === 'string'
}

function checkRestriction(nested: JsonSchema, mayHaveTypes: boolean, path: string, causes: Cause[]): void {
  for (const [keyword, detail] of Object.entries(EMPTY_IN_NESTED)) {
    const value = nested[keyword as keyof typeof EMPTY_IN_NESTED]
    const isSet = value !== undefined && value !== false && value !== ''
    if (isSet && !(keyword === 'type' && mayHaveTypes)) causes.push(forbiddenField(`${path}.${keyword}`, detail))
  }
  const { items, properties = {} } = nested
  if (items !== undefined) checkRestriction(items, false, `${path}.items`, causes)
  for (const [name, property] of Object.entries(properties)) {
    const at = `${path}.properties[${name}]`
    if (name === 'metadata') causes.push(forbiddenField(at, 'must not be specified in a nested context'))
    checkRestriction(property, false, at, causes)
  }
  for (const keyword of ['allOf', 'anyOf', 'oneOf'] as const) {
    const areTypes = mayHaveTypes && keyword === 'anyOf' && isTypeUnion(nested.anyOf)
    nested[keyword]?.forEach((each, index) => {
      checkRestriction(each, areTypes, `${path}.${keyword}[${index}]`, causes)
    })
  }
  if (nested.not !== undefined) checkRestriction(nested.not, false, `${path}.not`, causes)
}
