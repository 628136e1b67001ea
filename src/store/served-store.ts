import { collectionOf, kindOfCollection } from '#api/collection.ts'
import { KINDS } from '#api/kinds.ts'
import { type ApiObject, keyOf, objectKey } from '#api/object.ts'
import type { ObjectChange } from '#api/object-change.ts'
import { type RefusedPolicy, readDisplacedPolicy } from '#api/refused-policy.ts'
import { standInForDuplicate } from '#api/refused-route.ts'
import { sameData } from '#base/incremental/same-data.ts'
import { describeOrigin, type Origin } from '#base/origin.ts'
import { problem } from '#schema/index.ts'
import type { FilePosition, FileProblem } from './file-problem.ts'
import type { FileStore } from './files.ts'
import type { RemovedObject, StaleFile } from './loaded-file.ts'
import { UNKNOWN_PROTECTION } from './refused-policies.ts'
import { FileLayer, resourceKeyOf } from './resources/file-layer.ts'
import { JournalFailure } from './resources/journal-failure.ts'
import type { FileOrigin, Resource, ResourceEvent, ResourceKey } from './resources/resource.ts'
import type { ResourceTable, ResourceWrite } from './resources/resource-table.ts'
import type { ObjectStore, StatusWrites } from './store.ts'
import { inForce, problemsOf, StoredObjects } from './stored-objects.ts'
import { Subscribers } from './subscribers.ts'

/**
 * The objects of files and of the API, with the table in which the API serves both. If a file and the API have an object of the same name, that
 * of the file is in force (decision A-13); the other one counts as one that a file repeats.
 */
export class ServedStore implements ObjectStore {
  readonly #table: ResourceTable
  readonly #files: FileStore
  readonly #layer: FileLayer
  readonly #report: (problem: JournalFailure) => void
  readonly #stored = new StoredObjects()
  readonly #subscribers = new Subscribers()
  /** Objects that changed since they were last taken, by key, each with its last state if that was noted. */
  readonly #touched = new Map<string, ApiObject | undefined>()
  /** Keys of the objects of the API whose names files have. */
  readonly #displaced = new Set<string>()
  /** Stand-ins for routes of the API whose names files have, by their own keys. */
  readonly #standIns = new Map<string, ApiObject>()
  /** Statuses of objects of files that clients wrote, by key: other controllers have entries in them. */
  readonly #clientStatuses = new Map<string, unknown>()
  /** Keys of the objects whose statuses clients wrote since that was last taken. */
  readonly #statusWritten = new Set<string>()
  /** Objects of files as this store wrote them with their statuses. The table may deliver them after the write, if a change of the table caused it. */
  readonly #ownWrites = new WeakSet<Resource>()
  /** The last status could not be stored, and that was reported. */
  #failing = false
  #list: readonly ApiObject[] | undefined
  /** The table has the objects of files. Until somebody reads it, their statuses are with the files. */
  #isFilled = false

  /**
   * @param files closed with this store
   * @param table its content is from the journal; closed with this store
   * @param report called when a change of the gateway itself could not be stored; it is in memory only
   */
  constructor(files: FileStore, table: ResourceTable, report: (problem: JournalFailure) => void) {
    this.#files = files
    this.#table = table
    this.#report = report
    this.#layer = new FileLayer(table, report)
    for (const info of KINDS) {
      const collection = collectionOf(info)
      for (const resource of table.list(collection)) {
        const { namespace = '', name } = resource.metadata
        this.#touch(this.#stored.set({ collection, namespace, name }, resource))
      }
    }
    files.subscribe(() => {
      this.#takeFiles()
      this.#changed()
    })
  }

  /** All objects in the form of the API. The first call fills it with those of files. */
  get table(): ResourceTable {
    if (!this.#isFilled) this.#fill()
    return this.#table
  }

  #fill(): void {
    // The next change of the files is one of what the table has.
    this.#takeFiles()
    this.#isFilled = true
    const set = this.#files.list()
    this.#layer.load(set, (object) => this.#files.statusOf(keyOf(object)))
    const inTable = set.filter(({ refusal }) => refusal === undefined)
    this.#files.writeStatuses({ written: [], withdrawn: inTable.map(keyOf) })
    this.#table.subscribe((events) => this.#takeEvents(events))
  }

  /** The file that manages an object; undefined: none does. */
  fileOf(key: ResourceKey): FileOrigin | undefined {
    return this.#layer.originOf(key)
  }

  list(): readonly ApiObject[] {
    this.#list ??= Object.freeze([...this.#ofFiles(), ...this.#storedInForce(), ...this.#standIns.values()])
    return this.#list
  }

