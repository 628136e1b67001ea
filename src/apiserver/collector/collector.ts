import { clock } from '#base/clock.ts'
import type { OwnerReference, Resource, ResourceEvent, ResourceKey } from '#store/resources/resource.ts'
import type { ResourceTable } from '#store/resources/resource-table.ts'
import { removeObject } from '../verbs/delete.ts'
import { OwnerIndex } from './owner-index.ts'

/** The finalizers of the collector itself (Kubernetes, "Garbage collection"). */
const ORPHAN = 'orphan'
const FOREGROUND = 'foregroundDeletion'
const NAMESPACES = 'namespaces'
/** After a write fails, as on a full disk. */
const RETRY_MS = 5000

interface CollectorOptions {
  readonly table: ResourceTable
  /** Whether an object is from a file: the collector leaves it alone. */
  readonly isFromFile: (key: ResourceKey) => boolean
  readonly reportFailure: (error: unknown) => void
}

/**
 * Deletes what has lost its reason to exist: the content of deleted Namespaces, and objects whose owners are gone. It works after the
 * change that makes it necessary, so that its own changes follow that one for every watch.
 */
export class Collector {
  readonly #options: CollectorOptions
  readonly #table: ResourceTable
  readonly #index: OwnerIndex
  /** Objects to look at, by key as text. */
  readonly #queue = new Map<string, ResourceKey>()
  readonly #unsubscribe: () => void
  #run: { cancel(): void } | undefined

  constructor(options: CollectorOptions) {
    this.#options = options
    this.#table = options.table
    this.#index = new OwnerIndex(options.table)
    this.#unsubscribe = options.table.subscribe((events) => this.#note(events))
    for (const collection of this.#table.collections) {
      for (const { metadata } of this.#table.list(collection)) {
        this.#ask({ collection, namespace: metadata.namespace ?? '', name: metadata.name })
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
      if (type !== 'DELETED') this.#ask(key)
      else {
        for (const dependent of this.#index.dependentsOf(object.metadata.uid)) this.#ask(dependent)
        this.#askOwners(before?.metadata.ownerReferences)
        this.#askNamespace(key.namespace)
      }
    }
  }

  /** Owners that are deleted in the foreground may wait for this dependent. */
  #askOwners(owners: readonly OwnerReference[] = []): void {
    for (const { uid } of owners) {
      const owner = this.#index.keyOf(uid)
      if (owner !== undefined) this.#ask(owner)
    }
  }

  #askNamespace(name: string): void {
    if (name !== '') this.#ask({ collection: NAMESPACES, namespace: '', name })
  }

  #ask(key: ResourceKey): void {
    this.#queue.set(`${key.collection}/${key.namespace}/${key.name}`, key)
    if (this.#run === undefined) this.#workAfter(0)
  }

  #workAfter(ms: number): void {
    this.#run?.cancel()
    this.#run = clock.after(ms, () => this.#work())
  }

  #work(): void {
    this.#run = undefined
    for (const [text, key] of this.#queue) {
      this.#queue.delete(text)
      try {
        this.#look(key)
      } catch (error) {
        this.#options.reportFailure(error)
        this.#queue.set(text, key)
        return this.#workAfter(RETRY_MS)
      }
    }
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
      for (const dependent of this.#index.dependentsOf(uid)) this.#disown(dependent, (owner) => owner.uid === uid)
      return this.#removeFinalizer(key, object, ORPHAN)
    }
    if (finalizers.includes(FOREGROUND) && !this.#deleteDependents(uid)) this.#removeFinalizer(key, object, FOREGROUND)
    else if (key.collection === NAMESPACES && finalizers.length === 0) this.#empty(key)
  }

  /** @returns whether one is left for which the owner has to wait */
  #deleteDependents(uid: string): boolean {
    for (const key of this.#index.dependentsOf(uid)) {
      const dependent = this.#table.get(key)
      if (dependent !== undefined) this.#delete(key, dependent, 'Foreground')
    }
    return this.#index.dependentsOf(uid).some((key) => {
      const { ownerReferences = [] } = this.#table.get(key)?.metadata ?? {}
      return ownerReferences.some((owner) => owner.uid === uid && owner.blockOwnerDeletion === true)
    })
  }

  #removeFinalizer(key: ResourceKey, object: Resource, finalizer: string): void {
    const finalizers = (object.metadata.finalizers ?? []).filter((name) => name !== finalizer)
    const isLast = finalizers.length === 0 && key.collection !== NAMESPACES
    const next = { ...object, metadata: { ...object.metadata, finalizers } }
    this.#table.commit([{ key, object: isLast ? undefined : next }])
  }

  /** Deletes the content of a Namespace, then itself. */
  #empty(key: ResourceKey): void {
    let isEmpty = true
    for (const collection of this.#table.collections) {
      for (const object of this.#table.list(collection, key.name)) {
        const inside = { collection, namespace: key.name, name: object.metadata.name }
        this.#delete(inside, object, 'Background')
        isEmpty &&= this.#table.get(inside) === undefined
      }
    }
    if (isEmpty) this.#table.commit([{ key, object: undefined }])
  }

  /** An object without living owner is deleted; of several owners, those that are gone are removed. */
  #checkOwners(key: ResourceKey, object: Resource): void {
    const { ownerReferences = [] } = object.metadata
    const isGone = ({ uid }: OwnerReference) => this.#index.keyOf(uid) === undefined
    if (!ownerReferences.some(isGone)) return
    if (ownerReferences.every(isGone)) this.#delete(key, object, 'Background')
    else this.#disown(key, isGone)
  }

  #delete(key: ResourceKey, object: Resource, propagation: 'Background' | 'Foreground'): void {
    if (this.#options.isFromFile(key)) return
    // Only an object with dependents has to wait for them.
    const waits = propagation === 'Foreground' && this.#index.dependentsOf(object.metadata.uid).length > 0
    removeObject(this.#table, key, object, { propagation: waits ? 'Foreground' : 'Background', dryRun: false })
  }

  #disown(key: ResourceKey, isGone: (owner: OwnerReference) => boolean): void {
    const object = this.#table.get(key)
    if (object === undefined || this.#options.isFromFile(key)) return
    const { ownerReferences = [], ...metadata } = object.metadata
    const kept = ownerReferences.filter((owner) => !isGone(owner))
    const next = { ...object, metadata: { ...metadata, ...(kept.length > 0 ? { ownerReferences: kept } : {}) } }
    this.#table.commit([{ key, object: next }])
  }
}
