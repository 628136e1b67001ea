import { collectionOfKind } from '#api/collection.ts'
import { findKind, type KindInfo } from '#api/kinds.ts'
import type { ApiObject } from '#api/object.ts'
import type { ObjectChange } from '#api/object-change.ts'
import { clock } from '#base/clock.ts'
import { sameData } from '#base/incremental/same-data.ts'
import { fileResource } from './file-resource.ts'
import { ImplicitNamespaces } from './implicit-namespaces.ts'
import { JournalFailure } from './journal-failure.ts'
import type { FileOrigin, Resource, ResourceEvent, ResourceKey } from './resource.ts'
import type { ResourceTable, ResourceWrite } from './resource-table.ts'

/** The key of an object of a known kind. */
export function resourceKeyOf({ kind, namespace, name }: ApiObject['origin']): ResourceKey {
  return { collection: collectionOfKind(kind), namespace, name }
}

/**
 * The objects of files in the table of resources. They are in memory only. An object of the API with the name of one of them is out of the
 * table while the file has it, and in the journal all the time (decision A-13).
 */
export class FileLayer {
  readonly #table: ResourceTable
  readonly #report: (problem: JournalFailure) => void
  /** The objects of files, by text of the key. */
  readonly #objects = new Map<string, ApiObject>()
  /** The objects of the API that they replace. */
  readonly #displaced = new Map<string, Resource>()
  readonly #namespaces: ImplicitNamespaces

  /** @param report called when an object that is in force again could not be stored with its new revision */
  constructor(table: ResourceTable, report: (problem: JournalFailure) => void) {
    this.#table = table
    this.#report = report
    this.#namespaces = new ImplicitNamespaces(table)
  }

  /** Whether the table has the object of a file under a key. */
  has(key: ResourceKey): boolean {
    return this.#objects.has(textOf(key))
  }

  /** Whether a Namespace exists only because objects of files are in it. */
  isImplicit(key: ResourceKey): boolean {
    return this.#namespaces.isImplicit(key)
  }

  /** The file that manages an object; of a Namespace that nobody wrote, that of an object in it. */
  originOf(key: ResourceKey): FileOrigin | undefined {
    const origin = this.#objects.get(textOf(key))?.origin ?? this.#namespaces.originOf(key)
    return origin?.file === undefined ? undefined : { file: origin.file, line: origin.line ?? 1 }
  }

  /** Puts the objects of files into a table that nobody has read, with their statuses. */
  load(objects: readonly ApiObject[], statusOf: (object: ApiObject) => unknown): void {
    const now = timestamp()
    const writes: ResourceWrite[] = []
    for (const object of objects) if (object.refusal === undefined) this.#set(object, now, writes, statusOf(object))
    this.#table.load(this.#withNamespaces(writes, now).flatMap(({ key, object }) => (object ? [{ key, object }] : [])))
  }

  /** Puts a change of the objects of files into the table. Stand-ins for invalid objects are not in it. */
  apply({ set, removed }: Pick<ObjectChange, 'set' | 'removed'>): void {
    const now = timestamp()
    const writes: ResourceWrite[] = []
    const returning: ResourceWrite[] = []
    for (const object of removed) this.#remove(object, writes, returning)
    for (const object of set) {
      if (object.refusal === undefined) this.#set(object, now, writes, undefined)
      else this.#remove(object, writes, returning)
    }
    this.#table.commitInMemory(this.#withNamespaces(writes, now))
    this.#commit(returning)
  }

  /** Notes a change that a client made, which may be one of a Namespace. */
  noteChange(event: ResourceEvent): void {
    if (event.key.collection !== 'namespaces' || this.has(event.key)) return
    this.#namespaces.noteChange(event)
    this.#table.commitInMemory(this.#withNamespaces([], timestamp()))
  }

  /** A Namespace that leaves a file, and that is still needed, is not removed: its content would be removed with it. */
  #withNamespaces(writes: readonly ResourceWrite[], now: string): readonly ResourceWrite[] {
    const removed = new Set(writes.filter(({ object }) => object === undefined).map(({ key }) => textOf(key)))
    const namespaces = this.#namespaces.takeWrites(now, (key) => removed.has(textOf(key)))
    const created = new Set(namespaces.map(({ key }) => key.name))
    const others = writes.filter(({ key }) => key.collection !== 'namespaces' || !created.has(key.name))
    return [...others, ...namespaces]
  }

  #set(object: ApiObject, now: string, writes: ResourceWrite[], newStatus: unknown): void {
    const { origin } = object
    const info = findKind(origin.kind)!
    const key = resourceKeyOf(origin)
    const text = textOf(key)
    const known = this.#objects.get(text)
    const before = this.#table.get(key)
    const isDisplaced = known === undefined && before !== undefined && !this.#namespaces.isImplicit(key)
    if (isDisplaced) this.#displaced.set(text, before)
    this.#namespaces.replace(known, object)
    this.#objects.set(text, object)
    const isKnown = known !== undefined && before !== undefined
    const status = newStatus ?? before?.status
    const resource = fileResource(object, { key, info, before, isKnown, now, status })
    if (!isKnown || !isSame(resource, before)) writes.push({ key, object: resource, isNew: true })
  }

  #remove({ origin }: ApiObject, writes: ResourceWrite[], returning: ResourceWrite[]): void {
    const key = resourceKeyOf(origin)
    const text = textOf(key)
    const known = this.#objects.get(text)
    if (known === undefined) return
    this.#objects.delete(text)
    this.#namespaces.replace(known, undefined)
    const displaced = this.#displaced.get(text)
    this.#displaced.delete(text)
    if (displaced === undefined) writes.push({ key, object: undefined })
    else returning.push({ key, object: withStatus(displaced, findKind(origin.kind)!, this.#table.get(key)?.status) })
  }

  /** Also without the journal, which still has the object with an older revision. */
  #commit(writes: readonly ResourceWrite[]): void {
    try {
      this.#table.commit(writes)
    } catch (error) {
      if (!(error instanceof JournalFailure)) throw error
      this.#report(error)
      this.#table.commitInMemory(writes)
    }
  }
}

function withStatus(resource: Resource, { statusIsOurs }: KindInfo, status: unknown): Resource {
  return statusIsOurs && status !== undefined ? { ...resource, status } : resource
}

/** RFC 3339, in whole seconds. */
function timestamp(): string {
  return new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z')
}

/** Besides the revision, and the time of the last change. */
function isSame(one: Resource, other: Resource): boolean {
  const manager = ({ metadata }: Resource) => metadata.managedFields?.[0]?.manager
  return manager(one) === manager(other) && sameData(content(one), content(other))
}

function content({ metadata, ...rest }: Resource): object {
  const { resourceVersion: _, managedFields: __, ...named } = metadata
  return { ...rest, metadata: named }
}

function textOf({ collection, namespace, name }: ResourceKey): string {
  return `${collection}/${namespace}/${name}`
}
