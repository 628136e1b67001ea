import { isJsonObject, type JsonObject, type JsonSchema, schemaOfMember, setMember } from './json-schema.ts'

/**
 * Sets the defaults of the schema (Kubernetes, "Defaulting"). A null that the schema does not permit counts as absent: it becomes the
 * default, or is removed.
 */
export function assignDefaults(object: JsonObject, schema: JsonSchema): JsonObject {
  return defaultsIn(object, schema) as JsonObject
}

function defaultsIn(value: unknown, schema: JsonSchema | undefined): unknown {
  if (Array.isArray(value)) {
    const items = schema?.items
    return value.map((item) =>
      defaultsIn(isUnwantedNull(item, items) && items.default !== undefined ? items.default : item, items),
    )
  }
  return isJsonObject(value) ? defaultsOfObject(value, schema) : value
}

function defaultsOfObject(object: JsonObject, schema: JsonSchema | undefined): Record<string, unknown> {
  const completed: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(object)) {
    const known = schemaOfMember(schema, name)
    if (!isUnwantedNull(member, known)) setMember(completed, name, defaultsIn(member, known))
    else if (known.default !== undefined) setMember(completed, name, defaultsIn(known.default, known))
  }
  for (const [name, property] of Object.entries(schema?.properties ?? {})) {
    if (property.default === undefined || property.default === null || Object.hasOwn(completed, name)) continue
    setMember(completed, name, defaultsIn(property.default, property))
  }
  return completed
}

function isUnwantedNull(value: unknown, schema: JsonSchema | undefined): schema is JsonSchema {
  return value === null && schema !== undefined && schema.nullable !== true
}
