import type { FieldType } from './field-type.ts'

/** How a value is treated. */
export type Form = 'map' | 'list' | 'scalar'

/** The form of a value, if its type allows it. Undefined: the type does not tell it, or the value is null or absent. */
export function ownForm(type: FieldType, value: unknown): Form | undefined {
  if (value === null || value === undefined) return undefined
  if (Array.isArray(value)) return type.list === undefined ? undefined : 'list'
  if (typeof value === 'object') return type.map === undefined ? undefined : 'map'
  return type.scalar === undefined ? undefined : 'scalar'
}

/** The form in which a value of a type is treated, whatever it is. */
export function formOf(type: FieldType, value: unknown): Form {
  return ownForm(type, value) ?? defaultForm(type)
}

export function defaultForm({ map, scalar }: FieldType): Form {
  return map !== undefined ? 'map' : scalar !== undefined ? 'scalar' : 'list'
}

/** Whether a type allows one form only, so that values of it cannot differ in form. */
export function hasOneForm({ scalar, list, map }: FieldType): boolean {
  return Number(scalar !== undefined) + Number(list !== undefined) + Number(map !== undefined) <= 1
}
