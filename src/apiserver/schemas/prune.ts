import { isJsonObject, type JsonObject, type JsonSchema, schemaOfMember, setMember } from './json-schema.ts'

/** Members of every object that a schema need not name. */
const IDENTITY: readonly string[] = ['apiVersion', 'kind', 'metadata']

export interface Pruned {
  readonly object: JsonObject
  /** Paths of the fields that were removed: `spec.a[0].b`. */
  readonly unknown: readonly string[]
}

/** Removes the members that the schema of a kind does not know (Kubernetes, "Field pruning"). */
export function prune(object: JsonObject, schema: JsonSchema): Pruned {
  const unknown: string[] = []
  const embedded = { ...schema, 'x-kubernetes-embedded-resource': true }
  const pruned = pruneValue(object, embedded, '', unknown)
  return { object: pruned as JsonObject, unknown: unknown.sort() }
}

function pruneValue(value: unknown, schema: JsonSchema | undefined, path: string, unknown: string[]): unknown {
  if (Array.isArray(value)) {
    // Items of a list that keeps unknown fields keep theirs, too.
    const items = keepsUnknown(schema) ? keeping(schema?.items) : schema?.items
    return value.map((item, index) => pruneValue(item, items, `${path}[${index}]`, unknown))
  }
  return isJsonObject(value) ? pruneObject(value, schema, path, unknown) : value
}

function pruneObject(
  object: JsonObject,
  schema: JsonSchema | undefined,
  path: string,
  unknown: string[],
): Record<string, unknown> {
  const kept: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(object)) {
    const isIdentity = schema?.['x-kubernetes-embedded-resource'] === true && IDENTITY.includes(name)
    const field = path === '' ? name : `${path}.${name}`
    if (isIdentity) setMember(kept, name, member)
    else if (isKnown(schema, name))
      setMember(kept, name, pruneValue(member, schemaOfMember(schema, name), field, unknown))
    else if (keepsUnknown(schema)) setMember(kept, name, member)
    else unknown.push(field)
  }
  return kept
}

function isKnown({ properties, additionalProperties }: JsonSchema = {}, name: string): boolean {
  return (properties !== undefined && Object.hasOwn(properties, name)) || Boolean(additionalProperties)
}

function keepsUnknown(schema: JsonSchema | undefined): boolean {
  return schema?.['x-kubernetes-preserve-unknown-fields'] === true
}

function keeping(schema: JsonSchema | undefined): JsonSchema {
  return { ...schema, 'x-kubernetes-preserve-unknown-fields': true }
}
