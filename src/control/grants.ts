import type { Inventory } from './inventory.ts'

/** One end of a reference. */
export interface ReferenceEnd {
  readonly group: string
  readonly kind: string
  readonly namespace: string
}

/** Whether an object may refer to another one (ReferenceGrant; decision A-35). */
export type Grants = (from: ReferenceEnd, to: ReferenceEnd & { readonly name: string }) => boolean

/** Objects of one namespace may always refer to each other; other references need a grant in the namespace of the target. */
export function readGrants(inventory: Inventory): Grants {
  const permitted = new Set<string>()
  for (const { metadata, spec } of inventory.all('ReferenceGrant')) {
    for (const from of spec.from) {
      for (const to of spec.to) {
        const target = { group: to.group, kind: to.kind, namespace: metadata.namespace, name: to.name ?? '' }
        permitted.add(pairKey(from, target))
      }
    }
  }
  return (from, to) =>
    from.namespace === to.namespace ||
    permitted.has(pairKey(from, to)) ||
    permitted.has(pairKey(from, { ...to, name: '' }))
}

function pairKey(from: ReferenceEnd, to: ReferenceEnd & { readonly name: string }): string {
  return [from.group, from.kind, from.namespace, to.group, to.kind, to.namespace, to.name].join('|')
}
