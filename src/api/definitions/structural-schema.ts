import { describeGroup, nodeOf, type SchemaNode, type TSchema } from '#schema/index.ts'
import { fieldIn } from './server-expression.ts'

/**
 * A structural schema of Kubernetes (apiextensions.k8s.io/v1, `openAPIV3Schema`), as plain JSON. What only this gateway can check, such as the
 * syntax of expressions, is not in it: the status of an object reports that.
 */
export interface StructuralSchema {
  readonly [keyword: string]: unknown
}

/** A rule that an API server evaluates (`x-kubernetes-validations`). */
export interface ServerRule {
  readonly rule: string
  readonly message: string
}

/** @returns the schema of a field or of a whole kind */
export function structuralSchema(schema: TSchema): StructuralSchema {
  return convert(nodeOf(schema))
}

function convert(node: SchemaNode): StructuralSchema {
  return { ...pick(node, ['description']), ...shapeOf(node), ...pick(node, ['default']) }
}

function shapeOf(node: SchemaNode): StructuralSchema {
  if (node.scalar === 'JSON') return ANYTHING
  if (node.intOrString) return { ...INT_OR_STRING, ...textKeywords(node), ...pick(node, ['minimum', 'maximum']) }
  switch (node.type) {
    case 'object':
      return node.additionalProperties === undefined ? objectOf(node) : mapOf(node, node.additionalProperties)
    case 'array':
      return listOf(node)
    case 'string':
      return { type: 'string', ...textKeywords(node) }
    default:
      return { type: node.type, ...pick(node, ['minimum', 'maximum']) }
  }
}

const OPEN: StructuralSchema = { 'x-kubernetes-preserve-unknown-fields': true }
/** Null is a value, too: an API server drops members that are null and not `nullable`. */
const ANYTHING: StructuralSchema = { nullable: true, ...OPEN }
const INT_OR_STRING: StructuralSchema = {
  'x-kubernetes-int-or-string': true,
  anyOf: [{ type: 'integer' }, { type: 'string' }],
}

/** The longest duration has four groups of five digits and a unit; a bound makes rules about it cheap. */
const MAX_DURATION = { maxLength: 32 }

function textKeywords(node: SchemaNode): StructuralSchema {
  const { scalar, const: only, onServer } = node
  return {
    ...(scalar === 'Duration' ? MAX_DURATION : {}),
    ...pick(node, ['minLength', 'maxLength', 'pattern', 'enum']),
    ...(only === undefined ? {} : { enum: [only] }),
    ...validations(onServer === undefined ? [] : [onServer]),
  }
}

function listOf(node: SchemaNode): StructuralSchema {
  const { items, uniqueBy } = node
  return {
    type: 'array',
    ...listType(items!, uniqueBy),
    ...pick(node, ['minItems', 'maxItems']),
    items: convert(items!),
  }
}

/** The items of a set are scalars, and the keys of a map are always present (Kubernetes, "Merge strategy"). */
function listType(items: SchemaNode, keys: SchemaNode['uniqueBy']): StructuralSchema {
  if (keys === undefined) return { 'x-kubernetes-list-type': 'atomic' }
  if (keys.length === 0) return { 'x-kubernetes-list-type': items.type === 'object' ? 'atomic' : 'set' }
  return { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys }
}

function mapOf(node: SchemaNode, value: SchemaNode): StructuralSchema {
  return { type: 'object', additionalProperties: convert(value), ...pick(node, ['minProperties', 'maxProperties']) }
}

function objectOf(node: SchemaNode): StructuralSchema {
  const { properties = {}, required = [], insteadOf, open } = node
  // The API server would set defaults also beside the field that excludes them. The gateway sets them where they apply.
  const fieldOf = (field: SchemaNode) => convert(insteadOf === undefined ? field : { ...field, default: undefined })
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, fieldOf(field)])),
    ...(insteadOf === undefined && required.length > 0 ? { required } : {}),
    ...(open === true ? OPEN : {}),
    ...validations(serverRules(node)),
  }
}

function serverRules(node: SchemaNode): readonly ServerRule[] {
  const { insteadOf, groups = [], rules = [] } = node
  const own: (ServerRule & { readonly isOfReplacement?: boolean })[] = [
    ...(insteadOf === undefined ? [] : (node.required ?? []).map(requiredRule)),
    ...groups.map((group): ServerRule => {
      const set = group.fields.map((name) => `has(${fieldIn('self', name)})`)
      return {
        rule: `[${set.join(', ')}].filter(isSet, isSet).size() ${SIZES[group.count]}`,
        message: describeGroup(group),
      }
    }),
    ...rules.flatMap(({ onServer, reads, description }) =>
      onServer === undefined
        ? []
        : [{ rule: onServer, message: description, isOfReplacement: isOnly(reads, insteadOf) }],
    ),
  ]
  if (insteadOf === undefined) return own.map(({ rule, message }) => ({ rule, message }))
  const replaces = `has(${fieldIn('self', insteadOf)})`
  const others = Object.keys(node.properties ?? {}).filter((name) => name !== insteadOf)
  const alone = others.map((name) => `!has(${fieldIn('self', name)})`).join(' && ')
  return [
    { rule: `!${replaces} || ${alone}`, message: `${insteadOf} cannot be set with any other field.` },
    ...own.map(({ rule, message, isOfReplacement }) => ({
      rule: isOfReplacement === true ? rule : `${replaces} || (${rule})`,
      message,
    })),
  ]
}

/** Whether a rule is about the field that replaces all others. */
function isOnly(reads: readonly string[], field: string | undefined): boolean {
  return reads.length > 0 && reads.every((name) => name === field)
}

const SIZES = { 'exactly-one': '== 1', 'at-least-one': '>= 1', 'at-most-one': '<= 1' } as const

function requiredRule(name: string): ServerRule {
  return { rule: `has(${fieldIn('self', name)})`, message: `${name} is required` }
}

function validations(rules: readonly ServerRule[]): StructuralSchema {
  return rules.length === 0 ? {} : { 'x-kubernetes-validations': rules }
}

function pick(node: SchemaNode, keywords: readonly (keyof SchemaNode)[]): StructuralSchema {
  return Object.fromEntries(keywords.flatMap((name) => (node[name] === undefined ? [] : [[name, node[name]]])))
}
