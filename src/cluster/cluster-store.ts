import { collectionOf } from '#api/collection.ts'
import { findKind, KINDS, type KindInfo } from '#api/kinds.ts'
import { type ApiObject, objectKey } from '#api/object.ts'
import { type ObjectChange, ObjectChanges } from '#api/object-change.ts'
import { clock } from '#base/clock.ts'
import { sameData } from '#base/incremental/same-data.ts'
import type { FileProblem } from '#store/file-problem.ts'
import { UNKNOWN_PROTECTION } from '#store/refused-policies.ts'
import type { Resource } from '#store/resources/resource.ts'
import type { ObjectSource, Statuses, StatusSink, StatusWrites } from '#store/store.ts'
import { inForce, StoredObjects } from '#store/stored-objects.ts'
import { Subscribers } from '#store/subscribers.ts'
import type { ApiClient } from './api-client.ts'
import { KindWatch, type WatchedKind, type WatchedResource, type WatchSink, type WatchTimes } from './kind-watch.ts'
import { textOf } from './kubeconfig.ts'
import { ReferredSecrets } from './referred-secrets.ts'
import { secretProblems, unsyncedWatches, watchProblems } from './source-problems.ts'

const TIMES: WatchTimes = { firstBackOff: 500, maxBackOff: 30_000, absent: 15_000, idle: 180_000 }
/** Objects wait so long for the Secrets that they refer to, so that no plan is published without these. */
const HOLD_MS = 1000
const SECRET = findKind('Secret')!
/** Several controllers write one status, without entries of their own. If each answered the write of another with its own, they would never end (decision A-140). */
const WITHOUT_ENTRIES: ReadonlySet<string> = new Set(['ProxyBackend'])

export interface ClusterStoreOptions {
  readonly client: ApiClient
  /** None: objects of all namespaces. */
  readonly namespaces?: readonly string[]
  readonly statuses: StatusSink
  readonly times?: Partial<WatchTimes>
}

/**
 * The objects of a Kubernetes API, as they change: of Secrets, only those that other objects refer to. They are checked as those of files are: an
 * invalid version leaves the last valid one in force. Until everything was read once, there are no objects.
 */
