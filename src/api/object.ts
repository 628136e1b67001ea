import type { Origin } from '#base/origin.ts'
import { literal, object, openObject, type Parsed, required, type TSchema, text } from '#schema/index.ts'
import { type ObjectMeta, objectMeta } from './object-meta.ts'

/** An object of any kind: the common members, and its origin. */
export interface ApiObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: StoredMeta
  readonly spec?: unknown
  readonly status?: unknown
  /** Set in a stand-in for a route that is not in use: why its requests are refused. */
  readonly refusal?: Refusal
  /** Not part of the API: the file (and line) or store of the object. */
  readonly origin: Origin
}

/** The route has errors and was never valid, its name was already in use, or a bug stops its translation. */
export type Refusal = 'never-valid' | 'duplicate' | 'untranslated'

/** The metadata of a stored object: its name is known; cluster-wide objects have the namespace ''. */
export type StoredMeta = ObjectMeta & { readonly name: string; readonly namespace: string }

/** A stored object of a kind, its members typed by the schema of the kind. */
export type ObjectOf<S extends TSchema> = Omit<Parsed<S>, 'metadata'> & {
  readonly metadata: StoredMeta
  readonly refusal?: Refusal
  readonly origin: Origin
}

function envelope<const Kind extends string>(kind: Kind) {
  return {
    apiVersion: required(text(), 'API group and version.'),
    kind: required(literal(kind), 'Kind of the object.'),
    metadata: required(objectMeta, 'Standard object metadata.'),
  }
}

/** A kind of this gateway: unknown fields outside `metadata` are refused. */
export function ownKind<const Kind extends string, Members extends Record<string, TSchema>>(
  kind: Kind,
  members: Members,
) {
  return object({ ...envelope(kind), ...members })
}

/** A kind of the platform that is only read: unknown fields are kept and reported as warnings. */
export function platformKind<const Kind extends string, Members extends Record<string, TSchema>>(
  kind: Kind,
  members: Members,
) {
  return openObject({ ...envelope(kind), ...members })
}

/** Identifies an object of a known kind: `HTTPRoute/default/shop`. Cluster-wide objects have the namespace ''. */
export function objectKey(kind: string, namespace: string, name: string): string {
  return `${kind}/${namespace}/${name}`
}

/** The key of an object (see `objectKey`). */
export function keyOf(object: Pick<ApiObject, 'kind' | 'metadata'>): string {
  return objectKey(object.kind, object.metadata.namespace, object.metadata.name)
}
