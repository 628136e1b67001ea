import { parseJson } from '#base/parse-json.ts'
import type { JsonValue } from '../json/json-document.ts'
import { decodeJson, type JsonText } from '../json/write-json.ts'
import { Untranslatable } from './untranslatable.ts'

/** Asks for any JSON object, of a provider that takes only schemas that name all members. */
export const JSON_ONLY = 'Answer with one JSON object and nothing else.'

/** A JSON Schema that is an object. */
export type Schema = Readonly<Record<string, unknown>>

/** More than vendors take, and few enough for functions that call themselves. */
const MAX_DEPTH = 64

/** More than vendors take, and few enough not to hold a worker. */
const MAX_LENGTH = 1_048_576

/**
 * Parses a schema, in order to rewrite it.
 * @param origin the value to name in a refusal
 */
export function parseSchema(text: JsonText, origin: JsonValue): Schema {
  const json = decodeJson(text)
  refuseLongSchema(json.length, origin)
  const schema = parseJson(json)
  if (!isSchema(schema)) throw new Untranslatable(origin, 'the schema must be an object')
  if (isDeeper(schema, MAX_DEPTH)) throw new Untranslatable(origin, `the schema is nested over ${MAX_DEPTH} levels`)
  return schema
}

/** @param length of what is known of the schema, in characters */
export function refuseLongSchema(length: number, origin: JsonValue | undefined): void {
  if (length > MAX_LENGTH) throw new Untranslatable(origin, `the schema is longer than ${MAX_LENGTH} characters`)
}

export function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((each) => isDeeper(each, levels - 1))
}

/** The schemas of a list; those that are no objects (`true`) say nothing of members. */
export function schemasOf(value: unknown): readonly Schema[] {
  return Array.isArray(value) ? value.filter(isSchema) : []
}

/** The types that a schema allows; empty if it does not say. */
export function typesOf({ type }: Schema): readonly unknown[] {
  if (type === undefined || type === null) return []
  return Array.isArray(type) ? type : [type]
}

/** The definition that `$ref` names (JSON Schema Core 8.2.3.1), if it is in the same schema. */
export function resolveReference(root: Schema, { $ref }: Schema): Schema | undefined {
  const name = typeof $ref === 'string' ? /^#\/(\$defs|definitions)\/([^/]+)$/.exec($ref) : null
  const definitions = name === null ? undefined : root[name[1]!]
  if (!isSchema(definitions)) return undefined
  const key = name![2]!.replaceAll('~1', '/').replaceAll('~0', '~')
  const found = Object.hasOwn(definitions, key) ? definitions[key] : undefined
  return isSchema(found) ? found : undefined
}

/** A description that tells what the target cannot express as a keyword. */
export function describe(description: unknown, keywords: Schema): string {
  const told = Object.entries(keywords).map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
  const text = `{${told.join(', ')}}`
  return typeof description === 'string' && description !== '' ? `${description}\n\n${text}` : text
}

/** The values that a schema lists; undefined if it lists none, or some that have parts, which vendors refuse. */
export function literalsOf(schema: Schema): readonly unknown[] | undefined {
  const values = [...(Array.isArray(schema.enum) ? schema.enum : []), ...('const' in schema ? [schema.const] : [])]
  const areScalars = values.every((value) => typeof value !== 'object' || value === null)
  return values.length > 0 && areScalars ? values : undefined
}

export function mapSchemas(schemas: Schema, rewrite: (schema: unknown) => unknown): Schema {
  return Object.fromEntries(Object.entries(schemas).map(([name, each]) => [name, rewrite(each)]))
}
