import type { TSchema } from 'typebox'
import { nodeOf, type SchemaNode } from './node.ts'

/**
 * Yields every text that the schema marks as a secret.
 * @param path location of the value in the schema, such as `spec.backend.auth`; empty for the whole
 */
export function secretsIn(schema: TSchema, path: string, value: unknown): readonly string[] {
  const node = nodeAt(nodeOf(schema), path)
  const found: string[] = []
  if (node !== undefined) collect(node, value, found)
  return found
}

function collect(node: SchemaNode, value: unknown, found: string[]): void {
  if (!mayHoldSecret(node)) return
  if (node.secret !== undefined && typeof value === 'string') found.push(value)
  if (Array.isArray(value)) {
    if (node.items !== undefined) for (const item of value) collect(node.items, item, found)
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      const property = memberOf(node, name)
      if (property !== undefined) collect(property, member, found)
    }
  }
}

/** Whether a schema contains a secret; cached, because most schemas contain none and need no traversal. */
const holders = new WeakMap<SchemaNode, boolean>()

function mayHoldSecret(node: SchemaNode): boolean {
  let may = holders.get(node)
  if (may === undefined) {
    const parts = [node.items, node.additionalProperties, ...Object.values(node.properties ?? {})]
    may = node.secret !== undefined || parts.some((part) => part !== undefined && mayHoldSecret(part))
    holders.set(node, may)
  }
  return may
}

/**
 * Copies a value and replaces every part that the schema marks as a secret with `instead`. Parts that the schema does not describe are kept.
 * @param path location of the value in the schema, such as `spec.backend.auth`; nothing is hidden if the schema has no such location
 */
export function withoutSecrets(schema: TSchema, path: string, value: unknown, instead: string): unknown {
  const node = nodeAt(nodeOf(schema), path)
  return node === undefined ? value : hide(node, value, instead)
}

function hide(node: SchemaNode, value: unknown, instead: string): unknown {
  if (node.secret !== undefined) return hidden(node.secret, value, instead)
  if (Array.isArray(value))
    return node.items === undefined ? value : value.map((item) => hide(node.items!, item, instead))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, member]) => {
    const property = memberOf(node, name)
    return [name, property === undefined ? member : hide(property, member, instead)] as const
  })
  return Object.fromEntries(members)
}

/** In a htpasswd line, the user name is kept. */
function hidden(mark: NonNullable<SchemaNode['secret']>, value: unknown, instead: string): string {
  if (mark !== 'after-colon' || typeof value !== 'string') return instead
  const colon = value.indexOf(':')
  return colon < 0 ? instead : `${value.slice(0, colon)}:${instead}`
}

/** The node of a field path such as `spec.ai.groups[0].providers[1]`. */
function nodeAt(node: SchemaNode, path: string): SchemaNode | undefined {
  let found: SchemaNode | undefined = node
  for (const [step] of path.matchAll(/[^.[\]]+/g)) {
    if (found === undefined) return undefined
    found = found.items ?? memberOf(found, step)
  }
  return found
}

function memberOf(node: SchemaNode, name: string): SchemaNode | undefined {
  if (node.properties !== undefined && Object.hasOwn(node.properties, name)) return node.properties[name]
  return node.additionalProperties
}
