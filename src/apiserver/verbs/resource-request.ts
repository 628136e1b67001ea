import type { FileOrigin, Resource, ResourceKey } from '#store/resources/resource.ts'
import type { ResourceTable } from '#store/resources/resource-table.ts'
import type { MediaType } from '../http/media-type.ts'
import type { Form } from '../http/negotiate.ts'
import type { ResourceTarget } from '../http/request-target.ts'
import { collectionOf } from '../kinds/collection.ts'
import type { KindRegistry } from '../kinds/registry.ts'
import type { ServedKind } from '../kinds/served-kind.ts'

/** What the verbs work on. */
export interface ApiState {
  readonly table: ResourceTable
  readonly kinds: KindRegistry
  /** The file that an object is from; undefined: it was written through the API. */
  readonly fileOf: (key: ResourceKey) => FileOrigin | undefined
  /** Texts about an object that was just written, for `Warning` headers. */
  readonly findingsOf: (key: ResourceKey) => readonly string[]
}

/** A request about objects of one kind. */
export interface ResourceRequest {
  readonly kind: ServedKind
  readonly target: ResourceTarget
  readonly query: URLSearchParams
  readonly form: Form
  readonly body: RequestBody | undefined
  readonly userAgent: string
}

export interface RequestBody {
  readonly type: MediaType
  readonly bytes: Buffer
}

/** An answer with one object; the form is applied when it is written. */
export interface ApiAnswer {
  readonly status: number
  readonly body: object
  readonly warnings?: readonly string[]
}

/** The object that a request names. The namespace of a cluster-wide kind is ''. */
export function keyIn({ kind, target }: Pick<ResourceRequest, 'kind' | 'target'>, name = target.name!): ResourceKey {
  return { collection: collectionOf(kind), namespace: kind.namespaced ? (target.namespace ?? '') : '', name }
}

/** The key of a stored object of a kind. */
export function keyOfResource(kind: ServedKind, { metadata }: Pick<Resource, 'metadata'>): ResourceKey {
  return { collection: collectionOf(kind), namespace: metadata.namespace ?? '', name: metadata.name }
}
