import { compareText } from '#base/compare-text.ts'
import type { Resource, ResourceEvent, ResourceKey } from './resource.ts'

/** A change to write. The table sets `metadata.resourceVersion`. */
export interface ResourceWrite {
  readonly key: ResourceKey
  /** The new state; undefined: the object is removed. */
  readonly object: Resource | undefined
  /** The object and its metadata were made for this write, so the version is set in them. Otherwise in copies. */
  readonly isNew?: boolean
}

/** Writes changes to a disk before they are acknowledged. */
export interface Journal {
  /**
   * Returns when the changes are durable.
   * @throws JournalFailure if they are not; the table then stays as it was
   */
  append(events: readonly ResourceEvent[]): void
  /** Sees to it that no restart gives this revision again, which a change in memory takes. A failure is reported elsewhere. */
  reserve(revision: number): void
  close(): void
}

/** What a table starts with. */
export interface TableContent {
  readonly objects: Iterable<{ readonly key: ResourceKey; readonly object: Resource }>
  /** At least the revision of every change that was ever acknowledged. */
  readonly revision: number
}

type Listener = (events: readonly ResourceEvent[]) => void

const EMPTY: TableContent = { objects: [], revision: 1 }
/** Watches can start at a revision as long as its changes are among this many. */
const REMEMBERED = 10_000
/** How many more are kept before they are dropped together. Each keeps two versions of an object in memory. */
const SPARE = 1000
/** Fewer of them, if their objects take more memory than this. */
const REMEMBERED_BYTES = 64 * 1024 * 1024

/**
 * All objects of the API, by collection. Every change has a revision: one number that increases over all collections. Operations are
 * synchronous, so a caller that reads and writes without `await` needs no lock.
 */
export class ResourceTable {
  readonly #collections = new Map<string, Collection>()
  readonly #listeners = new Set<Listener>()
  readonly #journal: Journal | undefined
  /** The newest events, oldest first. */
  #events: ResourceEvent[] = []
  /** What the objects of each of these events take, and all of them together (`bytesOf`). */
  #sizes: number[] = []
  #bytes = 0
  /** Events after this revision are known. */
  #known: number
  #revision: number
  /** Commits that listeners have not got yet. */
  readonly #undelivered: (readonly ResourceEvent[])[] = []
  #delivering = false

  constructor(journal?: Journal, content: TableContent = EMPTY) {
    this.#journal = journal
    this.#revision = content.revision
    this.#known = content.revision
    for (const { key, object } of content.objects) this.#collection(key.collection).set(key, object)
  }

  /** The revision of the last change. */
  get revision(): number {
    return this.#revision
  }

