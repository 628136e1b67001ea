import type { JsonValue } from '../json/json-document.ts'
import { CHOSEN, Location, nameAt, rangeOf, type VisitChild, WalkedPlace } from './walked-place.ts'

/** Keywords with text for readers. */
const TEXTS: ReadonlySet<string> = new Set(['title', 'description', '$comment', 'markdownDescription'])

/** Keywords with a schema or a list of schemas. */
const SCHEMAS: ReadonlySet<string> = new Set([
  ...['items', 'prefixItems', 'additionalItems', 'contains', 'additionalProperties', 'unevaluatedItems'],
  ...[
    'unevaluatedProperties',
    'propertyNames',
    'allOf',
    'anyOf',
    'oneOf',
    'not',
    'if',
    'then',
    'else',
    'contentSchema',
  ],
])

/** Keywords with schemas by name. */
const SCHEMA_MAPS: ReadonlySet<string> = new Set([
  ...['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'],
])

/** Keywords with values, whose names are not checked. */
const VALUES: ReadonlySet<string> = new Set([
  ...['type', 'enum', 'const', 'default', 'examples', 'example', 'pattern', 'format', 'required', 'dependentRequired'],
  ...['$ref', '$schema', '$id', 'id', '$anchor', '$dynamicRef', '$dynamicAnchor', 'minimum', 'maximum', 'minLength'],
  ...['maxLength', 'minItems', 'maxItems', 'uniqueItems', 'multipleOf', 'exclusiveMinimum', 'exclusiveMaximum'],
  ...['nullable', 'strict', 'readOnly', 'writeOnly', 'deprecated', 'minProperties', 'maxProperties', 'discriminator'],
  ...['contentEncoding', 'contentMediaType', 'minContains', 'maxContains', 'propertyOrdering'],
])

const TYPES: ReadonlySet<string> = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'])

/** Visits the values of a schema. */
export interface SchemaWalk {
  /** Visits the children of a list or an object, later. */
  each(value: JsonValue, visit: VisitChild): void
  report(place: WalkedPlace): void
}

/**
 * The strings of a JSON Schema, all of which a model reads. Descriptions can be masked; in all others (names of properties, values,
 * patterns) a change would alter what the tool accepts. Only the names of keywords and of the seven types are not reported.
 */
export function walkSchema(value: JsonValue, at: Location, walk: SchemaWalk): void {
  if (value.kind === 'array') {
    return walk.each(value, (element, { index }) => walkSchema(element, new Location(element, at, index), walk))
  }
  if (value.kind !== 'object') return walkFixed(value, at, walk)
  walk.each(value, (member, children) => {
    const { name } = children
    const inner = new Location(member, at, children.index, isKeyword(name) ? name : CHOSEN)
    if (!isKeyword(name)) walk.report(nameAt(children, inner))
    if (SCHEMAS.has(name)) walkSchema(member, inner, walk)
    else if (SCHEMA_MAPS.has(name)) walkMap(member, inner, walk)
    else if (TEXTS.has(name) && member.kind === 'string') walk.report(new WalkedPlace(rangeOf(member), inner, true))
    else if (name === 'type') walkType(member, inner, walk)
    else walkFixed(member, inner, walk)
  })
}

function isKeyword(name: string): boolean {
  return TEXTS.has(name) || SCHEMAS.has(name) || SCHEMA_MAPS.has(name) || VALUES.has(name)
}

function walkMap(value: JsonValue, at: Location, walk: SchemaWalk): void {
  if (value.kind !== 'object') return walkFixed(value, at, walk)
  walk.each(value, (member, children) => {
    const inner = new Location(member, at, children.index, CHOSEN)
    walk.report(nameAt(children, inner))
    walkSchema(member, inner, walk)
  })
}

function walkType(value: JsonValue, at: Location, walk: SchemaWalk): void {
  if (value.kind !== 'array') {
    if (!TYPES.has(value.text)) walkFixed(value, at, walk)
    return
  }
  const types = value.children()
  for (let type = types.next(); type !== undefined; type = types.next()) {
    if (!TYPES.has(type.text)) return walkFixed(value, at, walk)
  }
}

function walkFixed(value: JsonValue, at: Location, walk: SchemaWalk): void {
  if (value.kind === 'string') walk.report(new WalkedPlace(rangeOf(value), at, false))
  else if (value.kind === 'array') {
    walk.each(value, (element, { index }) => walkFixed(element, new Location(element, at, index), walk))
  } else if (value.kind === 'object') {
    walk.each(value, (member, children) => {
      const inner = new Location(member, at, children.index, CHOSEN)
      walk.report(nameAt(children, inner))
      walkFixed(member, inner, walk)
    })
  }
}
