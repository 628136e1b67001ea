import { difference, type FieldSet, intersection, union } from '../fields/field-set.ts'
import type { FieldType } from '../fields/field-type.ts'
import { fieldsOf } from '../fields/fields-of.ts'
import { ownMember } from '../fields/members.ts'
import type { PathElement } from '../fields/path-element.ts'
import { removeFields } from '../fields/remove-fields.ts'
import { typeAt } from './fit-to-type.ts'

/** An object without what was removed; `compared` has null in the place of objects and lists that have become empty. */
export interface Pruned {
  readonly object: unknown
  readonly compared: unknown
}

/**
 * Removes what a manager applied last time and does not apply any more, unless somebody owns it.
 *
 * @param last the fields that the manager applied last time
 * @param owned the fields of all managers, with those that the manager applies now
 */
export function prune(type: FieldType, merged: unknown, last: FieldSet, owned: FieldSet): Pruned {
  const lastNamed = withNamedFields(type, last)
  const all = withNamedFields(type, fieldsOf(type, merged))
  const left = withNamedFields(type, fieldsOf(type, removeFields(type, merged, lastNamed, null)))
  const unowned = difference(all, union(left, withNamedFields(type, owned)))
  const kept = withNamedFields(type, fieldsOf(type, removeFields(type, merged, unowned, null)))
  const gone = intersection(difference(all, kept), lastNamed)
  return { object: removeFields(type, merged, gone, undefined), compared: removeFields(type, merged, gone, null) }
}

/** A set with the fields that have fields below them, as far as the schema names them. Members of maps and items of lists are not named. */
function withNamedFields(type: FieldType | undefined, fields: FieldSet): FieldSet {
  if (fields.children.size === 0) return fields
  const children = new Map<PathElement, FieldSet>()
  for (const [element, child] of fields.children) {
    const { own, children: below } = withNamedFields(type === undefined ? undefined : typeAt(type, element), child)
    const isNamed =
      type?.map !== undefined && element.startsWith('f:') && ownMember(type.map.fields, element.slice(2)) !== undefined
    children.set(element, { own: own || isNamed, children: below })
  }
  return { own: fields.own, children }
}
