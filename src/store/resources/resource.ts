import type { JsonObject } from '#base/json.ts'

/** An object in the form that the API serves. It is never changed: a write replaces it. Equal parts of two versions may be shared. */
export interface Resource {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ResourceMeta
  readonly [member: string]: unknown
}

/** The metadata of a stored object (Kubernetes, ObjectMeta). */
export interface ResourceMeta {
  readonly name: string
  /** Absent on objects without namespace. */
  readonly namespace?: string
  readonly uid: string
  /** The revision of the last change, as text. */
  readonly resourceVersion: string
  /** RFC 3339, in whole seconds. */
  readonly creationTimestamp: string
  readonly generation?: number
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly finalizers?: readonly string[]
  readonly deletionTimestamp?: string
  readonly deletionGracePeriodSeconds?: number
  readonly ownerReferences?: readonly OwnerReference[]
  readonly managedFields?: readonly ManagedFieldsEntry[]
}

export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
  readonly blockOwnerDeletion?: boolean
}

/** The fields that one manager has set (Kubernetes, "Server-Side Apply"). */
export interface ManagedFieldsEntry {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly apiVersion: string
  readonly time?: string
  readonly fieldsType: 'FieldsV1'
  readonly fieldsV1: JsonObject
  readonly subresource?: string
}

/** Names an object. */
export interface ResourceKey {
  /** Plural name of the kind and its group: `gateways.gateway.networking.k8s.io`, `services`. */
  readonly collection: string
  /** '' for objects without namespace. */
  readonly namespace: string
  readonly name: string
}

/** One change of an object. */
export interface ResourceEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly revision: number
  readonly key: ResourceKey
  /** The object after the change; of a deleted object, its last state with the revision of the deletion. */
  readonly object: Resource
  /** The object before the change. */
  readonly before: Resource | undefined
}

/** The position of an object in a file. */
export interface FileOrigin {
  readonly file: string
  readonly line: number
}
