import type { Json, JsonObject } from '#base/json.ts'
import {
  adopt,
  adoptMembers,
  DELETE_ITEMS,
  DIRECTIVE,
  ITEM_ORDER,
  isDirective,
  RETAIN_KEYS,
  setOrDelete,
} from './directives.ts'
import { isJsonArray, isJsonObject, memberOf, setMember } from './json-object.ts'
import type { MergeKeys } from './merge-keys.ts'
import { type ListRules, mergeLists, mergeListsInOrder } from './merge-lists.ts'
import { PatchError, type Patched, patched } from './patched.ts'

/** Applies a strategic merge patch to an object whose lists have these merge keys. */
export function applyStrategicMergePatch(object: JsonObject, patch: unknown, keys: MergeKeys): Patched<JsonObject> {
  return patched(() => {
    if (!isJsonObject(patch)) throw new PatchError('BadRequest', 'error decoding patch: a merge patch is an object')
    return mergeObjects(object, patch, keys)
  })
}

/** @throws PatchError */
function mergeObjects(object: JsonObject, patch: JsonObject, keys: MergeKeys | undefined): JsonObject {
  const directive = memberOf(patch, DIRECTIVE)
  if (directive !== undefined) return applyDirective(directive, patch)
  const merged = retained(object, patch)
  for (const [name, value] of Object.entries(patch)) {
    if (name.startsWith(ITEM_ORDER)) mergeOrdered(merged, patch, keys, name.slice(ITEM_ORDER.length), value)
  }
  for (const [name, value] of Object.entries(patch)) {
    if (name.startsWith(DELETE_ITEMS)) deleteItems(merged, name.slice(DELETE_ITEMS.length), value)
    else if (!isDirective(name) && !isOrdered(patch, name)) mergeMember(merged, name, value, fieldOf(keys, name))
  }
  return merged
}

/** `$patch: replace` takes the patch as it is, `$patch: delete` leaves nothing. */
function applyDirective(directive: Json, patch: JsonObject): JsonObject {
  if (directive === 'delete') return {}
  if (directive === 'replace') return adoptMembers(patch)
  throw new PatchError('BadRequest', `unknown patch type: ${String(directive)} in map`)
}

/** The members of the object that `$retainKeys` names; all if the patch does not have it. */
function retained(object: JsonObject, patch: JsonObject): Record<string, Json> {
  const names = memberOf(patch, RETAIN_KEYS)
  if (names === undefined) return { ...object }
  const isNamed = (name: string) => isJsonArray(names) && names.includes(name)
  const others = Object.entries(patch).filter(([name, value]) => !isDirective(name) && value !== null && !isNamed(name))
  if (!isJsonArray(names) || others.length > 0) throw malformed('retainKeys')
  return Object.fromEntries(Object.entries(object).filter(([name]) => isNamed(name)))
}

function mergeMember(merged: Record<string, Json>, name: string, value: Json, keys: MergeKeys | undefined): void {
  if (value === null) {
    delete merged[name]
    return
  }
  const before = memberOf(merged, name)
  if (isJsonObject(before) && isJsonObject(value)) {
    setMember(merged, name, mergeObjects(before, value, keys))
  } else if (isJsonArray(before) && isJsonArray(value) && keys?.mergeKey !== undefined) {
    setMember(merged, name, mergeLists(before, value, rulesOf(keys)))
  } else {
    setOrDelete(merged, name, adopt(value))
  }
}

/** Merges a list and brings it into the order of `$setElementOrder`. */
function mergeOrdered(
  merged: Record<string, Json>,
  patch: JsonObject,
  keys: MergeKeys | undefined,
  name: string,
  order: Json,
): void {
  const before = memberOf(merged, name) ?? undefined
  const items = memberOf(patch, name)
  if (!isJsonArray(order) || (before !== undefined && !isJsonArray(before))) throw malformed('setElementOrder list')
  if (items !== undefined && !isJsonArray(items)) throw malformed('setElementOrder list')
  if (before === undefined && items === undefined) return
  setMember(merged, name, mergeListsInOrder({ before, items, order }, rulesOf(fieldOf(keys, name))))
}

function deleteItems(merged: Record<string, Json>, name: string, items: Json): void {
  const before = memberOf(merged, name)
  if (items === null) delete merged[name]
  else if (!isJsonArray(items)) throw malformed('primitive list')
  else if (isJsonArray(before))
    setOrDelete(
      merged,
      name,
      before.filter((item) => !items.includes(item)),
    )
}

function isOrdered(patch: JsonObject, name: string): boolean {
  return memberOf(patch, `${ITEM_ORDER}${name}`) !== undefined
}

function fieldOf(keys: MergeKeys | undefined, name: string): MergeKeys | undefined {
  const { fields = {} } = keys ?? {}
  return Object.hasOwn(fields, name) ? fields[name] : undefined
}

function rulesOf(keys: MergeKeys | undefined): ListRules {
  return { mergeKey: keys?.mergeKey, mergeItems: (before, patch) => mergeObjects(before, patch, keys) }
}

function malformed(what: string): PatchError {
  return new PatchError('BadRequest', `invalid patch format of ${what}`)
}
