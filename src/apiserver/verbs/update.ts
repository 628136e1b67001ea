import type { Resource, ResourceKey } from '#store/resources/resource.ts'
import { forbidden, invalid, notFound } from '../http/api-error.ts'
import type { WrittenObject } from '../kinds/served-kind.ts'
import { type Part, prepareUpdate } from './prepare.ts'
import { objectOf, readBody } from './read-object.ts'
import { renderObject } from './render.ts'
import { type ApiAnswer, type ApiState, keyIn, type ResourceRequest } from './resource-request.ts'
import { scaled, scaleOf } from './scale.ts'
import { type WriteOptions, writeOptions } from './write-options.ts'

/** @throws ApiError */
export function update(state: ApiState, request: ResourceRequest, part: Part): ApiAnswer {
  const { kind, target } = request
  const options = writeOptions(request.query, request.userAgent)
  const { value, warnings } = readBody(request.body, options.unknownFields)
  const before = writable(state, request, part)
  const written = part === 'scale' ? scaled(request, before, value) : objectOf(value, request, target.name)
  if (!written.metadata.resourceVersion && !kind.hasStrategicMerge && part !== 'scale') {
    const message = 'Invalid value: 0: must be specified for an update'
    throw invalid(kind, target.name!, [{ reason: 'FieldValueInvalid', message, field: 'metadata.resourceVersion' }])
  }
  return storeUpdate(state, request, { before, written, part, options, warnings })
}

/**
 * The stored object that a request may change.
 * @throws ApiError NotFound, or Forbidden if a file manages it (decision A-13)
 */
export function writable(state: ApiState, request: ResourceRequest, part: Part): Resource {
  const key = keyIn(request)
  const before = state.table.get(key)
  if (before === undefined) throw notFound(request.kind, key.name)
  if (part !== 'status') checkNotFromFile(state, request, key)
  return before
}

/** @throws ApiError Forbidden */
export function checkNotFromFile(
  { fileOf }: ApiState,
  { kind }: Pick<ResourceRequest, 'kind'>,
  key: ResourceKey,
): void {
  const origin = fileOf(key)
  if (origin === undefined) return
  throw forbidden(kind, key.name, `the file ${origin.file} manages it (line ${origin.line}): change it there`)
}

export interface Update {
  readonly before: Resource
  readonly written: WrittenObject
  readonly part: Part
  readonly options: WriteOptions
  /** What is already known about the object. */
  readonly warnings: readonly string[]
}

/**
 * Stores the next version of an object. An object that waits for its finalizers is removed with the last of them.
 * @throws ApiError
 */
export function storeUpdate(state: ApiState, request: ResourceRequest, update: Update): ApiAnswer {
  const { before, written, part, options, warnings: known } = update
  const { object, warnings } = prepareUpdate(request.kind, before, written, { ...options, part })
  const told = [...known, ...warnings]
  const shown = (stored: Resource) => (part === 'scale' ? scaleOf(request.kind, stored) : renderObject(stored, request))
  if (options.dryRun || object === before) return { status: 200, body: shown(object), warnings: told }
  const key = keyIn(request)
  const isGone = object.metadata.deletionTimestamp !== undefined && (object.metadata.finalizers ?? []).length === 0
  const write = { key, object: isGone ? undefined : object }
  const [event] = state.fileOf(key) === undefined ? state.table.commit([write]) : state.table.commitInMemory([write])
  const findings = isGone || part === 'status' ? [] : state.findingsOf(key)
  return { status: 200, body: shown(isGone ? object : event!.object), warnings: [...told, ...findings] }
}
