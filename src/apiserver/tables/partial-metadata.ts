import type { Resource } from '#store/resources/resource.ts'

/** An object without all but its metadata (Kubernetes, `PartialObjectMetadata`). */
export function partialMetadata({ metadata }: Resource): object {
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata }
}
