import type { JsonValue } from '../json/json-document.ts'
import type { SchemaFormat } from './conversation.ts'
import {
  describe,
  isSchema,
  literalsOf,
  mapSchemas,
  parseSchema,
  refuseLongSchema,
  type Schema,
  schemasOf,
  typesOf,
} from './json-schemas.ts'
import type { Losses } from './losses.ts'
import { joinMembers } from './tool-parameters.ts'

// Anthropic and Amazon Bedrock compile a schema that a model must keep to, and refuse keywords that they cannot compile. The client library
// of Anthropic rewrites schemas before it sends them; this does the same for clients of other vendors.

/** The schema of an answer, as the vendors compile it. What became words is a loss. */
export function closedFormat({ schema, origin }: SchemaFormat, losses: Losses): Schema {
  const { closed, told } = closedSchema(parseSchema(schema, origin), origin)
  if (told.length > 0) losses.drop(origin, `${told.join(', ')} became part of descriptions`)
  return closed
}

/**
 * Objects without other members, `anyOf` for `oneOf`, and only keywords that the vendors compile.
 * @returns `told`: the other keywords, which became part of descriptions
 */
export function closedSchema(
  schema: Schema,
  origin?: JsonValue,
): { readonly closed: Schema; readonly told: readonly string[] } {
  const told = new Told(origin)
  return { closed: new ClosedSchema(schema, told).written, told: [...told.keywords] }
}

/** What became part of descriptions. Alternatives within alternatives are in several, so that there may be far more of it than of the schema. */
class Told {
  readonly keywords = new Set<string>()
  readonly #origin: JsonValue | undefined
  #length = 0

  constructor(origin: JsonValue | undefined) {
    this.#origin = origin
  }

  describe(description: unknown, keywords: Schema): string {
    const text = describe(description, keywords)
    this.#length += text.length
    refuseLongSchema(this.#length, this.#origin)
    return text
  }
}

const ALTERNATIVES = ['anyOf', 'oneOf', 'allOf'] as const

/** Formats of strings that Anthropic documents. */
const FORMATS: readonly unknown[] = [
  ...['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'],
]

class ClosedSchema {
  readonly written: Record<string, unknown> = {}
  /** The keywords that are not written yet. */
  readonly #left: Record<string, unknown>
  readonly #told: Told

  constructor(schema: Schema, told: Told) {
    const mustJoin = hasOpenParts(schema)
    this.#left = mustJoin ? joinMembers(schema, {}) : { ...schema }
    this.#told = told
    delete this.#left.$schema
    for (const name of ['$defs', 'definitions']) this.#keepEach(name)
    if (this.#left.$ref !== undefined) this.#keep('$ref')
    else this.#keepValue(mustJoin)
    for (const name of Object.keys(this.#left)) told.keywords.add(name)
  }

  #keepValue(areJoined: boolean): void {
    this.#keepType()
    if (!areJoined) this.#keepAlternatives()
    this.#keep('title')
    this.#keep('description')
    for (const type of typesOf(this.written)) this.#keepKeywords(type)
    if (typeof this.#left.additionalProperties === 'boolean') delete this.#left.additionalProperties
    const isAllWritten = Object.keys(this.#left).length === 0
    if (!isAllWritten) this.written.description = this.#told.describe(this.written.description, this.#left)
  }

  /** Literals say their type themselves. */
  #keepType(): void {
    const left = this.#left
    if (literalsOf(left) !== undefined) {
      this.#keep('enum')
      this.#keep('const')
      delete left.type
    } else if (left.type !== undefined) this.#keep('type')
    else if ('properties' in left) this.written.type = 'object'
    else if ('items' in left) this.written.type = 'array'
  }

  /** They say the type, too. */
  #keepAlternatives(): void {
    for (const name of ALTERNATIVES) {
      const list = this.#left[name]
      const written = name === 'oneOf' ? 'anyOf' : name
      if (!Array.isArray(list) || !list.every(standsAlone) || written in this.written) continue
      this.written[written] = schemasOf(list).map((each) => this.#close(each))
      delete this.#left[name]
      delete this.written.type
    }
  }

  #keepKeywords(type: unknown): void {
    const left = this.#left
    switch (type) {
      case 'object':
        left.properties ??= {}
        this.#keepEach('properties')
        this.#keep('required')
        this.written.additionalProperties = false
        break
      case 'array':
        if (isSchema(left.items)) this.#keep('items', this.#close(left.items))
        if (left.minItems === 0 || left.minItems === 1) this.#keep('minItems')
        break
      case 'string':
        if (FORMATS.includes(left.format)) this.#keep('format')
    }
  }

  #keepEach(name: string): void {
    const schemas = this.#left[name]
    if (!isSchema(schemas)) return
    this.#keep(
      name,
      mapSchemas(schemas, (each) => this.#close(each)),
    )
  }

  #keep(name: string, value = this.#left[name]): void {
    if (name in this.#left) this.written[name] = value
    delete this.#left[name]
  }

  #close(schema: unknown): unknown {
    return isSchema(schema) ? new ClosedSchema(schema, this.#told).written : schema
  }
}

/** Of objects that must all match a value none can be closed: their members are joined first. */
function hasOpenParts(schema: Schema): boolean {
  const isSeveral = 'properties' in schema || schemasOf(schema.allOf).length > 1
  return isSeveral && ALTERNATIVES.some((name) => schemasOf(schema[name]).some((each) => 'properties' in each))
}

const STANDING = ['type', 'enum', 'const', '$ref', 'properties', 'items', ...ALTERNATIVES]

/** Whether an alternative says what the value is, and does not only narrow what stands beside it. */
function standsAlone(schema: unknown): boolean {
  return isSchema(schema) && STANDING.some((name) => name in schema)
}
