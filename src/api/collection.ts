import { KINDS, type KindInfo } from './kinds.ts'

/** The name of the objects of a kind, whatever their version: `gateways.gateway.networking.k8s.io`, `services`. */
export function collectionOf({ group, plural }: { readonly group: string; readonly plural: string }): string {
  return group === '' ? plural : `${plural}.${group}`
}

const COLLECTIONS: ReadonlyMap<string, string> = new Map(KINDS.map((info) => [info.kind, collectionOf(info)]))

/** The collection of a known kind. */
export function collectionOfKind(kind: string): string {
  return COLLECTIONS.get(kind)!
}

const BY_COLLECTION: ReadonlyMap<string, KindInfo> = new Map(KINDS.map((info) => [collectionOf(info), info]))

/** The known kind whose objects are in a collection. */
export function kindOfCollection(collection: string): KindInfo | undefined {
  return BY_COLLECTION.get(collection)
}
