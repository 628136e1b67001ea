import type { KindInfo } from '#api/kinds.ts'
import { nodeOf, type SchemaNode } from '#schema/node.ts'
import { badValue } from './bad-values.ts'
import { exampleOf } from './example.ts'
import { MAP_KEY, type Step, titleOf } from './leaves.ts'
import { type Members, replaced, subjectWith, valueAt } from './variants.ts'

/** An object that violates one constraint of one field, and no other if that is possible. */
export interface Violation {
  /** `ProxyPolicy.spec.traffic.timeouts.request: least duration` */
  readonly title: string
  /** The field as problems name it. */
  readonly path: string
  readonly object: Members
}

/** A violation of each type, bound, enumeration, form, requirement and group among the fields of a kind; equal schemas count once. */
export function* violationsOf(kind: KindInfo): Generator<Violation> {
  const { properties = {} } = nodeOf(kind.schema)
  const seen = new Set<SchemaNode>()
  for (const name of Object.keys(properties)) {
    if (!['apiVersion', 'kind', 'metadata', 'status'].includes(name)) {
      yield* violationsIn(kind, properties[name]!, [name], seen)
    }
  }
}

function* violationsIn(
  kind: KindInfo,
  node: SchemaNode,
  steps: readonly Step[],
  seen: Set<SchemaNode>,
): Generator<Violation> {
  if (seen.has(node)) return
  seen.add(node)
  const title = `${kind.kind}${titleOf(steps)}`
  // Lists and maps with an entry.
  const entry = node.type === 'array' ? [0 as const] : node.additionalProperties === undefined ? [] : [MAP_KEY]
  const valid = subjectWith({ kind, steps: [...steps, ...entry] })
  for (const [constraint, value] of wrongValues(node, valueAt(valid, steps), title)) {
    const object = replaced(valid, steps, value) as Members
    yield { title: `${title}: ${constraint}`, path: pathOf(steps), object }
  }
  if (node.items !== undefined) yield* violationsIn(kind, node.items, [...steps, 0], seen)
  if (node.additionalProperties !== undefined)
    yield* violationsIn(kind, node.additionalProperties, [...steps, MAP_KEY], seen)
  for (const [name, field] of Object.entries(node.properties ?? {}))
    yield* violationsIn(kind, field, [...steps, name], seen)
}

/** Only the key of an example entry follows in brackets, as it is the only one of a map. */
function pathOf(steps: readonly Step[]): string {
  return steps
    .map((step) => (step === 0 ? '[0]' : step === MAP_KEY ? `[${MAP_KEY}]` : `.${step}`))
    .join('')
    .slice(1)
}

function* wrongValues(node: SchemaNode, valid: unknown, title: string): Generator<readonly [string, unknown]> {
  if (node.scalar === 'JSON') return
  yield ['type', node.type === 'string' || node.intOrString === true ? true : 'text']
  if (node.type === 'array') yield* wrongLists(node, valid as unknown[])
  else if (node.additionalProperties !== undefined) yield* wrongMaps(node, valid as Members)
  else if (node.type === 'object') yield* wrongObjects(node, valid as Members, title)
  else yield* wrongScalars(node, title)
}

function* wrongScalars(node: SchemaNode, title: string): Generator<readonly [string, unknown]> {
  const { minLength = 0, maxLength, minimum, maximum, minimumDuration } = node
  if (node.enum !== undefined || node.const !== undefined) yield ['enumeration', 'NoSuchValue']
  if (minLength > 0) yield ['least length', 'a'.repeat(minLength - 1)]
  if (maxLength !== undefined) yield ['greatest length', 'a'.repeat(maxLength + 1)]
  if (minimum !== undefined) yield ['minimum', minimum - 1]
  if (maximum !== undefined) yield ['maximum', maximum + 1]
  if (minimumDuration !== undefined) yield ['least duration', '0s']
  const { check } = node
  if (check === undefined) return
  // Bad values of references are names of objects that do not exist.
  const malformed = [badValue(title, node), 'No name!'].find((value) => check(value as string) !== undefined)
  yield ['form', malformed]
}

function* wrongLists(
  { minItems = 0, maxItems, uniqueBy }: SchemaNode,
  [item]: unknown[],
): Generator<readonly [string, unknown]> {
  if (minItems > 0) yield ['least number', Array.from({ length: minItems - 1 }, () => item)]
  if (maxItems !== undefined) yield ['greatest number', Array.from({ length: maxItems + 1 }, () => item)]
  if (uniqueBy !== undefined) yield ['uniqueness', [item, item]]
}

function* wrongMaps(
  { minProperties = 0, maxProperties }: SchemaNode,
  valid: Members,
): Generator<readonly [string, unknown]> {
  const [value] = Object.values(valid)
  const entries = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`entry${at}`, value]))
  if (minProperties > 0) yield ['least number', entries(minProperties - 1)]
  if (maxProperties !== undefined) yield ['greatest number', entries(maxProperties + 1)]
}

function* wrongObjects(node: SchemaNode, valid: Members, title: string): Generator<readonly [string, unknown]> {
  const { properties = {}, required = [], groups = [], insteadOf } = node
  const example = (name: string) => exampleOf(properties[name]!, [], `${title}.${name}`)
  for (const name of required) yield [`${name} is required`, without(valid, [name])]
  for (const { count, fields } of groups) {
    if (count !== 'at-most-one') yield [`${count} of ${fields.join(', ')}: none`, without(valid, fields)]
    if (count === 'at-least-one' || fields.length === 1) continue
    const two = fields.slice(0, 2)
    const both = Object.fromEntries(two.map((name) => [name, example(name)]))
    yield [`${count} of ${fields.join(', ')}: two`, { ...without(valid, fields), ...both }]
  }
  if (insteadOf !== undefined) yield [`${insteadOf} alone`, { ...valid, [insteadOf]: example(insteadOf) }]
}

function without(members: Members, names: readonly string[]): Members {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)))
}
