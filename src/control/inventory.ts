import type { KindName, ObjectsByKind } from '#api/kinds.ts'
import { type ApiObject, objectKey } from '#api/object.ts'
import { append } from './append.ts'
import type { Labels } from './label-selector.ts'

/** All objects of one translation, found by kind and by name. */
export interface Inventory {
  /** In order of precedence: older objects first (files carry no time and count as oldest), then namespace/name (decision A-23). */
  all<Kind extends KindName>(kind: Kind): readonly ObjectsByKind[Kind][]
  /** The same, of one namespace. */
  inNamespace<Kind extends KindName>(kind: Kind, namespace: string): readonly ObjectsByKind[Kind][]
  find<Kind extends KindName>(kind: Kind, namespace: string, name: string): ObjectsByKind[Kind] | undefined
  /** Of a namespace that need not exist as an object: files create namespaces implicitly (decision A-14). */
  namespaceLabels(namespace: string): Labels
}

/** Sorts and indexes the objects; they are trusted to be valid (the store admits no others). */
export function collect(objects: readonly ApiObject[]): Inventory {
  const byKind = new Map<string, ApiObject[]>()
  const byKey = new Map<string, ApiObject>()
  for (const object of objects) {
    append(byKind, object.kind, object)
    byKey.set(objectKey(object.kind, object.metadata.namespace, object.metadata.name), object)
  }
  const byNamespace = new Map<string, ApiObject[]>()
  for (const [kind, list] of byKind) {
    list.sort(byAge)
    for (const object of list) append(byNamespace, `${kind}/${object.metadata.namespace}`, object)
  }

  // The one place where a kind's name becomes its type: the store has validated every object against its kind.
  const find = (kind: string, namespace: string, name: string) => byKey.get(objectKey(kind, namespace, name))
  return {
    all: (kind) => (byKind.get(kind) ?? []) as readonly ApiObject[] as never,
    inNamespace: (kind, namespace) => (byNamespace.get(`${kind}/${namespace}`) ?? []) as readonly ApiObject[] as never,
    find: find as Inventory['find'],
    namespaceLabels: (namespace) => ({
      ...find('Namespace', '', namespace)?.metadata.labels,
      'kubernetes.io/metadata.name': namespace,
    }),
  }
}

function byAge(a: ApiObject, b: ApiObject): number {
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
