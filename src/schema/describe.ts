import { count } from '#base/count.ts'
import { nameWithProduct } from '#base/products.ts'
import type { FieldGroup, ScalarName, SchemaNode } from './node.ts'

/** Names of scalar types, for users. */
const SCALARS: { readonly [S in ScalarName]: string } = {
  ShortString: 'text',
  TinyString: 'text',
  LongString: 'text',
  CELExpression: 'CEL expression',
  HTTPHeaderName: 'header name',
  HeaderName: 'header name or pseudo-header',
  SNI: 'TLS server name',
  ByteSize: 'size in bytes, such as 65536 or 64Ki',
  Duration: 'duration, such as 500ms or 1m30s',
  DurationOrCEL: 'duration, such as 500ms or 1m30s, or CEL expression',
  JSON: 'any value',
  SectionName: 'name of a section',
  Quantity: 'quantity, such as 500m or 128Mi',
}

/** The type of a field with its bounds, in the words of users. */
export function describeType(node: SchemaNode): string {
  if (node.scalar === 'JSON') return SCALARS.JSON
  if (node.const !== undefined) return `"${node.const}"`
  if (node.enum !== undefined) return `one of ${node.enum.map(nameWithProduct).join(', ')}`
  switch (node.type) {
    case 'object':
      return describeObject(node)
    case 'array':
      return `list of ${describeItems(node)}${range(node.minItems, node.maxItems, 'item', 'items')}`
    case 'integer':
      return `integer${range(node.minimum, node.maximum)}`
    case 'number':
      return `number${range(node.minimum, node.maximum)}`
    case 'boolean':
      return 'true or false'
    default:
      return describeText(node)
  }
}

function describeObject(node: SchemaNode): string {
  if (node.additionalProperties === undefined) return 'object'
  const bounds = range(node.minProperties, node.maxProperties, 'entry', 'entries')
  return `map from names to ${inPlural(node.additionalProperties)}${bounds}`
}

function describeItems({ items, uniqueBy }: SchemaNode): string {
  const what = items === undefined ? 'values' : inPlural(items)
  return uniqueBy === undefined ? what : `unique ${what}`
}

function inPlural(node: SchemaNode): string {
  if (node.type === 'object' && node.additionalProperties === undefined) return 'objects'
  if (node.type === 'string' && node.enum === undefined && node.scalar === undefined) return 'texts'
  return describeType(node)
}

function describeText(node: SchemaNode): string {
  const plain = node.intOrString === true ? 'integer or text' : 'text'
  const what = node.scalar === undefined ? plain : SCALARS[node.scalar]
  if (node.scalar === 'ByteSize' || node.scalar === 'Quantity') return what
  if (node.minimumDuration !== undefined) return `${what}; at least ${node.minimumDuration}`
  return what + range(node.minLength, node.maxLength, 'character', 'characters')
}

function range(min: number | undefined, max: number | undefined, word?: string, plural?: string): string {
  const unit = (bound: number) => (word === undefined ? `${bound}` : count(bound, word, plural))
  if (min === undefined || (min === 0 && word !== undefined)) return max === undefined ? '' : `, at most ${unit(max)}`
  if (max === undefined) return `, at least ${unit(min)}`
  return min === max ? `, ${unit(min)}` : `, ${min} to ${unit(max)}`
}

/** Rules over several fields of an object, one sentence each. */
export function describeRules({ groups = [], rules = [], insteadOf }: SchemaNode): readonly string[] {
  const replaced = insteadOf === undefined ? [] : [`${insteadOf} cannot be set with any other field.`]
  return [...groups.map(describeGroup), ...rules.map(({ description }) => description), ...replaced]
}

const GROUP_COUNTS: { readonly [C in FieldGroup['count']]: string } = {
  'exactly-one': 'Exactly one of',
  'at-least-one': 'At least one of',
  'at-most-one': 'At most one of',
}

/** The rule of a group in one sentence. */
export function describeGroup({ count: number, fields }: FieldGroup): string {
  const verb = number === 'at-most-one' ? 'may be set' : 'must be set'
  if (fields.length === 1) return `${nameWithProduct(fields[0]!)} ${verb}.`
  return `${GROUP_COUNTS[number]} ${fields.map(nameWithProduct).join(', ')} ${verb}.`
}
