import { sameData } from '#base/incremental/same-data.ts'
import { addField, type FieldSet, type FieldSetDraft, newDraft } from './field-set.ts'
import { DEDUCED, type FieldType, type ListType, type MapType } from './field-type.ts'
import { defaultForm, type Form, hasOneForm, ownForm } from './form-of.ts'
import { isMembers, ownMember } from './members.ts'
import { itemElements, memberElement, type PathElement } from './path-element.ts'

/** The fields in which two objects differ. No field is in two of the sets. */
export interface Comparison {
  readonly removed: FieldSet
  readonly modified: FieldSet
  readonly added: FieldSet
}

/** Compares two objects of a type by fields. */
export function compareFields(type: FieldType, before: unknown, after: unknown): Comparison {
  const comparison = new FieldComparison()
  comparison.compare(type, before, after, [])
  return comparison
}

type Path = readonly PathElement[]

/** Undefined is an absent value, and null a value. */
class FieldComparison implements Comparison {
  readonly removed: FieldSetDraft = newDraft()
  readonly modified: FieldSetDraft = newDraft()
  readonly added: FieldSetDraft = newDraft()

  compare(type: FieldType, before: unknown, after: unknown, path: Path): void {
    if (before === after) return
    const [first, second] = formsOf(type, before, after)
    let isLeaf = this.#compareAs(first, type, before, after, path)
    if (second !== undefined) isLeaf = this.#compareAs(second, type, before, after, path)
    if (isLeaf) return
    if (before === undefined) this.#add(this.added, path)
    else if (after === undefined) this.#add(this.removed, path)
  }

  /** @returns whether the value was compared as a whole */
  #compareAs(form: Form, type: FieldType, before: unknown, after: unknown, path: Path): boolean {
    if (form === 'map') return this.#compareMaps(type.map!, before, after, path)
    if (form === 'list') return this.#compareLists(type.list!, before, after, path)
    return this.#compareWhole(before, after, path)
  }

  #compareWhole(before: unknown, after: unknown, path: Path): true {
    if (before === undefined) this.#add(this.added, path)
    else if (after === undefined) this.#add(this.removed, path)
    else if (!sameData(before, after)) this.#add(this.modified, path)
    return true
  }

  #compareMaps(type: MapType, before: unknown, after: unknown, path: Path): boolean {
    const one = isMembers(before) ? before : {}
    const other = isMembers(after) ? after : {}
    const names = new Set([...Object.keys(one), ...Object.keys(other)])
    if (type.atomic || names.size === 0) return this.#compareWhole(before, after, path)
    for (const name of names) {
      const field = ownMember(type.fields, name) ?? type.others ?? DEDUCED
      const [a, b] = [ownMember(one, name), ownMember(other, name)]
      if (a !== b) this.compare(field, a, b, [...path, memberElement(name)])
    }
    return false
  }

  #compareLists(type: ListType, before: unknown, after: unknown, path: Path): boolean {
    const one = indexed(type, before)
    const other = indexed(type, after)
    const isWhole = type.atomic || one === undefined || other === undefined || one.size + other.size === 0
    if (isWhole) return this.#compareWhole(before, after, path)
    for (const element of new Set([...one.keys(), ...other.keys()])) {
      this.#compareItems(type.items, one.get(element) ?? [], other.get(element) ?? [], [...path, element])
    }
    return false
  }

  /** Items with the same keys; there should be at most one on each side. */
  #compareItems(type: FieldType, before: readonly unknown[], after: readonly unknown[], path: Path): void {
    if (before.length <= 1 && after.length <= 1) return this.compare(type, before[0], after[0], path)
    if (before.length > 1 && after.length > 1) {
      if (!sameData(before, after)) this.#add(this.modified, path)
    } else if (before.length > 1) {
      if (after.length === 1) this.compare(type, undefined, after[0], path)
      this.#add(this.removed, path)
    } else {
      if (before.length === 1) this.compare(type, before[0], undefined, path)
      this.#add(this.added, path)
    }
  }

  #add(set: FieldSetDraft, path: Path): void {
    if (path.length > 0) addField(set, path)
  }
}

/** The forms in which two values are compared: more than one if their forms differ. */
function formsOf(type: FieldType, before: unknown, after: unknown): readonly [Form, Form?] {
  const fallback = defaultForm(type)
  const one = ownForm(type, before)
  const other = ownForm(type, after)
  if (after === undefined) return [one ?? fallback]
  if (before === undefined || one === other || hasOneForm(type)) return [other ?? fallback]
  return [one ?? fallback, other ?? fallback]
}

/** The items by path element. Empty if the value is no list; undefined if some item cannot be identified. */
function indexed(type: ListType, list: unknown): ReadonlyMap<PathElement, unknown[]> | undefined {
  const items = Array.isArray(list) ? (list as readonly unknown[]) : []
  const elements = type.atomic ? [] : itemElements(type, items)
  if (elements === undefined) return undefined
  const index = new Map<PathElement, unknown[]>()
  elements.forEach((element, place) => {
    const same = index.get(element)
    if (same === undefined) index.set(element, [items[place]])
    else same.push(items[place])
  })
  return index
}
