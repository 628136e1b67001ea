/** The source or target of a reference. */
export interface ReferenceEnd {
  readonly group: string
  readonly kind: string
  readonly namespace: string
}

/** Whether a reference is permitted (ReferenceGrant; decision A-35). */
export type Grants = (from: ReferenceEnd, to: ReferenceEnd & { readonly name: string }) => boolean

/** Key of a pair of source and target that a ReferenceGrant permits. */
export function pairKey(from: ReferenceEnd, to: ReferenceEnd & { readonly name: string }): string {
  return [from.group, from.kind, from.namespace, to.group, to.kind, to.namespace, to.name].join('|')
}