  /** Names of the collections that have had objects. */
  get collections(): readonly string[] {
    return [...this.#collections.keys()]
  }

  get(key: ResourceKey): Resource | undefined {
    return this.#collections.get(key.collection)?.get(key)
  }

  /** The objects of a collection, or of one of its namespaces, ordered by namespace and name. */
  list(collection: string, namespace?: string): readonly Resource[] {
    const found = this.#collections.get(collection)
    if (namespace === undefined) return found?.sorted() ?? []
    return found?.namespace(namespace)?.sorted() ?? []
  }

  /** The objects in a namespace, of all collections, in no order. */
  *contentOf(namespace: string): Generator<{ readonly key: ResourceKey; readonly object: Resource }> {
    for (const [collection, objects] of this.#collections) {
      for (const [name, object] of objects.namespace(namespace)?.objects ?? []) {
        yield { key: { collection, namespace, name }, object }
      }
    }
  }

  /**
   * Writes all changes or none. Each has its own revision, in the order of the list. Removing an object that does not exist is no change.
   * @returns the changes
   * @throws JournalFailure
   */
  commit(writes: readonly ResourceWrite[]): readonly ResourceEvent[] {
    return this.#apply(writes, true)
  }

  /** The same for objects whose source is elsewhere, in files: nothing is written to the journal. */
  commitInMemory(writes: readonly ResourceWrite[]): readonly ResourceEvent[] {
    return this.#apply(writes, false)
  }

  /** Adds objects whose source is elsewhere, before anybody subscribes: their changes are not remembered. */
  load(objects: readonly { readonly key: ResourceKey; readonly object: Resource }[]): void {
    for (const { key, object } of objects) {
      this.#revision += 1
      this.#collection(key.collection).set(key, withVersion(object, this.#revision, true))
    }
    this.#known = this.#revision
    this.#journal?.reserve(this.#revision)
  }

  /** The changes after a revision; undefined if they are no longer known, or the revision is of another store. */
  since(revision: number): readonly ResourceEvent[] | undefined {
    if (revision < this.#known || revision > this.#revision) return undefined
    const first = this.#events.findIndex((event) => event.revision > revision)
    return first < 0 ? [] : this.#events.slice(first)
  }

  /** Registers a callback for every commit. @returns a function that unsubscribes */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  close(): void {
    this.#listeners.clear()
    this.#journal?.close()
  }

  #apply(writes: readonly ResourceWrite[], durable: boolean): readonly ResourceEvent[] {
    const events: ResourceEvent[] = []
    let revision = this.#revision
    for (const { key, object, isNew } of writes) {
      const before = this.get(key)
      if (object === undefined && before === undefined) continue
      revision += 1
      const stamped = withVersion((object ?? before)!, revision, isNew)
      const type = object === undefined ? 'DELETED' : before === undefined ? 'ADDED' : 'MODIFIED'
      events.push({ type, revision, key, object: stamped, before })
    }
    if (events.length === 0) return events
    if (durable) this.#journal?.append(events)
    else this.#journal?.reserve(revision)
    for (const { type, key, object } of events) {
      const collection = this.#collection(key.collection)
      if (type === 'DELETED') collection.delete(key)
      else collection.set(key, object)
    }
    this.#revision = revision
    this.#remember(events)
    this.#deliver(events)
    return events
  }

  /** Every listener gets the commits in their order, also if one of them commits. */
  #deliver(events: readonly ResourceEvent[]): void {
    this.#undelivered.push(events)
    if (this.#delivering) return
    this.#delivering = true
    try {
      for (let next = this.#undelivered.shift(); next !== undefined; next = this.#undelivered.shift()) {
        for (const listener of [...this.#listeners]) listener(next)
      }
    } finally {
      this.#delivering = false
    }
  }

  #remember(events: readonly ResourceEvent[]): void {
    for (const event of events) {
      const size = bytesOf(event.object, event.before)
      this.#events.push(event)
      this.#sizes.push(size)
      this.#bytes += size
    }
    // Now and then, because a shift of the whole list at every change is expensive.
    if (this.#events.length >= REMEMBERED + SPARE) this.#forget(this.#events.length - REMEMBERED)
    if (this.#bytes > REMEMBERED_BYTES) this.#forget(this.#countOver(REMEMBERED_BYTES / 2))
  }

  /** How many of the oldest events are too many for so much memory. The newest one is always remembered. */
  #countOver(allowed: number): number {
    let count = 0
    for (let bytes = this.#bytes; bytes > allowed && count < this.#events.length - 1; count += 1) {
      bytes -= this.#sizes[count]!
    }
    return count
  }

  #forget(count: number): void {
    for (let at = 0; at < count; at += 1) this.#bytes -= this.#sizes[at]!
    this.#events = this.#events.slice(count)
    this.#sizes = this.#sizes.slice(count)
    this.#known = this.#events[0]!.revision - 1
  }

  #collection(name: string): Collection {
    const known = this.#collections.get(name)
    if (known !== undefined) return known
    const created = new Collection()
    this.#collections.set(name, created)
    return created
  }
}

/** The objects of one kind. */
class Collection {
  readonly #namespaces = new Map<string, Namespace>()
  #sorted: readonly Resource[] | undefined

  namespace(name: string): Namespace | undefined {
    return this.#namespaces.get(name)
  }

  get({ namespace, name }: ResourceKey): Resource | undefined {
    return this.#namespaces.get(namespace)?.objects.get(name)
  }

  set({ namespace, name }: ResourceKey, object: Resource): void {
    let found = this.#namespaces.get(namespace)
    if (found === undefined) {
      found = new Namespace()
      this.#namespaces.set(namespace, found)
    }
    found.set(name, object)
    this.#sorted = undefined
  }

  delete({ namespace, name }: ResourceKey): void {
    const found = this.#namespaces.get(namespace)
    found?.delete(name)
    if (found?.objects.size === 0) this.#namespaces.delete(namespace)
    this.#sorted = undefined
  }

  sorted(): readonly Resource[] {
    this.#sorted ??= [...this.#namespaces]
      .sort(([a], [b]) => compareText(a, b))
      .flatMap(([, namespace]) => namespace.sorted())
    return this.#sorted
  }
}

/** The objects of one kind in one namespace, by name. */
class Namespace {
  readonly objects = new Map<string, Resource>()
  #sorted: readonly Resource[] | undefined

  set(name: string, object: Resource): void {
    this.objects.set(name, object)
    this.#sorted = undefined
  }

  delete(name: string): void {
    this.objects.delete(name)
    this.#sorted = undefined
  }

  sorted(): readonly Resource[] {
    this.#sorted ??= [...this.objects.values()].sort((a, b) => compareText(a.metadata.name, b.metadata.name))
    return this.#sorted
  }
}

function withVersion(object: Resource, revision: number, isNew = false): Resource {
  const resourceVersion = String(revision)
  if (!isNew) return { ...object, metadata: { ...object.metadata, resourceVersion } }
  ;(object.metadata as { resourceVersion: string }).resourceVersion = resourceVersion
  return object
}

/** About how many bytes an object takes, without the parts that it shares with another version. */
function bytesOf(value: unknown, other: unknown): number {
  if (typeof value === 'string') return 16 + value.length
  if (typeof value !== 'object' || value === null || value === other) return 0
  const members = value as Readonly<Record<string, unknown>>
  const others = (typeof other === 'object' && other !== null ? other : {}) as typeof members
  let bytes = 32
  for (const name of Object.keys(members)) bytes += 16 + bytesOf(members[name], others[name])
  return bytes
}
