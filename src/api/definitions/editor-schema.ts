import { nodeOf, type SchemaNode } from '#schema/index.ts'
import { apiVersionOf, type KindInfo } from '../kinds.ts'

/** A JSON Schema (draft-07), as plain JSON: what editors of YAML and JSON read. */
export interface EditorSchema {
  readonly [keyword: string]: unknown
}

const DIALECT = 'http://json-schema.org/draft-07/schema#'

/** The schema of files with objects of these kinds. */
export function editorSchema(kinds: readonly KindInfo[]): EditorSchema {
  return {
    $schema: DIALECT,
    title: 'Gatewright',
    type: 'object',
    required: ['apiVersion', 'kind'],
    properties: { kind: { enum: kinds.map(({ kind }) => kind) } },
    allOf: kinds.map((info) => ({
      if: { required: ['kind'], properties: { kind: { const: info.kind } } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: kindSchema(info),
    })),
  }
}

function kindSchema(info: KindInfo): EditorSchema {
  const { properties, ...rest } = convert(nodeOf(info.schema)) as { readonly properties: EditorSchema }
  const apiVersion = { enum: info.versions.map((version) => apiVersionOf(info, version)) }
  return { ...rest, description: info.description, properties: { ...properties, apiVersion } }
}

function convert(node: SchemaNode): EditorSchema {
  const { description, default: value } = node
  return {
    ...(description === undefined ? {} : { description }),
    ...(node.replacedBy === undefined ? {} : { deprecationMessage: `Deprecated: use ${node.replacedBy}.` }),
    ...shapeOf(node),
    ...(value === undefined ? {} : { default: value }),
  }
}

function shapeOf(node: SchemaNode): EditorSchema {
  if (node.scalar === 'JSON') return {}
  if (node.intOrString === true) return { type: ['integer', 'string'], ...pick(node, [...TEXT, 'minimum', 'maximum']) }
  switch (node.type) {
    case 'object':
      return node.additionalProperties === undefined
        ? objectOf(node)
        : {
            type: 'object',
            additionalProperties: convert(node.additionalProperties),
            ...pick(node, ['minProperties', 'maxProperties']),
          }
    case 'array':
      return {
        type: 'array',
        items: convert(node.items!),
        ...(node.uniqueBy === undefined ? {} : { uniqueItems: true }),
        ...pick(node, ['minItems', 'maxItems']),
      }
    case 'string':
      return { type: 'string', ...pick(node, TEXT) }
    default:
      return { type: node.type, ...pick(node, ['minimum', 'maximum']) }
  }
}

const TEXT = ['minLength', 'maxLength', 'pattern', 'enum', 'const'] as const

function objectOf(node: SchemaNode): EditorSchema {
  const { properties = {}, required = [], groups = [], insteadOf, open } = node
  const form = {
    ...(required.length > 0 ? { required } : {}),
    ...(groups.length > 0 ? { allOf: groups.map(groupOf) } : {}),
  }
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, convert(field)])),
    ...(open === true ? {} : { additionalProperties: false }),
    ...(insteadOf === undefined
      ? form
      : {
          oneOf: [
            { required: [insteadOf], maxProperties: 1 },
            { not: { required: [insteadOf] }, ...form },
          ],
        }),
  }
}

function groupOf({ count, fields }: NonNullable<SchemaNode['groups']>[number]): EditorSchema {
  const one = fields.map((name) => ({ required: [name] }))
  if (count === 'at-least-one') return { anyOf: one }
  if (count === 'exactly-one') return { oneOf: one }
  return { oneOf: [...one, { not: { anyOf: one } }] }
}

function pick(node: SchemaNode, keywords: readonly (keyof SchemaNode)[]): EditorSchema {
  return Object.fromEntries(keywords.flatMap((name) => (node[name] === undefined ? [] : [[name, node[name]]])))
}
