import type { StructuralSchema } from '#api/definitions/structural-schema.ts'
import { sameData } from '#base/incremental/same-data.ts'
import { compareFields } from './fields/compare-fields.ts'
import { isEmpty, union } from './fields/field-set.ts'
import { isMembers, type Members } from './fields/members.ts'
import { objectTypeOf } from './fields/object-type.ts'
import { fitToType } from './owners/fit-to-type.ts'
import { limitUpdaters } from './owners/limit-updaters.ts'
import { type WrittenPart, withoutServerFields, writableFields } from './owners/owned-part.ts'
import {
  metadataOf,
  type Owner,
  type Owners,
  ownerId,
  readOwners,
  withOwners,
  withoutFields,
  withoutOwners,
} from './owners/owners.ts'

/** A write of an object, for the managers of its fields (Kubernetes, "Server-Side Apply"). */
export interface FieldWrite extends WrittenPart {
  /** `fieldManager` of the request, or the first part of its user agent. */
  readonly manager: string
  readonly schema: StructuralSchema
  /** Group and version of the request. */
  readonly apiVersion: string
  /** RFC 3339, in whole seconds. */
  readonly now: string
}

/**
 * The object with its `managedFields` after a create, update or patch: fields that changed belong to this manager alone, fields that are gone
 * to nobody. An object that was stored without managers stays so until it is applied.
 *
 * @param live the object before; undefined if it is created
 * @param next the object as it will be stored, with its defaults. If it has valid `managedFields` of its own, they replace those of `live`.
 */
export function updateManagedFields<T extends Members>(live: Members | undefined, next: T, write: FieldWrite): T {
  const before = ownersBefore(live, next, write)
  if (before.size === 0 && live !== undefined) return withOwners(next, before)
  return withOwners(next, limitUpdaters(ownersAfterUpdate(before, live, next, write)))
}

/** The owners after a change by a manager that does not apply. */
export function ownersAfterUpdate(before: Owners, live: Members | undefined, next: Members, write: FieldWrite): Owners {
  const type = objectTypeOf(write.schema)
  const { removed, modified, added } = compareFields(type, withoutOwners(live ?? {}), withoutOwners(next))
  const written = writableFields(union(modified, added), write)
  const after = withoutFields(fitToType(before, type), union(written, writableFields(removed, write)))
  const fields = withoutServerFields(written)
  if (isEmpty(fields)) return after
  const { manager, apiVersion, subresource, now: time } = write
  const place = subresource === undefined ? {} : { subresource }
  const own: Owner = { manager: manager || 'unknown', operation: 'Update', apiVersion, ...place, time, fields }
  const earlier = after.get(ownerId(own))
  after.set(ownerId(own), earlier === undefined ? own : { ...own, fields: union(fields, earlier.fields) })
  return after
}

/** Whether two versions of an object are equal but for the times of their managers: a write that changes nothing. */
export function sameButTimes(before: Members, next: Members): boolean {
  return sameData(withoutTimes(before), withoutTimes(next))
}

function withoutTimes(object: Members): Members {
  const { managedFields, ...metadata } = metadataOf(object)
  if (!Array.isArray(managedFields)) return object
  return { ...object, metadata, managedFields: managedFields.map(({ time: _, ...entry }: Members) => entry) }
}

/** Clients can write the managers of an object, but not with a subresource, and not by leaving them out. */
function ownersBefore(live: Members | undefined, next: Members, { subresource }: FieldWrite): Owners {
  const stored = () => readOwners(live === undefined ? undefined : metadataOf(live).managedFields) ?? new Map()
  if (subresource !== undefined) return stored()
  const { managedFields } = metadataOf(next)
  if (isReset(managedFields)) return new Map()
  const written = readOwners(managedFields)
  return written === undefined || written.size === 0 ? stored() : written
}

/** An empty list, or a list with an empty entry, removes all managers. */
function isReset(managedFields: unknown): boolean {
  if (!Array.isArray(managedFields)) return false
  if (managedFields.length === 0) return true
  const [entry] = managedFields as readonly unknown[]
  return managedFields.length === 1 && isMembers(entry) && Object.keys(entry).length === 0
}
