import type { Members } from './members.ts'

/**
 * The type of a field, as far as ownership of fields and server-side apply need it (Kubernetes, "Merge strategy"). A field whose schema
 * names no type may have several forms.
 */
export interface FieldType {
  readonly scalar?: 'string' | 'number' | 'boolean' | 'any'
  readonly list?: ListType
  readonly map?: MapType
}

export interface ListType {
  /** The list has one owner as a whole. */
  readonly atomic: boolean
  /** The members that identify an item; none: the items are a set of scalars. */
  readonly keys: readonly string[]
  /** Values of keys that an item leaves out. */
  readonly defaults: Members
  readonly items: FieldType
}

export interface MapType {
  readonly atomic: boolean
  readonly fields: Members<FieldType>
  /** Of members that are not in `fields`. Undefined: there are none. */
  readonly others: FieldType | undefined
}

/** Below an atomic field, everything is. */
export const ATOMIC = anyForm((self) => ({ atomic: true, fields: {}, others: self }))

/** Fields without schema: every member of an object has its own owners, and lists are atomic. */
export const DEDUCED = anyForm((self) => ({ atomic: false, fields: {}, others: self }))

/** A type that allows every form at every depth. */
function anyForm(mapOfSelf: (self: FieldType) => MapType): FieldType {
  const self: { -readonly [Form in keyof FieldType]: FieldType[Form] } = { scalar: 'any' }
  self.list = { atomic: true, keys: [], defaults: {}, items: self }
  self.map = mapOfSelf(self)
  return self
}
