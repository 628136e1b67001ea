import type { TSchema } from 'typebox'
import { nodeOf, type SchemaNode } from './node.ts'
import { walkNode } from './walk.ts'

/**
 * Every text that the schema marks as a secret.
 * @param path where in the schema the value stands, such as `spec.backend.auth`; empty for the whole
 */
export function* secretsIn(schema: TSchema, path: string, value: unknown): Generator<string> {
  const node = nodeAt(nodeOf(schema), path)
  if (node === undefined) return
  for (const visited of walkNode(node, value, path)) {
    if (visited.node.secret === undefined || typeof visited.value !== 'string') continue
    yield visited.value
  }
}

/**
 * A copy of a value in which every part that the schema marks as a secret is `instead`. Parts that the schema does not describe stay.
 * @param path where in the schema the value stands, such as `spec.backend.auth`; nothing is hidden where the schema has no such place
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

/** A line of htpasswd keeps its user. */
function hidden(mark: NonNullable<SchemaNode['secret']>, value: unknown, instead: string): string {
  if (mark === 'whole' || typeof value !== 'string') return instead
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
