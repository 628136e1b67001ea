import { clock } from '#base/clock.ts'
import { sameData } from '#base/incremental/same-data.ts'
import type { OwnerReference, Resource, ResourceEvent, ResourceKey } from '#store/resources/resource.ts'
import type { ResourceTable, ResourceWrite } from '#store/resources/resource-table.ts'
import { type Propagation, REMOVED_AT_ONCE, removalOf } from '../verbs/delete.ts'
import { timestamp } from '../verbs/prepare.ts'
import { OwnerIndex } from './owner-index.ts'
import { type Content, terminatingStatus } from './terminating-status.ts'

/** The finalizers of the collector itself (Kubernetes, "Garbage collection"). */
const ORPHAN = 'orphan'
const FOREGROUND = 'foregroundDeletion'
const NAMESPACES = 'namespaces'
/** After a write fails, as on a full disk. */
const RETRY_MS = 5000
/** How long one piece of work looks at objects. The commit of its writes comes on top. */
const PIECE_MS = 5

interface CollectorOptions {
  readonly table: ResourceTable
  /** Whether an object is from a file: the collector leaves it alone. */
  readonly isFromFile: (key: ResourceKey) => boolean
  readonly reportFailure: (error: unknown) => void
}

/**
 * Deletes what has lost its reason to exist: the content of deleted Namespaces, and objects whose owners are gone. It works after the
 * change that makes it necessary, so that its own changes follow that one for every watch; and in pieces, each with one commit, so that
 * requests are answered while thousands of objects are deleted.
 */
export class Collector {
  readonly #options: CollectorOptions
  readonly #table: ResourceTable
  readonly #index: OwnerIndex
  /** Objects to look at, by key as text. */
  readonly #queue = new Map<string, ResourceKey>()
  /** The writes of this piece of work, by key as text: one for each object. */
  readonly #writes = new Map<string, ResourceWrite>()
  /** How often a look at an object has found something to write. */
  #found = 0
  readonly #unsubscribe: () => void
  #run: { cancel(): void } | undefined

  constructor(options: CollectorOptions) {
    this.#options = options
    this.#table = options.table
    this.#index = new OwnerIndex(options.table)
    this.#unsubscribe = options.table.subscribe((events) => this.#note(events))
    for (const collection of this.#table.collections) {
      for (const object of this.#table.list(collection)) {
        const { namespace = '', name } = object.metadata
        this.#noteObject({ collection, namespace, name }, object)
      }
    }
  }

  close(): void {
    this.#unsubscribe()
    this.#run?.cancel()
  }

  #note(events: readonly ResourceEvent[]): void {
    for (const event of events) {
      const { type, key, object, before } = event
      this.#index.update(event)
      if (type !== 'DELETED') {
        this.#noteObject(key, object)
        // The Namespace says which finalizers it waits for.
        if (object.metadata.deletionTimestamp !== undefined) this.#askNamespace(key.namespace)
      } else {
        for (const dependent of this.#index.dependentsOf(object.metadata.uid)) this.#ask(dependent)
        this.#askOwners(before?.metadata.ownerReferences)
        this.#askNamespace(key.namespace)
      }
    }
  }

