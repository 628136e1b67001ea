import type { Json, JsonObject } from '#base/json.ts'

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isJsonArray(value: unknown): value is readonly Json[] {
  return Array.isArray(value)
}

/** A member of the object itself: `toString` and `__proto__` are members like others. */
export function memberOf(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

/** Sets a member of an object that nobody else has seen. Assignment would change the prototype for `__proto__`. */
export function setMember(object: Record<string, Json>, name: string, value: Json): void {
  if (name === '__proto__') {
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
  } else object[name] = value
}
