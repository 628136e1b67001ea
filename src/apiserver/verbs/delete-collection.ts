import { collectionOf } from '../kinds/collection.ts'
import { deleteOptions, removeObject } from './delete.ts'
import { renderList } from './render.ts'
import { type ApiAnswer, type ApiState, keyOfResource, type ResourceRequest } from './resource-request.ts'
import { selected } from './selected.ts'
import { checkNotFromFile } from './update.ts'

/**
 * Deletes all objects that a request selects. Objects of files stop it before anything is deleted.
 * @throws ApiError
 */
export function removeAll(state: ApiState, request: ResourceRequest): ApiAnswer {
  const { kind, target } = request
  const options = deleteOptions(request)
  const matches = selected(request)
  const objects = state.table
    .list(collectionOf(kind), kind.namespaced ? target.namespace : undefined)
    .filter((object) => matches === undefined || matches(object))
  for (const object of objects) checkNotFromFile(state, request, keyOfResource(kind, object))
  for (const object of objects) removeObject(state.table, keyOfResource(kind, object), object, options)
  return { status: 200, body: renderList(objects, { resourceVersion: String(state.table.revision) }, request) }
}
