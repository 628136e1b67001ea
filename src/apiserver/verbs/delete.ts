import type { Resource, ResourceKey } from '#store/resources/resource.ts'
import type { ResourceTable, ResourceWrite } from '#store/resources/resource-table.ts'
import { ApiError, conflict, forbidden, successStatus } from '../http/api-error.ts'
import type { ServedKind } from '../kinds/served-kind.ts'
import { isNamespaceKind } from '../kinds/verbs-of.ts'
import { timestamp } from './prepare.ts'
import { queryFlag } from './query-flag.ts'
import { isObject, readBody } from './read-object.ts'
import { renderObject } from './render.ts'
import { type ApiAnswer, type ApiState, keyIn, type ResourceRequest } from './resource-request.ts'
import { writable } from './update.ts'
import { isDryRun } from './write-options.ts'

/** What to do with the dependents of a deleted object (Kubernetes, "Garbage collection"). */
export type Propagation = 'Orphan' | 'Background' | 'Foreground'

export interface DeleteOptions {
  readonly propagation: Propagation
  readonly dryRun: boolean
  readonly uid: string | undefined
  readonly resourceVersion: string | undefined
}

/** @throws ApiError */
export function remove(state: ApiState, request: ResourceRequest): ApiAnswer {
  const { kind, target } = request
  const options = deleteOptions(request)
  const object = writable(state, request, 'object')
  checkPreconditions(kind, object, options)
  if (isNamespaceKind(kind)) checkDeletable(state, kind, object)
  const { left } = removeObject(state.table, keyIn(request), object, options)
  if (left !== undefined) return { status: 200, body: renderObject(left, request) }
  const group = kind.group === '' ? {} : { group: kind.group }
  return {
    status: 200,
    body: successStatus({ name: target.name!, ...group, kind: kind.plural, uid: object.metadata.uid }),
  }
}

/**
 * Reads `DeleteOptions` of the body and of the query.
 * @throws ApiError BadRequest
 */
export function deleteOptions({ body, query }: ResourceRequest): DeleteOptions {
  const value = body === undefined || body.bytes.length === 0 ? {} : readBody(body, 'ignore').value
  if (!isObject(value)) throw new ApiError('BadRequest', 'DeleteOptions must be an object')
  const preconditions = optionOf(value, 'preconditions', isObject, 'an object') ?? {}
  const orphans = optionOf(value, 'orphanDependents', isBoolean, 'a boolean') || queryFlag(query, 'orphanDependents')
  const propagation = optionOf(value, 'propagationPolicy', isText, 'a string') || query.get('propagationPolicy')
  const dryRun = optionOf(value, 'dryRun', isTexts, 'a list of strings') ?? []
  return {
    propagation: orphans ? 'Orphan' : readPropagation(propagation || 'Background'),
    dryRun: isDryRun([...query.getAll('dryRun'), ...dryRun]),
    uid: optionOf(preconditions, 'uid', isText, 'a string') || undefined,
    resourceVersion: optionOf(preconditions, 'resourceVersion', isText, 'a string') || undefined,
  }
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean'
const isTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText)

/**
 * A member of another type is refused: without it, the object would be deleted although the client set a condition, or wanted a dry run.
 * @throws ApiError BadRequest
 */
function optionOf<T>(
  options: Readonly<Record<string, unknown>>,
  name: string,
  isValid: (value: unknown) => value is T,
  expected: string,
): T | undefined {
  const value = options[name] ?? undefined
  if (value === undefined || isValid(value)) return value
  throw new ApiError('BadRequest', `DeleteOptions: ${name} must be ${expected}`)
}

function readPropagation(text: string): Propagation {
  if (text === 'Orphan' || text === 'Background' || text === 'Foreground') return text
  throw new ApiError('BadRequest', `propagationPolicy: must be Orphan, Background or Foreground, not "${text}"`)
}

function checkPreconditions(kind: ServedKind, { metadata }: Resource, { uid, resourceVersion }: DeleteOptions): void {
  if (uid !== undefined && uid !== metadata.uid) {
    const message = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid}`
    throw conflict(kind, metadata.name, message)
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    const message = `Precondition failed: ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${metadata.resourceVersion}`
    throw conflict(kind, metadata.name, message)
  }
}

/**
 * Objects without namespace are in `default` (decision A-14). A Namespace with objects of files would never become empty.
 * @throws ApiError Forbidden
 */
function checkDeletable({ table, fileOf }: ApiState, kind: ServedKind, { metadata: { name } }: Resource): void {
  if (name === 'default') throw forbidden(kind, name, 'this namespace may not be deleted')
  for (const { key } of table.contentOf(name)) {
    const origin = fileOf(key)
    if (origin === undefined) continue
    const message = `the file ${origin.file} has objects in it (line ${origin.line}): remove them from the file first`
    throw forbidden(kind, name, message)
  }
}

/** The finalizers with which an object waits for the collector. */
const FINALIZERS: Readonly<Record<Propagation, readonly string[]>> = {
  Orphan: ['orphan'],
  Background: [],
  Foreground: ['foregroundDeletion'],
}

/**
 * Removes an object, or marks it as being deleted while it has finalizers.
 * @returns `left`: the object, if it still exists
 */
export function removeObject(
  table: ResourceTable,
  key: ResourceKey,
  object: Resource,
  { propagation, dryRun }: Pick<DeleteOptions, 'propagation' | 'dryRun'>,
): { readonly left: Resource | undefined } {
  const write = removalOf(key, object, propagation)
  if (write === undefined) return { left: object }
  if (dryRun) return { left: write.object }
  const [event] = table.commit([write])
  return { left: write.object && event!.object }
}

/**
 * Objects that one commit removes, of many: each commit waits for the disk, and no other work runs during one.
 */
export const REMOVED_AT_ONCE = 100

/**
 * The write that removes an object, or marks it as being deleted while it has finalizers. A Namespace waits until it is empty.
 * @returns undefined if the object is marked already
 */
export function removalOf(key: ResourceKey, object: Resource, propagation: Propagation): ResourceWrite | undefined {
  const { metadata } = object
  const finalizers = [...new Set([...(metadata.finalizers ?? []), ...FINALIZERS[propagation]])]
  const isNamespace = key.collection === 'namespaces'
  if (finalizers.length === 0 && !isNamespace) return { key, object: undefined }
  if (metadata.deletionTimestamp !== undefined && finalizers.length === (metadata.finalizers ?? []).length) {
    return undefined
  }
  const raises = metadata.generation !== undefined && metadata.deletionTimestamp === undefined
  const marked: Resource = {
    ...object,
    metadata: {
      ...metadata,
      ...(raises ? { generation: metadata.generation + 1 } : {}),
      ...(finalizers.length > 0 ? { finalizers } : {}),
      deletionTimestamp: metadata.deletionTimestamp ?? timestamp(),
      deletionGracePeriodSeconds: 0,
    },
    ...(isNamespace ? { status: { ...(object.status as object | undefined), phase: 'Terminating' } } : {}),
  }
  return { key, object: marked }
}
