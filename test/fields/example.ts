import type { ScalarName, SchemaNode } from '#schema/node.ts'
import { COMPANIONS, EXAMPLES } from './example-values.ts'
import { MAP_KEY, type Step, titleOf } from './leaves.ts'

/**
 * A minimal valid value of a schema that contains the field at `steps`.
 * @param title of the value, as of a leaf
 */
export function exampleOf(node: SchemaNode, steps: readonly Step[], title: string): unknown {
  const given = EXAMPLES.find(([pattern]) => pattern.test(title))
  if (given !== undefined && (steps.length === 0 || !isParent(node))) return given[1]
  if (node.scalar === 'JSON') return {}
  if (node.type === 'array') {
    const item = exampleOf(node.items!, steps.slice(1), `${title}[]`)
    return steps.length > 0 || (node.minItems ?? 0) > 0 ? [item] : []
  }
  if (node.type === 'object') {
    if (node.additionalProperties !== undefined)
      return steps.length > 0 || (node.minProperties ?? 0) > 0
        ? { [MAP_KEY]: exampleOf(node.additionalProperties, steps.slice(1), `${title}.${MAP_KEY}`) }
        : {}
    return exampleObject(node, steps, title)
  }
  return exampleScalar(node)
}

function isParent({ type, scalar, intOrString }: SchemaNode): boolean {
  return (type === 'object' || type === 'array') && scalar === undefined && intOrString !== true
}

function exampleObject(node: SchemaNode, [wanted, ...rest]: readonly Step[], title: string): unknown {
  const { properties = {}, required = [], groups = [], insteadOf } = node
  const path = `${title}${titleOf(wanted === undefined ? [] : [wanted, ...rest])}`
  const split = `${title}|${path.slice(title.length)}`
  const isFitting = (members: object) => Object.keys(members).every((name) => Object.hasOwn(properties, name))
  const [, companions = {}] =
    COMPANIONS.find(([pattern, members]) => (pattern.test(path) || pattern.test(split)) && isFitting(members)) ?? []
  const isReplaced = insteadOf !== undefined && wanted === insteadOf
  const names = new Set(isReplaced ? [] : required)
  if (wanted !== undefined) names.add(String(wanted))
  for (const { count, fields } of isReplaced ? [] : groups) {
    const isSet = fields.some((field) => names.has(field) || Object.hasOwn(companions, field))
    if (count !== 'at-most-one' && !isSet) names.add(fields[0]!)
  }
  // A reference to a Service requires a port.
  if (isFitting({ port: 0, kind: '', namespace: '' }) && !isFitting({ sectionName: '' })) names.add('port')
  const made = [...names].map((name) => [
    name,
    exampleOf(properties[name]!, name === wanted ? rest : [], `${title}.${name}`),
  ])
  return { ...Object.fromEntries(made), ...companions, ...Object.fromEntries(made.filter(([name]) => name === wanted)) }
}

function exampleScalar({
  enum: words,
  const: only,
  type,
  minimum = 0,
  maximum = minimum + 1,
  scalar,
  intOrString,
}: SchemaNode) {
  if (only !== undefined) return only
  if (words !== undefined) return words[0]
  if (scalar !== undefined) return SCALARS[scalar]
  if (type === 'boolean') return true
  if (type === 'integer') return Math.min(Math.max(1, minimum), maximum)
  return intOrString === true ? 1 : 'known'
}

const SCALARS: Readonly<Partial<Record<ScalarName, unknown>>> = {
  ShortString: 'known',
  TinyString: 'known',
  LongString: 'known',
  SectionName: 'known',
  CELExpression: 'true',
  DurationOrCEL: '1s',
  Duration: '2h',
  HTTPHeaderName: 'x-known',
  HeaderName: 'x-known',
  SNI: 'known.example.com',
  ByteSize: '64Ki',
  Quantity: 1,
}
