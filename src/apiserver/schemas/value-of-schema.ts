import { CelError, Double, fromJson, MapValue, type Result, type Value } from '#cel/index.ts'
import { decodeBase64 } from '#cel/json.ts'
import { parseCelDuration, parseTimestamp } from '#cel/time-format.ts'
import { isJsonObject, type JsonObject, type JsonSchema, schemaOfMember } from './json-schema.ts'
import { embedded, escapeName, writtenName } from './type-of-schema.ts'

const NOT_BASE64 = new CelError('invalid', 'not base64')

/** A JSON value as a value in CEL, with the types of its schema: a number without fraction may be a double. An error if the value does not fit, as one that was stored under another schema. */
export function valueOfSchema(value: unknown, schema: JsonSchema | undefined): Result {
  if (schema === undefined || schema['x-kubernetes-int-or-string'] === true) return fromJson(value)
  if (Array.isArray(value)) {
    const items = schema.items && embedded(schema.items)
    const list = value.map((item) => valueOfSchema(item, items))
    return list.find((item) => item instanceof CelError) ?? (list as readonly Value[])
  }
  if (isJsonObject(value)) return isTyped(schema) ? new SchemaMap(value, schema) : fromJson(value)
  if (typeof value === 'number' && schema.type === 'number') return new Double(value)
  return typeof value === 'string' ? textOfSchema(value, schema) : fromJson(value)
}

function textOfSchema(text: string, { type, format }: JsonSchema): Result {
  if (type !== 'string') return text
  switch (format) {
    case 'byte':
      return decodeBase64(text) ?? NOT_BASE64
    case 'duration':
      return parseCelDuration(text)
    case 'date':
      return parseTimestamp(`${text}T00:00:00Z`)
    case 'date-time':
      return parseTimestamp(text)
    default:
      return text
  }
}

function isTyped({ properties, additionalProperties }: JsonSchema): boolean {
  return properties !== undefined || typeof additionalProperties === 'object'
}

/** An object or a map with a schema. Members are converted when an expression reads them. */
class SchemaMap extends MapValue {
  readonly #object: JsonObject
  readonly #schema: JsonSchema
  readonly #names: ReadonlyMap<string, string>

  constructor(object: JsonObject, schema: JsonSchema) {
    super()
    this.#object = object
    this.#schema = schema
    this.#names = namesOf(object, schema)
  }

  get size(): number {
    return this.#names.size
  }

  get(key: Value): Result | undefined {
    const name = this.#nameOf(key)
    if (name === undefined) return undefined
    const schema = schemaOfMember(this.#schema, name)
    return valueOfSchema(this.#object[name], schema && embedded(schema))
  }

  has(key: Value): boolean {
    return this.#nameOf(key) !== undefined
  }

  #nameOf(key: Value): string | undefined {
    if (typeof key !== 'string') return undefined
    return this.#names.get(typeof this.#schema.additionalProperties === 'object' ? key : writtenName(key))
  }

  keys(): Iterable<Value> {
    return this.#names.keys()
  }
}

/** The present members by their names in CEL. Keys of maps are not escaped. */
function namesOf(object: JsonObject, { additionalProperties }: JsonSchema): ReadonlyMap<string, string> {
  const names = Object.keys(object)
  if (typeof additionalProperties === 'object') return new Map(names.map((name) => [name, name]))
  return new Map(
    names.flatMap((name) => {
      const escaped = escapeName(name)
      return escaped === undefined ? [] : [[escaped, name]]
    }),
  )
}