export class ClusterStore implements ObjectSource, Statuses {
  /** Resolves when everything was read once. From then on, `takeChange` has the objects. */
  readonly synced: Promise<void>
  readonly #client: ApiClient
  readonly #namespaces: readonly string[]
  readonly #statuses: StatusSink
  readonly #watches: readonly KindWatch[]
  readonly #secrets: ReferredSecrets
  readonly #stored = new StoredObjects()
  readonly #changes = new ObjectChanges()
  readonly #subscribers = new Subscribers()
  /** Statuses in the API, by key of the object, where `#stored` has the one that is about to be written. */
  readonly #replaced = new Map<string, unknown>()
  /** Keys of the objects whose statuses others wrote since that was last taken. */
  readonly #statusWritten = new Set<string>()
  readonly #resolveSynced: () => void
  readonly #turns: Pick<WatchSink, 'changed' | 'stateChanged'> = {
    changed: () => this.#changed(),
    stateChanged: () => {
      this.#hasNews = true
      this.#changed()
    },
  }
  #isSynced = false
  /** Subscribers do not know yet of a change. What the API sends back of our own writes is none. */
  #hasNews = false
  #isClosed = false
  #flush: NodeJS.Immediate | undefined
  /** Ends the wait for Secrets. */
  #hold: { cancel(): void } | undefined
  #list: readonly ApiObject[] | undefined

  constructor({ client, namespaces = [], statuses, times }: ClusterStoreOptions) {
    this.#client = client
    this.#namespaces = namespaces
    this.#statuses = statuses
    const { promise, resolve } = Promise.withResolvers<void>()
    this.synced = promise
    this.#resolveSynced = resolve
    const allTimes = { ...TIMES, ...times }
    this.#secrets = new ReferredSecrets(client, allTimes, this.#sinkOf(SECRET))
    const metadata: WatchSink = {
      set: (resource) => this.#secrets.noteMetadata(resource),
      removed: (namespace, name) => this.#secrets.forgetMetadata(namespace, name),
      ...this.#turns,
    }
    this.#watches = watchedKinds(namespaces).map(
      (watched) =>
        new KindWatch(watched, client, allTimes, watched.info === SECRET ? metadata : this.#sinkOf(watched.info)),
    )
    for (const watch of this.#watches) void watch.run()
  }

  list(): readonly ApiObject[] {
    this.#list ??= Object.freeze([...this.#stored.all()].flatMap(([, stored]) => inForce(stored) ?? []))
    return this.#list
  }

  takeChange(): ObjectChange {
    if (!this.#isSynced) return { set: [], removed: [] }
    const change = this.#changes.take({ get: (key) => this.#find(key) })
    const statusWritten = [...this.#statusWritten]
    this.#statusWritten.clear()
    return {
      ...change,
      statusWritten,
      refused: this.#stored.refused(),
      refusedPolicies: this.#stored.refusedPolicies(),
    }
  }

  subscribe(onChange: () => void): () => void {
    return this.#subscribers.add(onChange)
  }

  /** Why not everything was read yet; empty: it was. */
  whyNotReady(): readonly string[] {
    return this.#isSynced ? [] : unsyncedWatches(this.#client.server, this.#watches, this.#secrets)
  }

  problems(): readonly FileProblem[] {
    return [
      ...watchProblems(this.#client.server, this.#watches),
      ...secretProblems(this.#secrets, this.#namespaces),
      ...this.#stored.problems(),
    ]
  }

  unknownProtection(): readonly FileProblem[] {
    return this.#stored.problems().filter(({ code }) => UNKNOWN_PROTECTION.has(code))
  }

  refusedEdits(): ReadonlyMap<string, string> {
    return this.#stored.refusedEdits()
  }

  /** The version of a kind that is read, which is one that the API serves. */
  versionOf(info: KindInfo): string {
    const watch = this.#watches.find((each) => each.watched.info === info && each.version !== undefined)
    return watch?.version ?? info.versions[0]
  }

  /** The object as the API last sent it, with the status that we wrote since, and without the managers of its fields. @param key `objectKey` */
  resourceOf(key: string): Resource | undefined {
    return this.#stored.get(key)?.resource
  }

  /** The same, with the status that the API sent. */
  seen(key: string): Resource | undefined {
    const resource = this.resourceOf(key)
    return resource !== undefined && this.#replaced.has(key)
      ? { ...resource, status: this.#replaced.get(key) }
      : resource
  }

  statusOf(key: string): unknown {
    return this.resourceOf(key)?.status
  }

  /** A status that is as before is not written. */
  writeStatuses({ written, withdrawn }: StatusWrites): void {
    const changed = written.filter(([key, status]) => {
      const resource = this.resourceOf(key)
      return resource !== undefined && !sameData(resource.status, status)
    })
    // When the API sends it back, it is no change.
    for (const [key, status] of changed) {
      const resource = this.resourceOf(key)!
      if (!this.#replaced.has(key)) this.#replaced.set(key, resource.status)
      this.#stored.noteStatus(resourceKeyOf(key), { ...resource, status })
    }
    if (changed.length > 0 || withdrawn.length > 0) this.#statuses.write({ written: changed, withdrawn })
  }

  /** What the API has counts again, instead of what was about to be written: another replica writes from now on. */
  forgetWrites(): void {
    for (const [key, status] of this.#replaced) {
      const resource = this.resourceOf(key)!
      this.#stored.noteStatus(resourceKeyOf(key), { ...resource, status })
    }
    this.#replaced.clear()
  }

  close(): void {
    this.#isClosed = true
    clearImmediate(this.#flush)
    this.#hold?.cancel()
    for (const watch of this.#watches) watch.close()
    this.#secrets.close()
    this.#subscribers.clear()
  }

  #find(key: string): ApiObject | undefined {
    const stored = this.#stored.get(key)
    return stored && inForce(stored)
  }

  #sinkOf(info: KindInfo): WatchSink {
    return {
      set: (resource) => this.#set(info, resource),
      removed: (namespace, name) => this.#remove(info, namespace, name),
      ...this.#turns,
    }
  }

  #set(info: KindInfo, { metadata: { managedFields: _, ...metadata }, ...members }: WatchedResource): void {
    const namespace = info.namespaced ? (textOf(metadata.namespace) ?? '') : ''
    const key = objectKey(info.kind, namespace, metadata.name)
    this.#replaced.delete(key)
    const before = this.#stored.get(key)
    const inForceBefore = this.#find(key)
    const resource = { ...members, metadata } as unknown as Resource
    if (this.#stored.set({ collection: collectionOf(info), namespace, name: metadata.name }, resource) === undefined)
      return
    const isWritten = before !== undefined && !sameData(before.resource.status, resource.status)
    if (isWritten && !WITHOUT_ENTRIES.has(info.kind)) this.#statusWritten.add(key)
    this.#noteChange(key, inForceBefore)
  }

  #remove(info: KindInfo, namespace: string, name: string): void {
    const key = objectKey(info.kind, namespace, name)
    const before = this.#find(key)
    this.#stored.remove({ collection: collectionOf(info), namespace, name })
    this.#statusWritten.delete(key)
    this.#replaced.delete(key)
    this.#noteChange(key, before)
  }

  #noteChange(key: string, before: ApiObject | undefined): void {
    this.#hasNews = true
    this.#list = undefined
    this.#changes.note(key, before)
    this.#secrets.refer(key, this.#find(key))
  }

  /** Changes of one turn are delivered together. */
  #changed(): void {
    if (!this.#isClosed) this.#flush ??= setImmediate(() => this.#deliver())
  }

  #deliver(): void {
    this.#flush = undefined
    if (this.#isSynced) {
      if (!this.#hasNews) return
      if (this.#secrets.isPending) this.#hold ??= clock.after(HOLD_MS, () => this.#notify())
      else this.#notify()
      return
    }
    if (this.#watches.every(({ isSynced }) => isSynced) && !this.#secrets.isPending) {
      this.#isSynced = true
      this.#resolveSynced()
    }
    this.#notify()
  }

  #notify(): void {
    this.#hold?.cancel()
    this.#hold = undefined
    this.#hasNews = false
    this.#subscribers.notify()
  }
}

function watchedKinds(namespaces: readonly string[]): readonly WatchedKind[] {
  return KINDS.flatMap((info): readonly WatchedKind[] => {
    const everywhere = { info, namespace: undefined, metadataOnly: info === SECRET, isOptional: false }
    if (namespaces.length === 0) return [everywhere]
    if (info.namespaced) return namespaces.map((namespace) => ({ ...everywhere, namespace }))
    // Who may read some namespaces often may not read what has none.
    if (info.kind !== 'Namespace') return [{ ...everywhere, isOptional: true }]
    return namespaces.map((name) => ({ ...everywhere, fieldSelector: `metadata.name=${name}`, isOptional: true }))
  })
}

/** @param key `objectKey` */
function resourceKeyOf(key: string): {
  readonly collection: string
  readonly namespace: string
  readonly name: string
} {
  const [kind = '', namespace = '', name = ''] = key.split('/')
  return { collection: collectionOf(findKind(kind)!), namespace, name }
}
