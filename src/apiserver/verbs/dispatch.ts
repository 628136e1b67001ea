import { runInSlices } from '#base/in-slices.ts'
import { ApiError } from '../http/api-error.ts'
import type { ServedKind } from '../kinds/served-kind.ts'
import { type Verb, verbsOf } from '../kinds/verbs-of.ts'
import { create } from './create.ts'
import { remove } from './delete.ts'
import { removeAll } from './delete-collection.ts'
import { get } from './get.ts'
import { list } from './list.ts'
import { patch } from './patch.ts'
import type { Part } from './prepare.ts'
import { queryFlag } from './query-flag.ts'
import type { ApiAnswer, ApiState, ResourceRequest } from './resource-request.ts'
import type { Snapshots } from './snapshots.ts'
import { update } from './update.ts'

/**
 * The verb of a request.
 * @throws ApiError MethodNotAllowed
 */
export function verbOf(method: string, { target, query }: Pick<ResourceRequest, 'target' | 'query'>): Verb {
  const isOne = target.name !== undefined
  switch (method) {
    case 'GET':
      if (queryFlag(query, 'watch') && target.subresource === undefined) return 'watch'
      return isOne ? 'get' : 'list'
    case 'POST':
      if (!isOne) return 'create'
      break
    case 'PUT':
      if (isOne) return 'update'
      break
    case 'PATCH':
      if (isOne) return 'patch'
      break
    case 'DELETE':
      return isOne ? 'delete' : 'deletecollection'
  }
  throw notAllowed()
}

function notAllowed(): ApiError {
  return new ApiError('MethodNotAllowed', 'the server does not allow this method on the requested resource')
}

/**
 * Answers every request but watches. Deleting a collection may take long.
 * @throws ApiError
 */
export function dispatch(
  state: ApiState,
  snapshots: Snapshots,
  verb: Exclude<Verb, 'watch'>,
  request: ResourceRequest,
): ApiAnswer | Promise<ApiAnswer> {
  const { kind, target } = request
  const { subresource } = target
  if (subresource !== undefined) return dispatchPart(state, verb, request, subresource)
  if (!verbsOf(kind).includes(verb)) throw notAllowed()
  if (kind.namespaced && target.namespace === undefined && verb !== 'list') throw notAllowed()
  switch (verb) {
    case 'get':
      return get(state, request, 'object')
    case 'list':
      return list(state, snapshots, request)
    case 'create':
      return create(state, request)
    case 'update':
      return update(state, request, 'object')
    case 'patch':
      return patch(state, request, 'object')
    case 'delete':
      return remove(state, request)
    case 'deletecollection':
      return runInSlices(removeAll(state, request))
  }
}

function dispatchPart(state: ApiState, verb: Verb, request: ResourceRequest, subresource: string): ApiAnswer {
  const part = partOf(request.kind, subresource)
  if (part === undefined) {
    throw new ApiError('NotFound', 'the server could not find the requested resource')
  }
  switch (verb) {
    case 'get':
      return get(state, request, part)
    case 'update':
      return update(state, request, part)
    case 'patch':
      return patch(state, request, part)
    default:
      throw notAllowed()
  }
}

function partOf({ hasStatus, scale }: ServedKind, subresource: string): Part | undefined {
  if (subresource === 'status' && hasStatus) return 'status'
  if (subresource === 'scale' && scale !== undefined) return 'scale'
  return undefined
}
