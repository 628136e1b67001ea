import { randomInt } from 'node:crypto'
import type { ResourceKey } from '#store/resources/resource.ts'
import { ApiError, alreadyExists, invalid, notFound } from '../http/api-error.ts'
import { collectionOf } from '../kinds/collection.ts'
import type { ServedKind, WrittenObject } from '../kinds/served-kind.ts'
import { type Prepared, prepareNew } from './prepare.ts'
import { objectOf, readBody } from './read-object.ts'
import { renderObject } from './render.ts'
import type { ApiAnswer, ApiState, ResourceRequest } from './resource-request.ts'
import { type WriteOptions, writeOptions } from './write-options.ts'

/** @throws ApiError */
export function create(state: ApiState, request: ResourceRequest): ApiAnswer {
  const options = writeOptions(request.query, request.userAgent)
  const { value, warnings } = readBody(request.body, options.unknownFields)
  const written = objectOf(value, request, undefined)
  if (request.kind.review !== undefined) return { status: 201, body: request.kind.review(written), warnings }
  return createObject(state, request, written, options, warnings)
}

/**
 * Stores a new object.
 * @param warnings what is already known about it
 * @throws ApiError
 */
export function createObject(
  state: ApiState,
  request: ResourceRequest,
  written: WrittenObject,
  options: WriteOptions,
  warnings: readonly string[],
): ApiAnswer {
  const { kind } = request
  if (written.metadata.resourceVersion) {
    throw new ApiError('BadRequest', 'resourceVersion should not be set on objects to be created')
  }
  const { object: named, key } = nameNew(state, kind, written)
  if (kind.namespaced) checkNamespace(state, kind, key)
  if (state.table.get(key) !== undefined) throw alreadyExists(kind, key.name)
  const prepared = prepareNew(kind, named, options)
  return { status: 201, ...commitNew(state, request, key, prepared, options, warnings) }
}

function commitNew(
  { table, findingsOf }: ApiState,
  request: ResourceRequest,
  key: ResourceKey,
  { object, warnings }: Prepared,
  { dryRun }: WriteOptions,
  known: readonly string[],
): Omit<ApiAnswer, 'status'> {
  if (dryRun) return { body: renderObject(object, request), warnings: [...known, ...warnings] }
  const [added] = table.commit([{ key, object }])
  return { body: renderObject(added!.object, request), warnings: [...known, ...warnings, ...findingsOf(key)] }
}

/** Letters and digits that form no words (Kubernetes, "Generated values"). */
const SUFFIX_CHARACTERS = 'bcdfghjklmnpqrstvwxz2456789'
const SUFFIX_LENGTH = 5
const MAX_PREFIX = 58
const ATTEMPTS = 8

/** The object with its name, which may have to be generated. */
function nameNew({ table }: ApiState, kind: ServedKind, written: WrittenObject) {
  const { name, namespace, generateName } = written.metadata
  const keyOf = (text: string): ResourceKey => ({
    collection: collectionOf(kind),
    namespace: kind.namespaced ? String(namespace) : '',
    name: text,
  })
  if (name !== '') return { object: written, key: keyOf(name) }
  if (typeof generateName !== 'string' || generateName === '') {
    const message = 'Required value: name or generateName is required'
    throw invalid(kind, '', [{ reason: 'FieldValueRequired', message, field: 'metadata.name' }])
  }
  const keys = Array.from({ length: ATTEMPTS }, () => keyOf(`${generateName.slice(0, MAX_PREFIX)}${suffix()}`))
  const key = keys.find((each) => table.get(each) === undefined)
  if (key === undefined) throw alreadyExists(kind, generateName)
  return { object: { ...written, metadata: { ...written.metadata, name: key.name } }, key }
}

function suffix(): string {
  return Array.from({ length: SUFFIX_LENGTH }, () => SUFFIX_CHARACTERS[randomInt(SUFFIX_CHARACTERS.length)]).join('')
}

/** @throws ApiError NotFound, Forbidden */
function checkNamespace({ table }: ApiState, kind: ServedKind, { namespace, name }: ResourceKey): void {
  const found = table.get({ collection: 'namespaces', namespace: '', name: namespace })
  if (found === undefined) throw notFound({ group: '', plural: 'namespaces' }, namespace)
  if (found.metadata.deletionTimestamp === undefined) return
  const message = `unable to create new content in namespace ${namespace} because it is being terminated`
  const causes = [
    {
      reason: 'NamespaceTerminating',
      message: `namespace ${namespace} is being terminated`,
      field: 'metadata.namespace',
    },
  ]
  throw new ApiError('Forbidden', `${collectionOf(kind)} "${name}" is forbidden: ${message}`, {
    name,
    kind: kind.plural,
    causes,
  })
}
