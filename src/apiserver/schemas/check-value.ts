import { compilePattern } from '#base/pattern.ts'
import {
  invalidField,
  requiredField,
  tooLongField,
  tooManyItems,
  unsupportedField,
  wrongType,
} from '../kinds/field-errors.ts'
import type { Cause } from '../kinds/served-kind.ts'
import { canonicalText } from './canonical-text.ts'
import { hasFormat } from './formats.ts'
import { isJsonObject, type JsonObject, type JsonSchema, schemaOfMember } from './json-schema.ts'

/** Checks a value against a structural schema, with the rules and texts of an API server of Kubernetes (kube-openapi, validation). */
export function checkValue(value: unknown, schema: JsonSchema, path: string): readonly Cause[] {
  if (value === null) return [...checkNull(schema, path), ...checkEnumeration(value, schema, path)]
  return [
    ...checkType(value, schema, path),
    ...checkCombinations(value, schema, path),
    ...(typeof value === 'string' ? checkText(value, schema, path) : []),
    ...(typeof value === 'number' ? checkNumber(value, schema, path) : []),
    ...(Array.isArray(value) ? checkList(value, schema, path) : []),
    ...checkEnumeration(value, schema, path),
    ...(isJsonObject(value) ? checkMembers(value, schema, path) : []),
  ]
}

function checkNull(schema: JsonSchema, path: string): readonly Cause[] {
  const types = typesOf(schema)
  if (schema.nullable === true || types.length === 0) return []
  return [wrongType(path, 'null', `${path} in body must be of type ${types.join(',')}: "null"`)]
}

function typesOf(schema: JsonSchema): readonly string[] {
  if (schema['x-kubernetes-int-or-string'] === true) return ['integer', 'string']
  return schema.type === undefined || schema.type === '' ? [] : [schema.type]
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value
}

function checkType(value: unknown, schema: JsonSchema, path: string): readonly Cause[] {
  const types = typesOf(schema)
  const type = typeOf(value)
  const fits = types.length === 0 || types.includes(type) || (type === 'integer' && types.includes('number'))
  return fits ? [] : [wrongType(path, type, `${path} in body must be of type ${types.join(',')}: "${type}"`)]
}

