import { duplicateField, invalidField } from '../kinds/field-errors.ts'
import type { Cause } from '../kinds/served-kind.ts'
import { canonicalText } from './canonical-text.ts'
import { isJsonObject, type JsonObject, type JsonSchema, pathOfMember, schemaOfMember } from './json-schema.ts'

/** Refuses duplicates in lists that are sets, or maps by keys (Kubernetes, `x-kubernetes-list-type`). */
export function checkLists(value: unknown, schema: JsonSchema, path: string): readonly Cause[] {
  if (Array.isArray(value)) return checkList(value, schema, path)
  if (!isJsonObject(value)) return []
  return Object.entries(value).flatMap(([name, member]) => {
    const known = schemaOfMember(schema, name)
    return known === undefined ? [] : checkLists(member, known, pathOfMember(schema, path, name))
  })
}

function checkList(list: readonly unknown[], schema: JsonSchema, path: string): readonly Cause[] {
  const { items } = schema
  const inside = items === undefined ? [] : list.flatMap((item, index) => checkLists(item, items, `${path}[${index}]`))
  switch (schema['x-kubernetes-list-type']) {
    case 'set':
      return [...duplicates(list, path), ...inside]
    case 'map':
      return [...checkMap(list, schema['x-kubernetes-list-map-keys'] ?? [], path), ...inside]
    default:
      return inside
  }
}

function checkMap(list: readonly unknown[], keys: readonly string[], path: string): readonly Cause[] {
  const odd = list.findIndex((item) => item !== null && !isJsonObject(item))
  if (odd >= 0) return [invalidField(`${path}[${odd}]`, list[odd], 'must be an object for an array of list-type map')]
  return duplicates(
    list.map((item) => keyOf((item ?? {}) as JsonObject, keys)),
    path,
  )
}

/** The members of an item that distinguish it from others. */
export function keyOf(item: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(keys.flatMap((key) => (Object.hasOwn(item, key) ? [[key, item[key]]] : [])))
}

/** The first repetition of each value. */
function duplicates(values: readonly unknown[], path: string): readonly Cause[] {
  const times = new Map<string, number>()
  return values.flatMap((value, index) => {
    const text = canonicalText(value)
    const before = times.get(text) ?? 0
    times.set(text, before + 1)
    return before === 1 ? [duplicateField(`${path}[${index}]`, value)] : []
  })
}
