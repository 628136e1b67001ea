import type { JsonValue } from '../json/json-document.ts'
import type { JsonText } from '../json/write-json.ts'
import { isSchema, literalsOf, mapSchemas, parseSchema, type Schema, typesOf } from './json-schemas.ts'
import type { Losses } from './losses.ts'

/** Keywords that OpenAI refuses in a strict schema. */
const REFUSED = [
  ...['allOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependencies', 'dependentRequired', 'dependentSchemas'],
  ...['patternProperties', 'propertyNames', 'minProperties', 'maxProperties', 'unevaluatedProperties'],
  ...['prefixItems', 'additionalItems', 'unevaluatedItems', 'contains', 'minContains', 'maxContains', 'uniqueItems'],
  ...['contentEncoding', 'contentMediaType', 'contentSchema', '$anchor', '$dynamicAnchor', '$dynamicRef'],
]

/** Formats of strings that OpenAI documents. */
const FORMATS: readonly unknown[] = [
  ...['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'],
]

/** @returns undefined if the schema cannot be strict, which is a loss: the vendor refuses it, but takes it if it is not strict */
export function fitStrict(schema: JsonText, origin: JsonValue, losses: Losses): Record<string, unknown> | undefined {
  const strict = strictSchema(parseSchema(schema, origin))
  if (typeof strict !== 'string') return strict
  losses.drop(origin, `not strict: ${strict}`)
  return undefined
}

/**
 * The schema as OpenAI takes it with `strict: true`: an object, all objects closed, with all members required. Objects that say nothing of
 * further members are closed, as the client library of the vendor does it.
 * @returns a string if there is none: what does not fit
 */
export function strictSchema(schema: Schema): Record<string, unknown> | string {
  const unfit = new Set<string>()
  if (schema.type !== 'object') unfit.add('type')
  if ('anyOf' in schema) unfit.add('anyOf')
  const strict = makeStrict(schema, unfit)
  return unfit.size > 0 ? [...unfit].join(', ') : (strict as Record<string, unknown>)
}

function makeStrict(given: unknown, unfit: Set<string>): unknown {
  if (!isSchema(given)) {
    unfit.add(Array.isArray(given) ? 'a list of items' : String(given))
    return given
  }
  const strict: Record<string, unknown> = { ...given }
  const inner = (each: unknown) => makeStrict(each, unfit)
  for (const name of REFUSED) if (name in given) unfit.add(name)
  for (const name of ['$defs', 'definitions', 'properties']) {
    const schemas = given[name]
    if (isSchema(schemas)) strict[name] = mapSchemas(schemas, inner)
  }
  if (Array.isArray(given.anyOf)) strict.anyOf = given.anyOf.map(inner)
  if (given.items !== undefined) strict.items = inner(given.items)
  if (given.format !== undefined && !FORMATS.includes(given.format)) unfit.add('format')
  nameType(strict, unfit)
  const types = typesOf(strict)
  if (types.includes('array') && given.items === undefined) unfit.add('items')
  if (types.includes('object')) close(strict, unfit)
  return strict
}

/** The vendor wants a type of each schema but references and alternatives. */
function nameType(strict: Record<string, unknown>, unfit: Set<string>): void {
  if (strict.$ref !== undefined) {
    if (Object.keys(strict).length > 1) unfit.add('$ref')
  } else if (strict.type === undefined && strict.anyOf === undefined) {
    const types = new Set(literalsOf(strict)?.map((value) => (value === null ? 'null' : typeof value)))
    if (types.size === 0) unfit.add('type')
    else strict.type = types.size === 1 ? [...types][0] : [...types]
  }
}

function close(strict: Record<string, unknown>, unfit: Set<string>): void {
  const { additionalProperties = false, properties = {}, required = [] } = strict
  if (additionalProperties !== false) unfit.add('additionalProperties')
  const names = isSchema(properties) ? Object.keys(properties) : []
  const named = new Set<unknown>(Array.isArray(required) ? required : [])
  const areNamed = Array.isArray(required) && required.length === names.length
  if (!areNamed || !names.every((name) => named.has(name))) unfit.add('optional properties')
  Object.assign(strict, { additionalProperties: false, properties, required })
}
