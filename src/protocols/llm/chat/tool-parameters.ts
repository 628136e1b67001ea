import { findMember, MAX_MEMBERS, type Members, scanMembers, stringAt } from '../json/scan-members.ts'
import { asIs, JsonPieces } from '../json/write-json.ts'
import type { Tool } from './conversation.ts'
import { describe, isSchema, parseSchema, resolveReference, type Schema, schemasOf, typesOf } from './json-schemas.ts'
import type { Losses } from './losses.ts'

/** A JSON Schema, as providers take it for the input of a tool. */
export interface ObjectSchema {
  readonly type: 'object'
  readonly [keyword: string]: unknown
}

const NO_PARAMETERS: ObjectSchema = { type: 'object', properties: {} }
const ONE_TEXT: ObjectSchema = { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] }

/** For a tool of which nothing is known but its calls. */
export const ANY_PARAMETERS: ObjectSchema = { type: 'object' }

const OPEN_BRACE = 0x7b

/** Bytes of a schema that take as long as another element of a loop. */
const BYTES_PER_ELEMENT = 256

/** What a tool is worth in a loop over tools: schemas may be long, and are parsed if they must be rewritten. */
export function weighTool({ parameters }: Tool): number {
  return parameters instanceof Uint8Array ? 1 + parameters.length / BYTES_PER_ELEMENT : 1
}

/** What OpenAI, Anthropic and Amazon refuse at the top of the schema of a tool. */
const REFUSED = ['anyOf', 'oneOf', 'allOf', 'not', 'enum', '$ref'] as const

/**
 * The schema of the input of a tool as vendors take it: with the type `object` and `properties`, and without alternatives at its top. The
 * members of alternatives become members of the whole, and the alternatives a part of the description, which is a loss.
 */
export function inputSchema(tool: Tool, losses: Losses): ObjectSchema {
  const { takesText, parameters } = tool
  if (takesText) return ONE_TEXT
  if (parameters === undefined) return NO_PARAMETERS
  if (parameters instanceof JsonPieces) return asIs<ObjectSchema>(parameters)
  const members = scanMembers(parameters, MAX_MEMBERS)
  if ('fault' in members) return asIs<ObjectSchema>(parameters)
  if (members.offsets.length === 0) return NO_PARAMETERS
  if (needsRewriting(members)) return rewritten(tool, parseSchema(parameters, tool.origin), losses)
  const type = findMember(members, 'type')
  const isObject = type < 0 || stringAt(members, type) === 'object'
  if (!isObject || (type >= 0 && findMember(members, 'properties') >= 0)) return asIs<ObjectSchema>(parameters)
  const missing =
    (type < 0 ? '"type":"object",' : '') + (findMember(members, 'properties') < 0 ? '"properties":{},' : '')
  const rest = parameters.subarray(parameters.indexOf(OPEN_BRACE) + 1)
  return asIs<ObjectSchema>(new JsonPieces([`{${missing}`, rest]))
}

function needsRewriting(members: Members): boolean {
  const type = findMember(members, 'type')
  if (type >= 0 && stringAt(members, type) === undefined) return true
  return REFUSED.some((keyword) => findMember(members, keyword) >= 0)
}

function rewritten({ origin }: Tool, schema: Schema, losses: Losses): ObjectSchema {
  const types = typesOf(schema)
  if (types.length > 0 && !types.includes('object')) return schema as ObjectSchema
  const target = resolveReference(schema, schema)
  // Some generators write the whole schema as a reference to one of its definitions.
  const whole: Record<string, unknown> = { ...target, ...schema }
  if (target !== undefined) delete whole.$ref
  const kept = joinMembers(whole, whole)
  const described: Record<string, unknown> = {}
  for (const keyword of REFUSED) {
    if (keyword in kept) described[keyword] = kept[keyword]
    delete kept[keyword]
  }
  const keywords = Object.keys(described)
  if (keywords.length > 0) {
    kept.description = describe(whole.description, described)
    losses.drop(origin, `${keywords.join(', ')} at the top of the schema became part of its description`)
  }
  return kept as ObjectSchema
}

/** Keywords that joining members keeps. */
const JOINED: readonly string[] = ['type', 'properties', 'required', 'title', 'description', 'additionalProperties']

/**
 * The schema of an object, with the members of its alternatives among its own. The alternatives stay, but for `allOf` if it says nothing
 * else.
 * @param root has the definitions of references that are followed
 */
export function joinMembers(schema: Schema, root: Schema): Record<string, unknown> {
  const { properties, required } = membersOf(schema, root, 0)
  const joined: Record<string, unknown> = { ...schema, type: 'object', properties: Object.fromEntries(properties) }
  if (required.length > 0) joined.required = required
  const isSaid = schemasOf(schema.allOf).every((each) => Object.keys(each).every((name) => JOINED.includes(name)))
  if (isSaid) delete joined.allOf
  return joined
}

/** What a schema says of the members of an object, its alternatives included. */
interface ObjectMembers {
  readonly properties: Properties
  readonly required: readonly string[]
}

type Properties = ReadonlyMap<string, unknown>

/** Alternatives within alternatives that are read. */
const MAX_LEVELS = 3

function membersOf(schema: Schema, root: Schema, level: number): ObjectMembers {
  const { properties, required } = schema
  const parts: ObjectMembers[] = [
    {
      properties: new Map(isSchema(properties) ? Object.entries(properties) : []),
      required: Array.isArray(required) ? required : [],
    },
  ]
  if (level < MAX_LEVELS) {
    parts.push(...branches(schema.allOf, root, level))
    for (const keyword of ['anyOf', 'oneOf']) parts.push(oneOfThem(branches(schema[keyword], root, level)))
  }
  return {
    properties: joinProperties(parts, 'allOf'),
    required: [...new Set(parts.flatMap((part) => part.required))],
  }
}

/** Only references at the top are followed: one that many schemas have would be read as often. */
function branches(list: unknown, root: Schema, level: number): readonly ObjectMembers[] {
  const schemas = schemasOf(list).map((each) => (level === 0 && resolveReference(root, each)) || each)
  return [...new Set(schemas)].map((each) => membersOf(each, root, level + 1))
}

/** A member is required if all alternatives require it. */
function oneOfThem(alternatives: readonly ObjectMembers[]): ObjectMembers {
  const [first, ...others] = alternatives.map(({ required }) => new Set(required))
  return {
    properties: joinProperties(alternatives, 'anyOf'),
    required: [...(first ?? [])].filter((name) => others.every((each) => each.has(name))),
  }
}

/** Different schemas of a member are joined by the keyword. */
function joinProperties(parts: readonly ObjectMembers[], keyword: 'allOf' | 'anyOf'): Properties {
  const [only, ...others] = parts.filter(({ properties }) => properties.size > 0)
  if (only === undefined || others.length === 0) return only?.properties ?? new Map()
  const variants = new Map<string, Map<string, unknown>>()
  for (const { properties } of [only, ...others]) {
    for (const [name, property] of properties) {
      const known = variants.get(name) ?? new Map<string, unknown>()
      variants.set(name, known.set(JSON.stringify(property), property))
    }
  }
  return new Map([...variants].map(([name, list]) => [name, joined([...list.values()], keyword)]))
}

function joined(schemas: readonly unknown[], keyword: 'allOf' | 'anyOf'): unknown {
  return schemas.length === 1 ? schemas[0] : { [keyword]: schemas }
}
