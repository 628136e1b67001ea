import type { ApiObject } from '#api/object.ts'
import type { Origin } from '#base/origin.ts'
import type { Resource, ResourceEvent, ResourceKey } from './resource.ts'
import type { ResourceTable, ResourceWrite } from './resource-table.ts'
import { uidOfKey } from './uid-of-key.ts'

const COLLECTION = 'namespaces'
/** Exists always (decision A-14). */
const DEFAULT = 'default'

/** The Namespaces that exist because objects are in them, and that neither a file nor a client wrote (decision A-14). */
export class ImplicitNamespaces {
  readonly #table: ResourceTable
  /** The objects of files in each namespace; one of them stands for all. */
  readonly #used = new Map<string, { count: number; example: Origin }>()
  readonly #implicit = new Set<string>()
  /** The namespaces whose state may have changed. */
  readonly #touched = new Set<string>([DEFAULT])

  constructor(table: ResourceTable) {
    this.#table = table
    for (const collection of table.collections) {
      for (const { metadata } of table.list(collection)) {
        if (metadata.namespace !== undefined) this.#touched.add(metadata.namespace)
      }
    }
  }

  isImplicit({ collection, name }: ResourceKey): boolean {
    return collection === COLLECTION && this.#implicit.has(name)
  }

  /** An object of a file in the Namespace, if the Namespace is implicit. `default` belongs to no file. */
  originOf(key: ResourceKey): Origin | undefined {
    if (!this.isImplicit(key) || key.name === DEFAULT) return undefined
    return this.#used.get(key.name)?.example
  }

  /** Counts an object of a file, in place of its earlier version. */
  replace(before: ApiObject | undefined, after: ApiObject | undefined): void {
    const { kind, namespace, name } = (after ?? before)!.origin
    if (kind === 'Namespace') {
      // What the file says is written, or no longer.
      this.#touched.add(name)
      if (after !== undefined) this.#implicit.delete(name)
    }
    if (namespace === '') return
    const used = this.#used.get(namespace)
    const count = (used?.count ?? 0) + (after === undefined ? 0 : 1) - (before === undefined ? 0 : 1)
    if (count === 0) this.#used.delete(namespace)
    else if (used === undefined) this.#used.set(namespace, { count, example: after!.origin })
    else used.count = count
    if (used === undefined || count === 0) this.#touched.add(namespace)
  }

  /** Notes a change of a Namespace that no file has: a client that changes one has written it. */
  noteChange({ type, key }: ResourceEvent): void {
    if (type !== 'ADDED') this.#implicit.delete(key.name)
    this.#touched.add(key.name)
  }

  /**
   * The writes that create and remove Namespaces.
   * @param now RFC 3339
   * @param isLeaving whether an object is removed at the same time
   */
  takeWrites(now: string, isLeaving: (key: ResourceKey) => boolean): readonly ResourceWrite[] {
    const writes = [...this.#touched].flatMap((name) => this.#writeOf(name, now, isLeaving) ?? [])
    this.#touched.clear()
    return writes
  }

  #writeOf(name: string, now: string, isLeaving: (key: ResourceKey) => boolean): ResourceWrite | undefined {
    const key = keyOf(name)
    const exists = this.#table.get(key) !== undefined && !isLeaving(key)
    const isNeeded = name === DEFAULT || this.#used.has(name) || this.#hasObjects(name, isLeaving)
    if (isNeeded && !exists) {
      this.#implicit.add(name)
      return { key, object: namespaceResource(key, now) }
    }
    if (isNeeded || !exists || !this.#implicit.delete(name)) return undefined
    return { key, object: undefined }
  }

  #hasObjects(namespace: string, isLeaving: (key: ResourceKey) => boolean): boolean {
    for (const { key } of this.#table.contentOf(namespace)) if (!isLeaving(key)) return true
    return false
  }
}

function keyOf(name: string): ResourceKey {
  return { collection: COLLECTION, namespace: '', name }
}

function namespaceResource(key: ResourceKey, creationTimestamp: string): Resource {
  const spec = { finalizers: ['kubernetes'] }
  const metadata = { name: key.name, uid: uidOfKey(key), resourceVersion: '', creationTimestamp }
  return { apiVersion: 'v1', kind: 'Namespace', metadata, spec, status: { phase: 'Active' } }
}
