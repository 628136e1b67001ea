import type { Json, JsonObject } from '#base/json.ts'
import { isJsonArray, isJsonObject, memberOf, setMember } from './json-object.ts'

/** Members of a strategic merge patch that say how to merge (Kubernetes, "Strategic Merge Patch"). */
export const DIRECTIVE = '$patch'
export const RETAIN_KEYS = '$retainKeys'
export const DELETE_ITEMS = '$deleteFromPrimitiveList/'
export const ITEM_ORDER = '$setElementOrder/'

export function isDirective(name: string): boolean {
  return name === DIRECTIVE || name === RETAIN_KEYS || name.startsWith(DELETE_ITEMS) || name.startsWith(ITEM_ORDER)
}

/** A value of the patch where the object has none: without directives, and without members that are null. Undefined if nothing is left. */
export function adopt(value: Json): Json | undefined {
  if (isJsonArray(value)) return adoptItems(value)
  if (!isJsonObject(value)) return value
  return memberOf(value, DIRECTIVE) === undefined ? adoptMembers(value) : undefined
}

export function adoptItems(items: readonly Json[]): readonly Json[] {
  return items.map(adopt).filter((item) => item !== undefined)
}

export function adoptMembers(object: JsonObject): JsonObject {
  const adopted: Record<string, Json> = {}
  for (const [name, value] of Object.entries(object)) {
    if (value !== null && !isDirective(name)) setOrDelete(adopted, name, adopt(value))
  }
  return adopted
}

export function setOrDelete(object: Record<string, Json>, name: string, value: Json | undefined): void {
  if (value === undefined) delete object[name]
  else setMember(object, name, value)
}