  #noteObject(key: ResourceKey, { metadata }: Resource): void {
    if (metadata.deletionTimestamp !== undefined || metadata.ownerReferences !== undefined) this.#ask(key)
  }

  /** Owners that are deleted in the foreground may wait for this dependent. */
  #askOwners(owners: readonly OwnerReference[] = []): void {
    for (const { uid } of owners) {
      const owner = this.#index.keyOf(uid)
      if (owner !== undefined) this.#ask(owner)
    }
  }

  #askNamespace(name: string): void {
    const key = { collection: NAMESPACES, namespace: '', name }
    if (this.#table.get(key)?.metadata.deletionTimestamp !== undefined) this.#ask(key)
  }

  #ask(key: ResourceKey): void {
    this.#queue.set(textOf(key), key)
    if (this.#run === undefined) this.#workAfter(0)
  }

  #workAfter(ms: number): void {
    this.#run?.cancel()
    this.#run = clock.after(ms, () => this.#work())
  }

  #work(): void {
    this.#run = undefined
    const startMs = clock.monotonic()
    const again: ResourceKey[] = []
    try {
      for (const [text, key] of this.#queue) {
        this.#queue.delete(text)
        // Its writes may be only a part of those that are necessary.
        if (this.#finds(() => this.#look(key))) again.push(key)
        if (this.#isFull || clock.monotonic() - startMs > PIECE_MS) break
      }
      this.#table.commit([...this.#writes.values()])
    } catch (error) {
      this.#options.reportFailure(error)
      this.#workAfter(RETRY_MS)
    }
    this.#writes.clear()
    for (const key of again) this.#ask(key)
    if (this.#queue.size > 0 && this.#run === undefined) this.#workAfter(0)
  }

  /** @returns whether a look finds something to write */
  #finds(look: () => void): boolean {
    const before = this.#found
    look()
    return this.#found > before
  }

  /** An object that has a write in this piece of work gets the next one in a later piece, which sees the effect of this one. */
  #write(write: ResourceWrite | undefined): void {
    if (write === undefined) return
    this.#found += 1
    const text = textOf(write.key)
    if (!this.#writes.has(text)) this.#writes.set(text, write)
  }

  get #isFull(): boolean {
    return this.#writes.size >= REMOVED_AT_ONCE
  }

  #look(key: ResourceKey): void {
    const object = this.#table.get(key)
    if (object === undefined || this.#options.isFromFile(key)) return
    if (object.metadata.deletionTimestamp !== undefined) this.#finish(key, object)
    else this.#checkOwners(key, object)
  }

  /** An object that is being deleted. */
  #finish(key: ResourceKey, object: Resource): void {
    const { finalizers = [], uid } = object.metadata
    if (finalizers.includes(ORPHAN)) {
      if (!this.#finds(() => this.#disownAll(uid))) this.#removeFinalizer(key, object, ORPHAN)
    } else if (finalizers.includes(FOREGROUND)) {
      if (!this.#finds(() => this.#deleteDependents(uid)) && !this.#isBlocked(uid))
        this.#removeFinalizer(key, object, FOREGROUND)
    } else if (key.collection === NAMESPACES && finalizers.length === 0) this.#empty(key, object)
  }

  #disownAll(uid: string): void {
    for (const key of this.#index.dependentsOf(uid)) {
      if (this.#isFull) return
      const dependent = this.#table.get(key)
      if (dependent !== undefined) this.#disown(key, dependent, (owner) => owner.uid === uid)
    }
  }

  #deleteDependents(uid: string): void {
    for (const key of this.#index.dependentsOf(uid)) {
      if (this.#isFull) return
      const dependent = this.#table.get(key)
      if (dependent !== undefined) this.#delete(key, dependent, 'Foreground')
    }
  }

  /** Whether a dependent is left for which the owner has to wait. */
  #isBlocked(uid: string): boolean {
    return this.#index.dependentsOf(uid).some((key) => {
      const { ownerReferences = [] } = this.#table.get(key)?.metadata ?? {}
      return ownerReferences.some((owner) => owner.uid === uid && owner.blockOwnerDeletion === true)
    })
  }

  #removeFinalizer(key: ResourceKey, object: Resource, finalizer: string): void {
    const finalizers = (object.metadata.finalizers ?? []).filter((name) => name !== finalizer)
    const isLast = finalizers.length === 0 && key.collection !== NAMESPACES
    const next = { ...object, metadata: { ...object.metadata, finalizers } }
    this.#write({ key, object: isLast ? undefined : next })
  }

  /** Deletes the content of a Namespace, then itself. While something is left that others have to finish, its status says so. */
  #empty(key: ResourceKey, namespace: Resource): void {
    const content: Content[] = []
    const isDeleting = this.#finds(() => {
      for (const inside of this.#table.contentOf(key.name)) {
        content.push(inside)
        this.#delete(inside.key, inside.object, 'Background')
        if (this.#isFull) return
      }
    })
    if (isDeleting || this.#isFull) return
    if (content.length === 0) return this.#write({ key, object: undefined })
    const status = terminatingStatus(namespace, content, timestamp())
    if (!sameData(status, namespace.status)) this.#write({ key, object: { ...namespace, status } })
  }

  /** An object without living owner is deleted; of several owners, those that are gone are removed. */
  #checkOwners(key: ResourceKey, object: Resource): void {
    const { ownerReferences = [] } = object.metadata
    const isGone = ({ uid }: OwnerReference) => this.#index.keyOf(uid) === undefined
    if (!ownerReferences.some(isGone)) return
    if (ownerReferences.every(isGone)) this.#delete(key, object, 'Background')
    else this.#disown(key, object, isGone)
  }

  #delete(key: ResourceKey, object: Resource, propagation: Propagation): void {
    if (this.#options.isFromFile(key)) return
    // Only an object with dependents has to wait for them.
    const waits = propagation === 'Foreground' && this.#index.dependentsOf(object.metadata.uid).length > 0
    this.#write(removalOf(key, object, waits ? 'Foreground' : 'Background'))
  }

  #disown(key: ResourceKey, object: Resource, isGone: (owner: OwnerReference) => boolean): void {
    if (this.#options.isFromFile(key)) return
    const { ownerReferences = [], ...metadata } = object.metadata
    const kept = ownerReferences.filter((owner) => !isGone(owner))
    const next = { ...object, metadata: { ...metadata, ...(kept.length > 0 ? { ownerReferences: kept } : {}) } }
    this.#write({ key, object: next })
  }
}

function textOf({ collection, namespace, name }: ResourceKey): string {
  return `${collection}/${namespace}/${name}`
}
