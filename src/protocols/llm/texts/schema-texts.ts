import type { JsonValue } from '../json/json-document.ts'
import { CHOSEN, Location, rangeOf, WalkedPlace } from './walked-place.ts'

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

/**
 * The strings of a JSON Schema, all of which a model reads. Descriptions can be masked; in all others (names of properties, values,
 * patterns) a change would alter what the tool accepts. Only the names of keywords and of the seven types are not reported.
 */
export function walkSchema(value: JsonValue, at: Location, report: (place: WalkedPlace) => void): void {
  if (value.kind === 'array') {
    value.elements.forEach((element, index) => {
      walkSchema(element, new Location(element, at, index), report)
    })
    return
  }
  if (value.kind !== 'object') return walkFixed(value, at, report)
  const { keys } = value
  value.members.forEach(([name, member], index) => {
    const inner = new Location(member, at, index, isKeyword(name) ? name : CHOSEN)
    if (!isKeyword(name)) reportName(keys[index]!, inner, report)
    if (SCHEMAS.has(name)) walkSchema(member, inner, report)
    else if (SCHEMA_MAPS.has(name)) walkMap(member, inner, report)
    else if (TEXTS.has(name) && member.kind === 'string') report(new WalkedPlace(rangeOf(member), inner, true))
    else if (name === 'type') walkType(member, inner, report)
    else walkFixed(member, inner, report)
  })
}

function isKeyword(name: string): boolean {
  return TEXTS.has(name) || SCHEMAS.has(name) || SCHEMA_MAPS.has(name) || VALUES.has(name)
}

function walkMap(value: JsonValue, at: Location, report: (place: WalkedPlace) => void): void {
  if (value.kind !== 'object') return walkFixed(value, at, report)
  const { keys } = value
  value.members.forEach(([, member], index) => {
    const inner = new Location(member, at, index, CHOSEN)
    reportName(keys[index]!, inner, report)
    walkSchema(member, inner, report)
  })
}

function walkType(value: JsonValue, at: Location, report: (place: WalkedPlace) => void): void {
  const types = value.kind === 'array' ? value.elements : [value]
  if (!types.every((type) => TYPES.has(type.text))) walkFixed(value, at, report)
}

function walkFixed(value: JsonValue, at: Location, report: (place: WalkedPlace) => void): void {
  if (value.kind === 'string') report(new WalkedPlace(rangeOf(value), at, false))
  else if (value.kind === 'array') {
    value.elements.forEach((element, index) => {
      walkFixed(element, new Location(element, at, index), report)
    })
  } else if (value.kind === 'object') {
    const { keys } = value
    value.members.forEach(([, member], index) => {
      const inner = new Location(member, at, index, CHOSEN)
      reportName(keys[index]!, inner, report)
      walkFixed(member, inner, report)
    })
  }
}

function reportName(key: { start: number; end: number }, at: Location, report: (place: WalkedPlace) => void): void {
  report(new WalkedPlace(key, at, false, 'string', true))
}
