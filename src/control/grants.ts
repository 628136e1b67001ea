/** One end of a reference. */
export interface ReferenceEnd {
  readonly group: string
  readonly kind: string
  readonly namespace: string
}

/** Whether an object may refer to another one (ReferenceGrant; decision A-35). */
export type Grants = (from: ReferenceEnd, to: ReferenceEnd & { readonly name: string }) => boolean

/** What a ReferenceGrant permits, as text. */
export function pairKey(from: ReferenceEnd, to: ReferenceEnd & { readonly name: string }): string {
  return [from.group, from.kind, from.namespace, to.group, to.kind, to.namespace, to.name].join('|')
}
