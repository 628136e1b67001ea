import type { Steps } from '#base/in-slices.ts'
import { collectionOf } from '../kinds/collection.ts'
import { deleteOptions, REMOVED_AT_ONCE, removalOf } from './delete.ts'
import { renderList } from './render.ts'
import { type ApiAnswer, type ApiState, keyOfResource, type ResourceRequest } from './resource-request.ts'
import { selected } from './selected.ts'
import { checkNotFromFile } from './update.ts'

/**
 * Deletes all objects that a request selects. Objects of files stop it before anything is deleted. Between its commits, other requests run;
 * what they delete or create meanwhile is left alone.
 * @throws ApiError
 */
export function* removeAll(state: ApiState, request: ResourceRequest): Steps<ApiAnswer> {
  const { kind, target } = request
  const { table } = state
  const { propagation, dryRun } = deleteOptions(request)
  const matches = selected(request)
  const objects = table
    .list(collectionOf(kind), kind.namespaced ? target.namespace : undefined)
    .filter((object) => matches === undefined || matches(object))
  for (const object of objects) checkNotFromFile(state, request, keyOfResource(kind, object))
  for (let at = 0; at < objects.length && !dryRun; at += REMOVED_AT_ONCE) {
    const writes = objects.slice(at, at + REMOVED_AT_ONCE).flatMap(({ metadata }) => {
      const key = keyOfResource(kind, { metadata })
      const now = table.get(key)
      return now?.metadata.uid === metadata.uid ? (removalOf(key, now, propagation) ?? []) : []
    })
    table.commit(writes)
    yield
  }
  return { status: 200, body: renderList(objects, { resourceVersion: String(table.revision) }, request) }
}
