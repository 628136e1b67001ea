import type { FieldSet } from '../fields/field-set.ts'
import { DEDUCED, type FieldType } from '../fields/field-type.ts'
import { defaultForm } from '../fields/form-of.ts'
import { ownMember } from '../fields/members.ts'
import type { PathElement } from '../fields/path-element.ts'
import type { Owners } from './owners.ts'

/** Owners of fields below a list or map that has become atomic since own the whole list or map. */
export function fitToType(owners: Owners, type: FieldType): Owners {
  const fitted: Owners = new Map()
  for (const [id, owner] of owners) {
    const fields = collapsed(owner.fields, type)
    fitted.set(id, fields === owner.fields ? owner : { ...owner, fields })
  }
  return fitted
}

function collapsed(fields: FieldSet, type: FieldType): FieldSet {
  if (fields.children.size === 0 || type === DEDUCED) return fields
  if (isAtomic(type)) return { own: true, children: new Map() }
  let isSame = true
  const children = new Map<PathElement, FieldSet>()
  for (const [element, child] of fields.children) {
    const childType = typeAt(type, element)
    const fitted = childType === undefined ? child : collapsed(child, childType)
    if (fitted !== child) isSame = false
    children.set(element, fitted)
  }
  return isSame ? fields : { own: fields.own, children }
}

function isAtomic(type: FieldType): boolean {
  const form = defaultForm(type)
  return form === 'map' ? type.map!.atomic : form === 'list' && type.list?.atomic === true
}

/** The type of a field below; undefined if the schema does not know it. */
export function typeAt({ map, list }: FieldType, element: PathElement): FieldType | undefined {
  if (!element.startsWith('f:')) return list?.items
  return map === undefined ? undefined : (ownMember(map.fields, element.slice(2)) ?? map.others)
}
