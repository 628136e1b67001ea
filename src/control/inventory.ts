import type { KindName, ObjectsByKind } from '#api/kinds.ts'
import type { ApiObject } from '#api/object.ts'
import type { Labels } from './label-selector.ts'

/** The objects, found by kind and by name. */
export interface Inventory {
  /** In order of precedence: older objects first (files carry no time and count as oldest), then namespace/name (decision A-23). */
  all<Kind extends KindName>(kind: Kind): readonly ObjectsByKind[Kind][]
  /** The same, of one namespace. */
  inNamespace<Kind extends KindName>(kind: Kind, namespace: string): readonly ObjectsByKind[Kind][]
  find<Kind extends KindName>(kind: Kind, namespace: string, name: string): ObjectsByKind[Kind] | undefined
  /** Of a namespace that need not exist as an object: files create namespaces implicitly (decision A-14). */
  namespaceLabels(namespace: string): Labels
}

/** Older objects first (files carry no time and count as oldest), then namespace/name (decision A-23). */
export function byAge(a: ApiObject, b: ApiObject): number {
  return (
    compareText(a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '') ||
    compareText(a.metadata.namespace, b.metadata.namespace) ||
    compareText(a.metadata.name, b.metadata.name)
  )
}

/** By code units, so that the order is the same everywhere. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
