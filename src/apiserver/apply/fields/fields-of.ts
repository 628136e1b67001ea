import { type FieldSet, type FieldSetDraft, newDraft } from './field-set.ts'
import { DEDUCED, type FieldType, type ListType, type MapType } from './field-type.ts'
import { formOf } from './form-of.ts'
import { isMembers, type Members, ownMember } from './members.ts'
import { itemElements, memberElement, type PathElement } from './path-element.ts'

/** The fields that an object has: its scalars, atomic fields, list items and members of maps. */
export function fieldsOf(type: FieldType, object: unknown): FieldSet {
  const root = newDraft()
  collect(type, object, root)
  root.own = false
  return root
}

function collect(type: FieldType, value: unknown, node: FieldSetDraft): void {
  switch (formOf(type, value)) {
    case 'scalar':
      node.own = true
      return
    case 'list':
      return collectItems(type.list!, value, node)
    case 'map':
      return collectMembers(type.map!, value, node)
  }
}

function collectMembers(type: MapType, value: unknown, node: FieldSetDraft): void {
  if (type.atomic) {
    node.own = true
    return
  }
  if (!isMembers(value)) return
  for (const [name, member] of Object.entries(value)) {
    const field = ownMember(type.fields, name)
    const child = newDraft()
    collect(field ?? type.others ?? DEDUCED, member, child)
    if (field === undefined || isBare(member)) child.own = true
    attach(node, memberElement(name), child)
  }
}

/** Null and an empty object have no fields of their own. */
function isBare(value: unknown): boolean {
  return value === null || (isMembers(value) && isWithoutMembers(value))
}

function isWithoutMembers(value: Members): boolean {
  for (const _ in value) return false
  return true
}

function collectItems(type: ListType, value: unknown, node: FieldSetDraft): void {
  const elements = Array.isArray(value) && !type.atomic ? itemElements(type, value) : undefined
  if (elements === undefined) {
    if (type.atomic || Array.isArray(value)) node.own = true
    return
  }
  const repeated = repeatedIn(elements)
  elements.forEach((element, index) => {
    const child = newDraft()
    if (!repeated.has(element)) collect(type.items, (value as readonly unknown[])[index], child)
    child.own = true
    node.children.set(element, child)
  })
}

/** Items with equal keys have one owner together, without what is in them. */
function repeatedIn(elements: readonly PathElement[]): ReadonlySet<PathElement> {
  if (new Set(elements).size === elements.length) return new Set()
  return new Set(elements.filter((element, index) => elements.indexOf(element) !== index))
}

function attach(node: FieldSetDraft, element: PathElement, child: FieldSetDraft): void {
  if (child.own || child.children.size > 0) node.children.set(element, child)
}
