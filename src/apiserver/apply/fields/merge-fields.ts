import { DEDUCED, type FieldType, type ListType, type MapType } from './field-type.ts'
import { formOf } from './form-of.ts'
import { isMembers, type Members, ownMember } from './members.ts'
import { itemElements, type PathElement } from './path-element.ts'

/**
 * Merges applied configuration into an object: leaves of the configuration win, nothing is removed, and items of lists are ordered as in the
 * configuration, with the others between them (Kubernetes, "Server-Side Apply").
 */
export function mergeFields(type: FieldType, live: unknown, applied: unknown): unknown {
  if (applied === undefined || live === applied) return live
  switch (formOf(type, applied)) {
    case 'scalar':
      return applied
    case 'map':
      return mergeMaps(type.map!, live, applied)
    case 'list':
      return mergeLists(type.list!, live, applied)
  }
}

function mergeMaps(type: MapType, live: unknown, applied: unknown): unknown {
  const one: Members = isMembers(live) ? live : {}
  const other: Members = isMembers(applied) ? applied : {}
  const members = Object.entries(one)
  if (type.atomic || (members.length === 0 && Object.keys(other).length === 0)) return applied
  const added = Object.entries(other).filter(([name]) => !Object.hasOwn(one, name))
  const merged = members.map(([name, value]): [string, unknown] => {
    const field = ownMember(type.fields, name) ?? type.others ?? DEDUCED
    return [name, mergeFields(field, value, ownMember(other, name))]
  })
  return Object.fromEntries([...merged, ...added])
}

function mergeLists(type: ListType, live: unknown, applied: unknown): unknown {
  const one = indexed(type, live)
  const other = indexed(type, applied)
  const isWhole = type.atomic || one === undefined || other === undefined || one.items.length + other.items.length === 0
  return isWhole ? applied : mergeItems(type.items, one, other)
}

/** A list that is not atomic. */
interface Indexed {
  readonly items: readonly unknown[]
  readonly elements: readonly PathElement[]
  /** The first item of each path element; null if there are several, which are not merged. */
  readonly byElement: ReadonlyMap<PathElement, unknown>
}

function indexed(type: ListType, list: unknown): Indexed | undefined {
  const items = Array.isArray(list) ? (list as readonly unknown[]) : []
  const elements = type.atomic ? [] : itemElements(type, items)
  if (elements === undefined) return undefined
  const byElement = new Map<PathElement, unknown>()
  elements.forEach((element, place) => {
    byElement.set(element, byElement.has(element) ? null : items[place])
  })
  return { items, elements, byElement }
}

/**
 * Takes the items of both lists in one pass. An item of both lists is taken in its place in the configuration; an item of the object only is
 * taken before the next item of both lists that follows it in the object.
 */
function mergeItems(type: FieldType, live: Indexed, applied: Indexed): readonly unknown[] {
  const merged: unknown[] = []
  const taken = new Set<PathElement>()
  const shared = applied.elements.filter((element) => live.byElement.has(element))
  let next = 0
  let [l, a] = [0, 0]
  const takeApplied = (element: PathElement) => {
    taken.add(element)
    merged.push(mergeFields(type, live.byElement.get(element), applied.byElement.get(element)))
    a++
  }
  while (l < live.elements.length || a < applied.elements.length) {
    const ofLive = live.elements[l]
    const ofApplied = applied.elements[a]
    if (ofLive !== undefined && ofApplied !== undefined) {
      if (ofLive === ofApplied) {
        takeApplied(ofApplied)
        l++
        next++
        continue
      }
      if (applied.byElement.has(ofLive) && shared[next] !== undefined && shared[next] !== ofLive) {
        l++
        continue
      }
    }
    if (ofLive !== undefined) {
      if (!applied.byElement.has(ofLive)) {
        merged.push(live.items[l])
        l++
        continue
      }
      if (taken.has(ofLive)) l++
    }
    if (ofApplied !== undefined) takeApplied(ofApplied)
  }
  return merged
}
