import type { Json, JsonObject } from '#base/json.ts'
import { adopt, adoptItems, DIRECTIVE } from './directives.ts'
import { isJsonObject, memberOf } from './json-object.ts'
import { PatchError } from './patched.ts'

type List = readonly Json[]

/** How the items of a list are merged. */
export interface ListRules {
  /** The member that identifies an item; '' if items are scalars; undefined if the patch replaces the list. */
  readonly mergeKey: string | undefined
  readonly mergeItems: (before: JsonObject, patch: JsonObject) => JsonObject
}

/**
 * Merges a list by its key. Items of the patch are in the order of the patch, others keep their order and, as far as both allow, their place.
 * @throws PatchError
 */
export function mergeLists(before: List, patch: List, { mergeKey = '', mergeItems }: ListRules): List {
  checkSameType([...before, ...patch])
  if (mergeKey === '') {
    const merged = [...new Set([...before, ...patch])]
    return arranged(merged, patch, before, '')
  }
  const { base, items } = applyDirectives(before, patch, mergeKey)
  const merged = [...base]
  const places = placesOf(merged, mergeKey)
  for (const item of items) {
    const key = keyOf(item, mergeKey)
    const place = places.get(key)
    if (place === undefined) {
      places.set(key, merged.length)
      merged.push(adopt(item)!)
    } else merged[place] = mergeItems(merged[place] as JsonObject, item as JsonObject)
  }
  return arranged(merged, items, base, mergeKey)
}

/**
 * Merges a list, as far as the patch has items for it, and arranges it in an order that names items by scalar or key.
 * @throws PatchError if the items of the patch are not in that order
 */
export function mergeListsInOrder(
  {
    before,
    items,
    order,
  }: { readonly before: List | undefined; readonly items: List | undefined; readonly order: List },
  rules: ListRules,
): List {
  const { mergeKey = '' } = rules
  checkOrder(items ?? [], order, mergeKey)
  const isMerged = before !== undefined && rules.mergeKey !== undefined
  const merged = isMerged ? mergeLists(before, items ?? [], rules) : items === undefined ? before : adoptItems(items)
  return arranged(merged ?? [], order, before ?? [], mergeKey)
}

/** Takes out the items with `$patch`: `delete` removes the item with that key, `replace` all that are not in the patch. */
function applyDirectives(before: List, patch: List, mergeKey: string): { readonly base: List; readonly items: List } {
  const items = patch.filter((item) => directiveOf(item) === undefined)
  const deleted = new Set<Json>()
  let replaces = false
  for (const item of patch) {
    const directive = directiveOf(item)
    if (directive === 'delete') deleted.add(keyOf(item, mergeKey))
    else if (directive === 'replace') replaces = true
    else if (directive === 'merge')
      throw new PatchError('BadRequest', 'merging lists cannot yet be specified in the patch')
    else if (directive !== undefined)
      throw new PatchError('BadRequest', `unknown patch type: ${String(directive)} in map`)
  }
  if (replaces) return { base: adoptItems(items), items: [] }
  return { base: deleted.size === 0 ? before : before.filter((item) => !deleted.has(keyOf(item, mergeKey))), items }
}

function directiveOf(item: Json): Json | undefined {
  return isJsonObject(item) ? memberOf(item, DIRECTIVE) : undefined
}

/** The items that `first` names in its order, and between them the others in the order of `before`. */
function arranged(items: List, first: List, before: List, mergeKey: string): List {
  const placesFirst = placesOf(first, mergeKey)
  const placesBefore = placesOf(before, mergeKey)
  const named = sorted(
    items.filter((item) => placesFirst.has(keyOf(item, mergeKey))),
    placesFirst,
    mergeKey,
  )
  const others = sorted(
    items.filter((item) => !placesFirst.has(keyOf(item, mergeKey))),
    placesBefore,
    mergeKey,
  )
  const arrangement: Json[] = []
  let next = 0
  for (const item of named) {
    const place = placesBefore.get(keyOf(item, mergeKey))
    while (next < others.length && isBefore(placesBefore.get(keyOf(others[next]!, mergeKey)), place)) {
      arrangement.push(others[next++]!)
    }
    arrangement.push(item)
  }
  return [...arrangement, ...others.slice(next)]
}

function isBefore(one: number | undefined, other: number | undefined): boolean {
  return one !== undefined && other !== undefined && one < other
}

function sorted(items: List, places: ReadonlyMap<Json, number>, mergeKey: string): List {
  const placeOf = (item: Json) => places.get(keyOf(item, mergeKey)) ?? Number.POSITIVE_INFINITY
  return items.toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : placeOf(a) > placeOf(b) ? 1 : 0))
}

/** The index of each key; of equal keys that of the first. */
function placesOf(items: List, mergeKey: string): Map<Json, number> {
  const places = new Map<Json, number>()
  items.forEach((item, place) => {
    const key = keyOf(item, mergeKey)
    if (!places.has(key)) places.set(key, place)
  })
  return places
}

/** @throws PatchError */
function keyOf(item: Json, mergeKey: string): Json {
  if (mergeKey === '') {
    if (typeof item !== 'object') return item
    throw new PatchError('BadRequest', 'cannot merge lists without merge key')
  }
  if (!isJsonObject(item))
    throw new PatchError('BadRequest', `expected an object with ${mergeKey} in a list, but received ${describe(item)}`)
  const key = memberOf(item, mergeKey)
  if (key === undefined) throw new PatchError('BadRequest', `map does not contain declared merge key: ${mergeKey}`)
  return key
}

/** @throws PatchError */
function checkSameType(items: List): void {
  const [first] = items
  for (const item of items) {
    if (Array.isArray(item)) throw new PatchError('Invalid', 'lists of lists are not supported')
    if (describe(item) !== describe(first!)) throw new PatchError('BadRequest', 'list element types are not identical')
  }
}

function describe(item: Json): string {
  return item === null ? 'null' : typeof item
}

/** Items of a patch must be in the order that the patch sets. */
function checkOrder(items: List, order: List, mergeKey: string): void {
  if (order.length === 0) return
  let place = 0
  for (const item of items) {
    if (directiveOf(item) !== undefined) continue
    const key = keyOf(item, mergeKey)
    while (place < order.length && keyOf(order[place]!, mergeKey) !== key) place++
    if (place === order.length)
      throw new PatchError('Invalid', "the order in the patch list doesn't match the $setElementOrder list")
    place++
  }
}