/** `allOf` and the like. Of alternatives that all fail, the one with the fewest refusals explains why. */
function checkCombinations(value: unknown, schema: JsonSchema, path: string): readonly Cause[] {
  const { anyOf = [], oneOf = [], allOf = [], not } = schema
  const causes: Cause[] = []
  const failed = (text: string) => causes.push(invalidField(path, '', `"${path}" ${text}`))
  if (anyOf.length > 0) {
    const results = anyOf.map((each) => checkValue(value, each, path))
    if (!results.some(isEmpty)) {
      failed('must validate at least one schema (anyOf)')
      causes.push(...fewest(results))
    }
  }
  if (oneOf.length > 0) {
    const results = oneOf.map((each) => checkValue(value, each, path))
    const valid = results.filter(isEmpty).length
    const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`
    if (valid !== 1) failed(`must validate one and only one schema (oneOf). ${found}`)
    if (valid === 0) causes.push(...fewest(results))
  }
  const results = allOf.map((each) => checkValue(value, each, path))
  const valid = results.filter(isEmpty).length
  causes.push(...results.flat())
  if (valid < allOf.length) failed(`must validate all the schemas (allOf)${valid === 0 ? '. None validated' : ''}`)
  if (not !== undefined && isEmpty(checkValue(value, not, path))) failed('must not validate the schema (not)')
  return causes
}

function isEmpty(causes: readonly Cause[]): boolean {
  return causes.length === 0
}

function fewest(results: readonly (readonly Cause[])[]): readonly Cause[] {
  return results.reduce((least, each) => (each.length < least.length ? each : least))
}

/** The first of the bounds that the text breaks, and its format. */
function checkText(value: string, schema: JsonSchema, path: string): readonly Cause[] {
  const { type = '', format } = schema
  const causes = checkBounds(value, schema, path)
  if (format === undefined || (type !== 'string' && type !== '') || hasFormat(value, format)) return causes
  const detail = `${path} in body must be of type ${format}: ${JSON.stringify(value)}`
  return [...causes, wrongType(path, value, detail)]
}

function checkBounds(value: string, { minLength, maxLength, pattern }: JsonSchema, path: string): readonly Cause[] {
  const length = [...value].length
  if (maxLength !== undefined && length > maxLength) return [tooLongField(path, maxLength)]
  if (minLength !== undefined && length < minLength)
    return [invalidField(path, value, `${path} in body should be at least ${minLength} chars long`)]
  if (pattern === undefined || pattern === '' || compilePattern(pattern)?.test(value) === true) return []
  return [invalidField(path, value, `${path} in body should match '${pattern}'`)]
}

const INTEGER_RANGES: Readonly<Record<string, readonly [least: number, most: number]>> = {
  int32: [-(2 ** 31), 2 ** 31 - 1],
}

function checkNumber(value: number, schema: JsonSchema, path: string): readonly Cause[] {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, type, format = '' } = schema
  const causes: Cause[] = []
  const refuse = (what: string) => causes.push(invalidField(path, value, `${path} in body should be ${what}`))
  if (multipleOf !== undefined && !isMultiple(value, multipleOf)) refuse(`a multiple of ${multipleOf}`)
  if (maximum !== undefined && (exclusiveMaximum === true ? value >= maximum : value > maximum))
    refuse(`less than ${exclusiveMaximum === true ? '' : 'or equal to '}${maximum}`)
  if (minimum !== undefined && (exclusiveMinimum === true ? value <= minimum : value < minimum))
    refuse(`greater than ${exclusiveMinimum === true ? '' : 'or equal to '}${minimum}`)
  const range = type === 'integer' && Object.hasOwn(INTEGER_RANGES, format) ? INTEGER_RANGES[format] : undefined
  if (range !== undefined && (value < range[0] || value > range[1])) refuse(`of type integer with format ${format}`)
  return causes
}

/** Decimal fractions are no exact doubles, so that their remainder is a little beside 0 or the factor. */
function isMultiple(value: number, factor: number): boolean {
  const quotient = value / factor
  return Math.abs(quotient - Math.round(quotient)) < 1e-9
}

function checkList(value: readonly unknown[], schema: JsonSchema, path: string): readonly Cause[] {
  const { items, minItems, maxItems } = schema
  const causes = items === undefined ? [] : value.flatMap((item, index) => checkValue(item, items, `${path}[${index}]`))
  if (minItems !== undefined && value.length < minItems)
    causes.push(invalidField(path, value.length, `${path} in body should have at least ${minItems} items`))
  if (maxItems !== undefined && value.length > maxItems) causes.push(tooManyItems(path, value.length, maxItems))
  return causes
}

function checkEnumeration(value: unknown, { enum: values }: JsonSchema, path: string): readonly Cause[] {
  if (values === undefined || values.length === 0) return []
  const text = canonicalText(value)
  // No enumeration permits null, not even one that names it.
  return value !== null && values.some((each) => canonicalText(each) === text)
    ? []
    : [unsupportedField(path, value, values)]
}

function checkMembers(object: JsonObject, schema: JsonSchema, path: string): readonly Cause[] {
  const { minProperties, maxProperties, required = [] } = schema
  const causes: Cause[] = []
  const inside = (name: string) => (path === '' ? name : `${path}.${name}`)
  const names = Object.keys(object)
  if (minProperties !== undefined && names.length < minProperties)
    causes.push(invalidField(path, names.length, `${path} in body should have at least ${minProperties} properties`))
  if (maxProperties !== undefined && names.length > maxProperties)
    causes.push(tooManyItems(path, names.length, maxProperties))
  for (const name of names) {
    const member = schemaOfMember(schema, name)
    if (member !== undefined) causes.push(...checkValue(object[name], member, inside(name)))
  }
  for (const name of required) if (!Object.hasOwn(object, name)) causes.push(requiredField(inside(name)))
  return causes
}
