import { applyConfiguration } from '../apply/apply.ts'
import { ApiError, conflict, invalid, notFound } from '../http/api-error.ts'
import { groupVersion } from '../kinds/collection.ts'
import { createObject } from './create.ts'
import { type Part, subresourceOf, timestamp } from './prepare.ts'
import { queryFlag } from './query-flag.ts'
import { objectOf, readYaml, textOf } from './read-object.ts'
import { inVersion } from './render.ts'
import { type ApiAnswer, type ApiState, keyIn, type ResourceRequest } from './resource-request.ts'
import { scaleConfiguration } from './scale.ts'
import { checkNotFromFile, storeUpdate } from './update.ts'
import { type WriteOptions, writeOptions } from './write-options.ts'

/** The media type of configuration to apply (Kubernetes, "Server-Side Apply"); YAML or JSON. */
export const APPLY = 'application/apply-patch+yaml'

/**
 * Applies configuration: creates the object, or changes the fields that the manager applies.
 * @throws ApiError
 */
export function applyObject(state: ApiState, request: ResourceRequest, part: Part): ApiAnswer {
  const { body, kind, query, target } = request
  if (!query.get('fieldManager')) {
    const message = 'Required value: is required for apply patch'
    throw invalid(OPTIONS, '', [{ reason: 'FieldValueRequired', message, field: 'fieldManager' }])
  }
  const options: WriteOptions = { ...writeOptions(query, request.userAgent), operation: 'Apply' }
  const key = keyIn(request)
  const before = state.table.get(key)
  if (before === undefined && part !== 'object') throw notFound(kind, key.name)
  if (part !== 'status') checkNotFromFile(state, request, key)
  const configuration = readYaml(textOf(body!))
  const applied =
    part === 'scale' ? scaleConfiguration(request, configuration) : objectOf(configuration, request, target.name)
  const { object, conflicts, failure } = applyConfiguration(before && inVersion(before, kind), applied, {
    manager: options.manager,
    force: queryFlag(query, 'force'),
    schema: kind.schema,
    hasStatus: kind.hasStatus,
    subresource: subresourceOf(part),
    apiVersion: groupVersion(kind),
    now: timestamp(),
  })
  if (failure !== undefined) throw new ApiError(failure.reason, failure.message, {})
  if (conflicts !== undefined) throw new ApiError('Conflict', conflicts.message, { causes: conflicts.causes })
  const written = objectOf(object, request, target.name)
  if (before === undefined) {
    const { uid } = written.metadata
    if (uid)
      throw conflict(
        kind,
        key.name,
        `uid mismatch: the configuration is for the object with uid ${uid}, and no object exists`,
      )
    return createObject(state, request, written, options, [])
  }
  return storeUpdate(state, request, { before, written, part, options, warnings: [] })
}

const OPTIONS = { group: 'meta.k8s.io', kind: 'PatchOptions' }