  #ofFiles(): readonly ApiObject[] {
    const objects = this.#files.list()
    return this.#clientStatuses.size === 0 ? objects : objects.map((object) => this.#withClientStatus(object))
  }

  #storedInForce(): readonly ApiObject[] {
    return [...this.#stored.all()].flatMap(([key, stored]) =>
      this.#files.find(key) === undefined ? (inForce(stored) ?? []) : [],
    )
  }

  takeChange(): ObjectChange {
    // At first, all; after each change of the files, nothing.
    const fromFiles = this.#files.takeChange()
    const set = fromFiles.set.filter((object) => this.#touched.size === 0 || !this.#touched.has(keyOf(object)))
    const removed = [...fromFiles.removed]
    for (const [key, last] of this.#touched) {
      const now = this.#find(key)
      if (now !== undefined) set.push(now)
      else if (last !== undefined) removed.push(last)
    }
    this.#touched.clear()
    const statusWritten = [...this.#statusWritten]
    this.#statusWritten.clear()
    return { set, removed, statusWritten, refused: this.#refused(), refusedPolicies: this.#refusedPolicies() }
  }

  /** The object in force. */
  #find(key: string): ApiObject | undefined {
    const stored = this.#stored.get(key)
    const file = this.#files.find(key)
    if (file !== undefined) return this.#withClientStatus(file)
    return (stored && inForce(stored)) ?? this.#standIns.get(key)
  }

  #withClientStatus(object: ApiObject): ApiObject {
    const status = this.#clientStatuses.get(keyOf(object))
    return status === undefined ? object : { ...object, status }
  }

  #refused(): ReadonlySet<string> {
    const refused = new Set([...this.#files.refused()].filter((key) => this.#stored.get(key)?.object === undefined))
    for (const [key, { object }] of this.#stored.faulty()) {
      if (object === undefined && this.#files.find(key) === undefined) refused.add(key)
    }
    return refused
  }

  #refusedPolicies(): readonly RefusedPolicy[] {
    const found = [...this.#files.refusedPolicies()]
    for (const [key, { policy }] of this.#stored.faulty()) {
      if (policy !== undefined && policy.protects.length > 0 && !this.#displaced.has(key)) found.push(policy)
    }
    for (const key of this.#displaced) {
      const { object } = this.#stored.get(key)!
      const policy = object && readDisplacedPolicy(object, this.#files.find(key)!)
      if (policy !== undefined) found.push(policy)
    }
    return found
  }

  subscribe(onChange: () => void): () => void {
    return this.#subscribers.add(onChange)
  }

  statusOf(key: string): unknown {
    const resource = this.#resource(key)
    return resource === undefined ? this.#files.statusOf(key) : resource.object.status
  }

  /** All statuses of objects of the API are one write to the journal. A status that is as before is none. */
  writeStatuses({ written, withdrawn }: StatusWrites): void {
    const durable: ResourceWrite[] = []
    const inMemory: ResourceWrite[] = []
    // Stand-ins are not in the table.
    const others: (readonly [string, unknown])[] = []
    for (const [key, status] of written) {
      const found = this.#resource(key)
      if (found === undefined) others.push([key, status])
      else if (!sameData(found.object.status, status)) {
        const { key: at, object } = found
        const write = { key: at, object: { ...object, metadata: { ...object.metadata }, status }, isNew: true }
        if (this.#layer.has(at)) inMemory.push(write)
        else durable.push(write)
      }
    }
    for (const key of withdrawn) {
      const found = this.#resource(key)
      if (found?.object.status === undefined) continue
      const { status: _, ...others } = found.object
      const object = { ...others, metadata: { ...others.metadata } } as Resource
      if (this.#layer.has(found.key)) inMemory.push({ key: found.key, object, isNew: true })
      else durable.push({ key: found.key, object, isNew: true })
    }
    this.#files.writeStatuses({ written: others, withdrawn })
    for (const { object } of inMemory) this.#ownWrites.add(object!)
    this.#table.commitInMemory(inMemory)
    // For the control plane, a status that it has written is no change.
    for (const { key, object } of durable) this.#stored.noteStatus(key, object!)
    this.#commit(durable)
  }

  /** Without the journal, a status is lost with the process, and written again by the next one. */
  #commit(writes: readonly ResourceWrite[]): void {
    try {
      this.#table.commit(writes)
      this.#failing = false
    } catch (error) {
      if (!(error instanceof JournalFailure)) throw error
      if (!this.#failing) this.#report(error)
      this.#failing = true
      this.#table.commitInMemory(writes)
    }
  }

  problems(): readonly FileProblem[] {
    const found = [...this.#files.problems()]
    for (const [key, stored] of this.#stored.faulty()) if (!this.#displaced.has(key)) found.push(...problemsOf(stored))
    for (const key of this.#displaced) found.push(this.#describeDisplaced(this.#files.find(key)!))
    return found
  }

  #describeDisplaced(file: ApiObject): FileProblem {
    const { kind, namespace, name } = file.origin
    const message = `an object of the API has the same name; it is not in force while this file has the ${kind}`
    return {
      ...problem('metadata.name', 'duplicate-object', message),
      ...(this.locate(file.origin, 'metadata.name') ?? {
        file: file.origin.file ?? '',
        line: file.origin.line ?? 1,
        column: 1,
      }),
      object: describeOrigin({ kind, namespace, name }),
    }
  }

  unknownProtection(): readonly FileProblem[] {
    return this.problems().filter(({ code }) => UNKNOWN_PROTECTION.has(code))
  }

  refusedEdits(): ReadonlyMap<string, string> {
    return new Map([...this.#files.refusedEdits(), ...this.#stored.refusedEdits()])
  }

  stale(): readonly StaleFile[] {
    return this.#files.stale()
  }

  removed(): readonly RemovedObject[] {
    return this.#files.removed().filter(({ object }) => this.#stored.get(object) === undefined)
  }

  locate(origin: Origin, fieldPath: string): FilePosition | undefined {
    return this.#files.locate(origin, fieldPath)
  }

  reload(): void {
    this.#files.reload()
  }

  close(): void {
    this.#subscribers.clear()
    this.#files.close()
    this.#table.close()
  }

  #takeFiles(): void {
    const { set, removed } = this.#files.takeChange()
    if (this.#isFilled) this.#layer.apply({ set, removed })
    for (const object of removed) {
      this.#clientStatuses.delete(keyOf(object))
      this.#touch(keyOf(object), object)
    }
    for (const object of set) this.#touch(keyOf(object))
  }

  #takeEvents(events: readonly ResourceEvent[]): void {
    for (const event of events) this.#layer.noteChange(event)
    const isChanged = events.filter((event) => this.#takeEvent(event)).length > 0
    if (isChanged) this.#changed()
  }

  /** @returns whether an object of the API has changed for the control plane */
  #takeEvent({ type, key, object, before: last }: ResourceEvent): boolean {
    const info = kindOfCollection(key.collection)
    if (info === undefined) return false
    const name = objectKey(info.kind, key.namespace, key.name)
    if (this.#layer.has(key)) return this.#takeStatus(name, object, last)
    if (type !== 'DELETED' && this.#layer.isImplicit(key)) return false
    const before = this.#stored.get(name)
    if (type === 'DELETED') this.#stored.remove(key)
    else if (this.#stored.set(key, object) === undefined) return false
    else if (before !== undefined && !sameData(before.resource.status, object.status)) this.#statusWritten.add(name)
    this.#touch(name, before && inForce(before))
    return type !== 'DELETED' || before !== undefined
  }

  /** Only a client changes nothing but the status of an object of a file. @returns whether it did */
  #takeStatus(key: string, object: Resource, last: Resource | undefined): boolean {
    if (this.#ownWrites.has(object) || last === undefined || sameData(last.status, object.status)) return false
    this.#clientStatuses.set(key, object.status)
    this.#statusWritten.add(key)
    this.#touch(key)
    return true
  }

  /** @param last the object that was in force */
  #touch(key: string | undefined, last?: ApiObject): void {
    if (key === undefined) return
    this.#touched.set(key, this.#touched.get(key) ?? last)
    if (this.#stored.isEmpty && this.#displaced.size === 0) return
    const stored = this.#stored.get(key)
    const file = this.#files.find(key)
    if (stored !== undefined && file !== undefined) this.#displaced.add(key)
    else this.#displaced.delete(key)
    const standIn = stored?.object && file && standInForDuplicate(stored.object, file, 'api')
    const standInKey = `${key}@api`
    const before = this.#standIns.get(standInKey)
    if (standIn === undefined && before === undefined) return
    this.#touched.set(standInKey, this.#touched.get(standInKey) ?? before)
    if (standIn === undefined) this.#standIns.delete(standInKey)
    else this.#standIns.set(standInKey, standIn)
  }

  #changed(): void {
    this.#list = undefined
    this.#subscribers.notify()
  }

  /** What the table has under the key of an object, if the status of the object belongs there. */
  #resource(key: string): { readonly key: ResourceKey; readonly object: Resource } | undefined {
    if (!this.#isFilled && this.#files.find(key) !== undefined) return undefined
    const [kind = '', namespace = '', name = ''] = key.split('/')
    const resourceKey = resourceKeyOf({ kind, namespace, name })
    const object = this.#table.get(resourceKey)
    return object === undefined ? undefined : { key: resourceKey, object }
  }
}
