import type { TSchema } from 'typebox'
import { nodeOf, type SchemaNode } from './node.ts'
import { fieldPath, itemPath } from './problem.ts'

/** The path of the first part of a value that the schema does not know: a field, or the value of an enumeration. Undefined: it knows all of them. */
export function unknownPart(schema: TSchema, value: unknown, path = ''): string | undefined {
  return unknownIn(nodeOf(schema), value, path)
}

function unknownIn(node: SchemaNode, value: unknown, path: string): string | undefined {
  if (node.scalar === 'JSON' || node.open === true) return undefined
  if (node.enum !== undefined && !node.enum.includes(value as string)) return path
  const { items, properties, additionalProperties } = node
  if (Array.isArray(value))
    return items && firstOf(value, (item, index) => unknownIn(items, item, itemPath(path, index)))
  if (node.type !== 'object' || typeof value !== 'object' || value === null) return undefined
  return firstOf(Object.entries(value), ([name, member]) => {
    const property = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined
    if (property !== undefined) return unknownIn(property, member, fieldPath(path, name))
    if (additionalProperties !== undefined) return unknownIn(additionalProperties, member, itemPath(path, name))
    return fieldPath(path, name)
  })
}

function firstOf<T>(values: readonly T[], find: (value: T, index: number) => string | undefined): string | undefined {
  for (const [index, value] of values.entries()) {
    const found = find(value, index)
    if (found !== undefined) return found
  }
  return undefined
}
