import { randomUUID } from 'node:crypto'
import { clock } from '#base/clock.ts'
import { sameData } from '#base/incremental/same-data.ts'
import type { Resource, ResourceMeta } from '#store/resources/resource.ts'
import { sameButTimes, updateManagedFields } from '../apply/managed-fields.ts'
import { conflict, forbidden, invalid } from '../http/api-error.ts'
import { groupVersion } from '../kinds/collection.ts'
import type { Admitted, ServedKind, WrittenObject } from '../kinds/served-kind.ts'
import { inVersion } from './render.ts'
import type { WriteOptions } from './write-options.ts'

/** The part of an object that a request can write: all but its status, only that, or the number of its replicas. */
export type Part = 'object' | 'status' | 'scale'

/** The subresource as the managers of fields name it. */
export function subresourceOf(part: Part): string | undefined {
  return part === 'object' ? undefined : part
}

export interface Prepared {
  readonly object: Resource
  readonly warnings: readonly string[]
}

/** RFC 3339 in whole seconds, as the platform writes times. */
export function timestamp(): string {
  return new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z')
}

/**
 * A new object as it is stored: checked, with its defaults and the metadata that the server sets.
 * @throws ApiError Invalid
 */
export function prepareNew(kind: ServedKind, written: WrittenObject, options: WriteOptions): Prepared {
  const { unknownFields } = options
  const { status, ...rest } = written
  const withoutStatus = kind.hasStatus ? (rest as WrittenObject) : written
  const { object, warnings } = admit(kind, withoutStatus, { unknownFields })
  const metadata = withoutServerFields(object.metadata)
  const stored = {
    ...object,
    apiVersion: storageVersionOf(kind),
    metadata: {
      ...metadata,
      uid: randomUUID(),
      creationTimestamp: timestamp(),
      ...(kind.hasGeneration ? { generation: 1 } : {}),
    },
  }
  return {
    object: withManagers(kind, undefined, stored as unknown as Resource, { ...options, part: 'object' }),
    warnings,
  }
}

/**
 * The next version of an object; `before` itself if nothing changes.
 * @throws ApiError Invalid, Conflict
 */
export function prepareUpdate(
  kind: ServedKind,
  before: Resource,
  written: WrittenObject,
  options: UpdateOptions,
): Prepared {
  const { part, operation, unknownFields } = options
  checkIdentity(kind, before, written)
  const shown = inVersion(before, kind)
  const merged = mergedParts(kind, shown, written, part)
  const { object, warnings } = admit(kind, merged as WrittenObject, { unknownFields, before: shown })
  const metadata =
    part === 'status'
      ? metadataWithStatus(before, written, operation)
      : nextMetadata(kind, before.metadata, object.metadata)
  const read = { ...object, apiVersion: before.apiVersion, metadata } as unknown as Resource
  const next = withManagers(kind, before, read, options)
  if (sameButTimes(before, next)) return { object: before, warnings }
  const raises = kind.hasGeneration && !sameData(contentOf(next), contentOf(before))
  const generation = raises ? { generation: (before.metadata.generation ?? 0) + 1 } : {}
  return { object: { ...next, metadata: { ...next.metadata, ...generation } }, warnings }
}

type UpdateOptions = WriteOptions & { readonly part: Part }

/** The object with the managers of its fields; with server-side apply, it has them already. */
function withManagers(
  kind: ServedKind,
  before: Resource | undefined,
  next: Resource,
  options: UpdateOptions,
): Resource {
  const { manager, operation, part } = options
  if (operation === 'Apply') return next
  const { schema, hasStatus } = kind
  const write = {
    manager,
    schema,
    hasStatus,
    subresource: subresourceOf(part),
    apiVersion: groupVersion(kind),
    now: timestamp(),
  }
  // In the version of the request: the managers of other versions are kept apart by theirs.
  return updateManagedFields(before, next, write)
}

/** @throws ApiError Invalid */
function admit(
  kind: ServedKind,
  written: WrittenObject,
  options: Parameters<ServedKind['admit']>[1],
): Required<Pick<Admitted, 'object' | 'warnings'>> {
  const { object, causes, warnings } = kind.admit(written, options)
  if (object === undefined) throw invalid(kind, written.metadata.name, causes)
  return { object, warnings }
}

/**
 * The object that the client changed must be the stored one.
 * @throws ApiError Conflict, Invalid
 */
function checkIdentity(
  kind: ServedKind,
  before: Resource,
  { metadata: { name, uid, resourceVersion } }: WrittenObject,
) {
  const stored = before.metadata
  if (uid !== undefined && uid !== null && uid !== '' && uid !== stored.uid) {
    const message = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${stored.uid}`
    throw conflict(kind, name, message)
  }
  const isGiven = resourceVersion !== undefined && resourceVersion !== null && resourceVersion !== ''
  if (isGiven && resourceVersion !== stored.resourceVersion) {
    const message = 'the object has been modified; please apply your changes to the latest version and try again'
    throw conflict(kind, name, message)
  }
}

/** What the client wrote, with the part that it cannot write as it was. */
function mergedParts(kind: ServedKind, before: Resource, written: WrittenObject, part: Part): object {
  if (part === 'status') return withStatus(before, written.status)
  return kind.hasStatus ? withStatus(written, before.status) : written
}

function withStatus({ status: _, ...object }: Resource | WrittenObject, status: unknown): object {
  return status === undefined || status === null ? object : { ...object, status }
}

/** With a status, only the managers of its fields change. */
function metadataWithStatus(
  { metadata }: Resource,
  written: WrittenObject,
  operation: WriteOptions['operation'],
): ResourceMeta {
  if (operation === 'Update') return metadata
  return { ...metadata, managedFields: written.metadata.managedFields as NonNullable<ResourceMeta['managedFields']> }
}

/** What the server sets stays as it is. */
function nextMetadata(kind: ServedKind, before: ResourceMeta, written: WrittenObject['metadata']): ResourceMeta {
  const { uid, resourceVersion, creationTimestamp, generation, deletionTimestamp, deletionGracePeriodSeconds } = before
  const { finalizers = [] } = written as { finalizers?: readonly string[] }
  const added = finalizers.filter((name) => !(before.finalizers ?? []).includes(name))
  if (deletionTimestamp !== undefined && added.length > 0) {
    throw forbidden(
      kind,
      before.name,
      `no new finalizers can be added if the object is being deleted: ${added.join(', ')}`,
    )
  }
  return {
    ...withoutServerFields(written),
    uid,
    resourceVersion,
    creationTimestamp,
    ...(generation === undefined ? {} : { generation }),
    ...(deletionTimestamp === undefined
      ? {}
      : { deletionTimestamp, deletionGracePeriodSeconds: deletionGracePeriodSeconds ?? 0 }),
  } as ResourceMeta
}

const SERVER_FIELDS = [
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'generation',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'selfLink',
]

function withoutServerFields(metadata: WrittenObject['metadata']): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(metadata).filter(([name]) => !SERVER_FIELDS.includes(name)))
}

/** What a generation counts the changes of. */
function contentOf({ apiVersion: _, kind: __, metadata: ___, status: ____, ...content }: Resource): object {
  return content
}

function storageVersionOf({ group, storageVersion }: ServedKind): string {
  return groupVersion({ group, version: storageVersion })
}
