import { clock } from '#base/clock.ts'
import type { Resource } from '#store/resources/resource.ts'
import { ApiError } from '../http/api-error.ts'
import { groupVersion } from '../kinds/collection.ts'
import type { ServedKind } from '../kinds/served-kind.ts'
import { partialMetadata } from '../tables/partial-metadata.ts'
import { type IncludedObject, TableWriter } from '../tables/table.ts'
import type { ResourceRequest } from './resource-request.ts'

type View = Pick<ResourceRequest, 'kind' | 'form' | 'query'>

export interface ListMeta {
  readonly resourceVersion: string
  readonly continue?: string
  readonly remainingItemCount?: number
}

/** An object in the version that the client asked for. All versions have the same members (conversion strategy `None`). */
export function inVersion(object: Resource, kind: Pick<ServedKind, 'group' | 'version'>): Resource {
  const apiVersion = groupVersion(kind)
  return object.apiVersion === apiVersion ? object : { ...object, apiVersion }
}

/** One object in the form that the client accepts. */
export function renderObject(object: Resource, { kind, form, query }: View): object {
  const shown = inVersion(object, kind)
  if (form.as === 'Table') return table([shown], { resourceVersion: object.metadata.resourceVersion }, kind, query)
  return form.as === 'PartialObjectMetadata' ? partialMetadata(shown) : shown
}

/** A list in the form that the client accepts. */
export function renderList(objects: readonly Resource[], metadata: ListMeta, { kind, form, query }: View): object {
  const items = objects.map((object) => inVersion(object, kind))
  if (form.as === 'Table') return table(items, metadata, kind, query)
  if (form.as === 'PartialObjectMetadata') {
    const identity = { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1' }
    return { ...identity, metadata, items: items.map(partialMetadata) }
  }
  return { kind: kind.listKind, apiVersion: groupVersion(kind), metadata, items }
}

/** What a watch sends of an object. */
export function renderWatched(view: View, writer: TableWriter | undefined): (object: Resource) => object {
  const { kind, form, query } = view
  if (writer === undefined) return (object) => renderObject(object, { kind, form, query })
  const include = includedObject(query)
  let first = true
  return (object) => {
    const columns = first ? writer.columnDefinitions : null
    first = false
    const rows = [writer.row(inVersion(object, kind), include, clock.now())]
    return {
      ...TABLE,
      metadata: { resourceVersion: object.metadata.resourceVersion },
      columnDefinitions: columns,
      rows,
    }
  }
}

const TABLE = { kind: 'Table', apiVersion: 'meta.k8s.io/v1' } as const

function table(objects: readonly Resource[], metadata: ListMeta, kind: ServedKind, query: URLSearchParams): object {
  const writer = new TableWriter(kind)
  const include = includedObject(query)
  const nowMs = clock.now()
  const rows = objects.map((object) => writer.row(object, include, nowMs))
  return { ...TABLE, metadata, columnDefinitions: writer.columnDefinitions, rows }
}

/** @throws ApiError BadRequest */
function includedObject(query: URLSearchParams): IncludedObject {
  const value = query.get('includeObject') || 'Metadata'
  if (value === 'None' || value === 'Metadata' || value === 'Object') return value
  throw new ApiError('BadRequest', `includeObject: must be None, Metadata or Object, not "${value}"`)
}
