import type { Column } from '#api/definitions/printer-columns.ts'
import type { StructuralSchema } from '#api/definitions/structural-schema.ts'
import type { Resource } from '#store/resources/resource.ts'

/** A kind in one version, as clients see it: built in, or of a CustomResourceDefinition. */
export interface ServedKind {
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
  /** The version in which objects are stored. */
  readonly storageVersion: string
  readonly kind: string
  readonly listKind: string
  readonly plural: string
  readonly singular: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly namespaced: boolean
  /** The members of an object: for OpenAPI, and for patches that merge lists by key. */
  readonly schema: StructuralSchema
  readonly hasStatus: boolean
  readonly scale?: ScaleFields
  /** A change of any member but `metadata` and `status` raises the generation. */
  readonly hasGeneration: boolean
  /** What `kubectl get` prints, besides the name. */
  readonly columns: readonly Column[]
  /** Fields besides name and namespace that clients can select objects by: `spec.nodeName`. */
  readonly selectableFields?: readonly string[]
  /** Patches of type `application/strategic-merge-patch+json` are possible, as for the platform's own kinds. */
  readonly hasStrategicMerge: boolean
  /** Objects of the kind are not stored: a client creates one to ask a question, and gets it back with the answer in its status. */
  readonly review?: (written: WrittenObject) => object
  /** Checks an object and sets its defaults. The object has its name, namespace and kind already. */
  readonly admit: (object: WrittenObject, options: AdmitOptions) => Admitted
}

/** A JSON object with the members that every object has; the rest is unchecked. */
export interface WrittenObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: Readonly<Record<string, unknown>> & { readonly name: string }
  readonly [member: string]: unknown
}

export interface AdmitOptions {
  /** What to do with unknown fields (Kubernetes, `fieldValidation`). */
  readonly unknownFields: 'refuse' | 'warn' | 'ignore'
  /** The stored object that is replaced, for rules about changes. */
  readonly before?: Resource | undefined
}

/** An object that may be stored, with its defaults, or the reasons why it may not. */
export interface Admitted {
  readonly object?: WrittenObject
  readonly causes: readonly Cause[]
  /** Texts for `Warning` headers. */
  readonly warnings: readonly string[]
}

/** One reason of a refusal (Kubernetes, `StatusCause`). */
export interface Cause {
  readonly reason:
    | 'FieldValueInvalid'
    | 'FieldValueRequired'
    | 'FieldValueNotSupported'
    | 'FieldValueDuplicate'
    | 'FieldValueForbidden'
    | 'FieldValueTypeInvalid'
    | 'FieldValueNotFound'
    | 'FieldValueTooLong'
    | 'FieldValueTooMany'
  readonly message: string
  /** Path of the field: `spec.traffic.timeouts.request`. */
  readonly field: string
}

/** Paths of the scale subresource (Kubernetes, `CustomResourceSubresourceScale`). */
export interface ScaleFields {
  readonly specReplicasPath: string
  readonly statusReplicasPath: string
  readonly labelSelectorPath?: string
}
