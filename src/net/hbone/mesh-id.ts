/** A workload of a mesh, within its trust domain. */
export interface MeshWorkload {
  readonly namespace: string
  readonly serviceAccount: string
}

/** The SPIFFE id of a workload, as Istio writes it. */
export function meshId(trustDomain: string, { namespace, serviceAccount }: MeshWorkload): string {
  return `spiffe://${trustDomain}/ns/${namespace}/sa/${serviceAccount}`
}
