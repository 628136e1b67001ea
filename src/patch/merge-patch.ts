import type { Json, JsonObject } from '#base/json.ts'
import { isJsonObject, memberOf, setMember } from './json-object.ts'
import { PatchError, type Patched, patched } from './patched.ts'

/** Applies a merge patch (RFC 7386) to an object. */
export function applyMergePatch(object: JsonObject, patch: unknown): Patched<JsonObject> {
  return patched(() => {
    if (!isJsonObject(patch)) throw new PatchError('BadRequest', 'error decoding patch: a merge patch is an object')
    return mergeInto(object, patch)
  })
}

function mergeInto(target: JsonObject, patch: JsonObject): JsonObject {
  const merged: Record<string, Json> = { ...target }
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name]
    else setMember(merged, name, isJsonObject(value) ? mergeInto(objectIn(target, name), value) : value)
  }
  return merged
}

/** A member that is not an object is replaced by one. */
function objectIn(target: JsonObject, name: string): JsonObject {
  const member = memberOf(target, name)
  return isJsonObject(member) ? member : {}
}
