import type { KindName, ObjectsByKind } from '#api/kinds.ts'
import { type ApiObject, keyOf, objectKey } from '#api/object.ts'
import { compareText } from '#base/compare-text.ts'
import type { Labels } from './label-selector.ts'

/** Access to the objects by kind, namespace and name. */
export interface Inventory {
  /** In the order of `byAge`. */
  all<Kind extends KindName>(kind: Kind): readonly ObjectsByKind[Kind][]
  /** Objects of one namespace, in the order of `byAge`. */
  inNamespace<Kind extends KindName>(kind: Kind, namespace: string): readonly ObjectsByKind[Kind][]
  find<Kind extends KindName>(kind: Kind, namespace: string, name: string): ObjectsByKind[Kind] | undefined
  /** Whether the sources contain the object, but it is invalid, and there is no earlier valid version. */
  isRefused(kind: KindName, namespace: string, name: string): boolean
  /** Labels of a namespace. It need not exist as an object: files create namespaces implicitly (decision A-14). */
  namespaceLabels(namespace: string): Labels
}

/** Order of precedence: older objects first, then by namespace and name. Objects from files have no time and count as oldest (decision A-23). */
export function byAge(a: Pick<ApiObject, 'metadata'>, b: Pick<ApiObject, 'metadata'>): number {
  return (
    compareText(a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '') ||
    compareText(a.metadata.namespace, b.metadata.namespace) ||
    compareText(a.metadata.name, b.metadata.name)
  )
}

/** Objects without their sources: it is not known which are refused, and namespaces have no labels. */
export function inventoryOf(objects: readonly ApiObject[]): Inventory {
  const byKey = new Map(objects.map((object) => [keyOf(object), object]))
  const all = <Kind extends KindName>(kind: Kind) =>
    objects.filter((object) => object.kind === kind).toSorted(byAge) as unknown as readonly ObjectsByKind[Kind][]
  return {
    all,
    inNamespace: (kind, namespace) => all(kind).filter(({ metadata }) => metadata.namespace === namespace),
    find: <Kind extends KindName>(kind: Kind, namespace: string, name: string) =>
      byKey.get(objectKey(kind, namespace, name)) as unknown as ObjectsByKind[Kind] | undefined,
    isRefused: () => false,
    namespaceLabels: () => ({}),
  }
}
