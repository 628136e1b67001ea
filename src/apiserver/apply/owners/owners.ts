import type { ManagedFieldsEntry } from '#store/resources/resource.ts'
import { difference, type FieldSet, isEmpty } from '../fields/field-set.ts'
import { readFieldsV1, writeFieldsV1 } from '../fields/fields-v1.ts'
import { isMembers, type Members } from '../fields/members.ts'

/** A manager with the fields that it owns: an entry of `metadata.managedFields`. */
export interface Owner {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  /** The version of the fields. */
  readonly apiVersion: string
  readonly subresource?: string
  readonly time?: string
  readonly fields: FieldSet
}

/** By `ownerId`. */
export type Owners = Map<string, Owner>

/** What tells owners apart. A manager that applies has one entry for all versions. */
export function ownerId({ manager, operation, apiVersion, subresource }: Omit<Owner, 'fields'>): string {
  return JSON.stringify({ manager, operation, ...(operation === 'Apply' ? {} : { apiVersion }), subresource })
}

/** Reads `metadata.managedFields` of an object. Undefined if it is not valid. */
export function readOwners(entries: unknown): Owners | undefined {
  const owners: Owners = new Map()
  if (entries === undefined || entries === null) return owners
  if (!Array.isArray(entries)) return undefined
  for (const entry of entries) {
    const owner = readOwner(entry)
    if (owner === undefined) return undefined
    owners.set(ownerId(owner), owner)
  }
  return owners
}

function readOwner(entry: unknown): Owner | undefined {
  if (!isMembers(entry)) return undefined
  const { manager = '', operation, apiVersion, fieldsType, fieldsV1, subresource = '', time } = entry
  if (operation !== 'Apply' && operation !== 'Update') return undefined
  if (typeof manager !== 'string' || typeof subresource !== 'string' || fieldsType !== 'FieldsV1') return undefined
  if (typeof apiVersion !== 'string' || apiVersion === '') return undefined
  if (time !== undefined && time !== null && typeof time !== 'string') return undefined
  const fields = readFields(fieldsV1)
  if (fields === undefined) return undefined
  return {
    manager,
    operation,
    apiVersion,
    ...(subresource === '' ? {} : { subresource }),
    ...(typeof time === 'string' ? { time } : {}),
    fields,
  }
}

function readFields(fieldsV1: unknown): FieldSet | undefined {
  try {
    return readFieldsV1(fieldsV1)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** The object with these owners; without `managedFields` if there are none. */
export function withOwners<T extends Members>(object: T, owners: Owners): T {
  const { managedFields: _, ...metadata } = metadataOf(object)
  if (owners.size === 0) return { ...object, metadata }
  return { ...object, metadata: { ...metadata, managedFields: [...owners.values()].sort(compareOwners).map(entryOf) } }
}

export function withoutOwners(object: Members): Members {
  const { managedFields, ...metadata } = metadataOf(object)
  return managedFields === undefined ? object : { ...object, metadata }
}

export function metadataOf(object: Members): Members {
  return isMembers(object.metadata) ? object.metadata : {}
}

function entryOf({ manager, operation, apiVersion, time, fields, subresource }: Owner): ManagedFieldsEntry {
  return {
    manager,
    operation,
    apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: 'FieldsV1',
    fieldsV1: writeFieldsV1(fields),
    ...(subresource === undefined ? {} : { subresource }),
  }
}

/** The order of entries: appliers first, then the oldest. */
function compareOwners(a: Owner, b: Owner): number {
  return (
    compare(a.operation, b.operation) ||
    secondsOf(a) - secondsOf(b) ||
    compare(a.manager, b.manager) ||
    compare(a.apiVersion, b.apiVersion) ||
    compare(a.subresource ?? '', b.subresource ?? '')
  )
}

export function secondsOf({ time }: Owner): number {
  const ms = time === undefined ? 0 : Date.parse(time)
  return Number.isNaN(ms) ? 0 : Math.floor(ms / 1000)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** The owners after a change of fields: each without the fields that are no longer its own. Owners without fields are left out. */
export function withoutFields(owners: Owners, fields: FieldSet, except?: string): Owners {
  const rest: Owners = new Map()
  for (const [id, owner] of owners) {
    const kept = id === except ? owner.fields : difference(owner.fields, fields)
    if (!isEmpty(kept)) rest.set(id, kept === owner.fields ? owner : { ...owner, fields: kept })
  }
  return rest
}
