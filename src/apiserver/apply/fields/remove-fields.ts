import type { FieldSet } from './field-set.ts'
import { DEDUCED, type FieldType, type ListType, type MapType } from './field-type.ts'
import { formOf } from './form-of.ts'
import { isMembers, ownMember } from './members.ts'
import { itemElements, memberElement } from './path-element.ts'

/** What is left of objects and lists without members or items: nothing, or null where their owners are still to be compared. */
type Emptied = null | undefined

/** An object without the fields of a set. */
export function removeFields(type: FieldType, value: unknown, fields: FieldSet, emptied: Emptied): unknown {
  if (fields.children.size === 0) return value
  switch (formOf(type, value)) {
    case 'scalar':
      return value
    case 'map':
      return isMembers(value) ? removeMembers(type.map!, value, fields, emptied) : emptied
    case 'list':
      return Array.isArray(value) ? removeItems(type.list!, value, fields, emptied) : emptied
  }
}

function removeMembers(type: MapType, value: object, fields: FieldSet, emptied: Emptied): unknown {
  if (type.atomic) return emptied
  const kept: [string, unknown][] = []
  let left = 0
  for (const [name, member] of Object.entries(value)) {
    const below = fields.children.get(memberElement(name))
    if (below?.own === true) continue
    left++
    const field = ownMember(type.fields, name) ?? type.others ?? DEDUCED
    const rest = below === undefined ? member : removeFields(field, member, below, emptied)
    if (rest !== undefined) kept.push([name, rest])
  }
  return left === 0 ? emptied : Object.fromEntries(kept)
}

function removeItems(type: ListType, items: readonly unknown[], fields: FieldSet, emptied: Emptied): unknown {
  const elements = type.atomic ? undefined : itemElements(type, items)
  if (elements === undefined) return emptied
  const kept: unknown[] = []
  let left = 0
  elements.forEach((element, place) => {
    const below = fields.children.get(element)
    if (below?.own === true) return
    left++
    const rest = below === undefined ? items[place] : removeFields(type.items, items[place], below, emptied)
    if (rest !== undefined) kept.push(rest)
  })
  return left === 0 ? emptied : kept
}
