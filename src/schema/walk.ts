import type { TSchema } from 'typebox'
import { parseDuration } from '#base/duration.ts'
import { nodeOf, type SchemaNode } from './node.ts'
import { fieldPath, itemPath } from './problem.ts'

/** A part of a value together with the schema that describes it. */
export interface Visited {
  readonly node: SchemaNode
  readonly value: unknown
  readonly path: string
}

/**
 * Visits a value and all parts that the schema describes, outer before inner, in the order of the value. Unknown fields and parts of the
 * wrong shape are skipped, so values need not be validated.
 */
export function* walk(schema: TSchema, value: unknown, path = ''): Generator<Visited> {
  yield* walkNode(nodeOf(schema), value, path)
}

function* walkNode(node: SchemaNode, value: unknown, path: string): Generator<Visited> {
  yield { node, value, path }
  if (node.items !== undefined && Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* walkNode(node.items, item, itemPath(path, index))
    return
  }
  if (node.type !== 'object' || typeof value !== 'object' || value === null || Array.isArray(value)) return
  for (const [name, member] of Object.entries(value)) {
    const property =
      node.properties !== undefined && Object.hasOwn(node.properties, name) ? node.properties[name] : undefined
    if (property !== undefined) yield* walkNode(property, member, fieldPath(path, name))
    else if (node.additionalProperties !== undefined)
      yield* walkNode(node.additionalProperties, member, itemPath(path, name))
  }
}

/** Every CEL expression of a value with its path. */
export function* expressionsIn(
  schema: TSchema,
  value: unknown,
  path = '',
): Generator<{ readonly expression: string; readonly path: string }> {
  for (const visited of walk(schema, value, path)) {
    if (typeof visited.value !== 'string' || !isExpression(visited.node, visited.value)) continue
    yield { expression: visited.value, path: visited.path }
  }
}

function isExpression(node: SchemaNode, value: string): boolean {
  if (node.scalar === 'DurationOrCEL') return parseDuration(value) === undefined
  return node.scalar === 'CELExpression'
}
