import type { PlanChange } from '#plan/delta.ts'
import type { PlanItem } from '#plan/item.ts'
import type { Refusal } from '#plan/plan-link.ts'
import type { DiscoveryResponse } from './discovery-messages.ts'
import type { KnownItem } from './known-item.ts'
import { HeldVersions, type PlanType, readResource, type Snapshot } from './plan-resource.ts'

/** What became of a response. */
export interface Received {
  /** The change since the last version that was applied; undefined: the rest follows, or something cannot be read. */
  readonly change: PlanChange | undefined
  /** Resources that cannot be read, or only in part. */
  readonly refusals: readonly Refusal[]
}

/** The snapshot does not fit to what was received: something was lost. */
export class BrokenSnapshot extends Error {}

/** The resources of one type that a proxy has: collects responses until they are whole. */
export class ReceivedPlan {
  readonly #type: PlanType
  #held = new HeldVersions()
  /** Changes since the last version that was applied; undefined: removed. */
  readonly #changed = new Map<string, PlanItem | undefined>()
  /** Names of the items that may be in force, while everything is received anew. */
  #before: ReadonlySet<string> | undefined
  #whole: Snapshot | undefined
  /** By name of the resource. */
  readonly #unreadable = new Map<string, Refusal>()
  readonly #limited = new Map<string, Refusal>()

  constructor(type: PlanType) {
    this.#type = type
  }

  /** Of the resources that it has. */
  get versions(): ReadonlyMap<string, string> {
    return this.#held.versions
  }

  /** The last version that was applied; undefined: there was none. */
  get whole(): Snapshot | undefined {
    return this.#whole
  }

  /** What it has, if that is whole and was applied; undefined: something else is arriving. */
  get settled(): HeldVersions | undefined {
    const isSettled = this.#changed.size === 0 && this.#unreadable.size === 0 && this.#before === undefined
    return isSettled ? this.#held : undefined
  }

  /**
   * Resources that cannot be read, and for which nothing else can stand. No version with them is applied: without one of its routes, a plan would permit
   * more.
   */
  get unreadable(): Iterable<Refusal> {
    return this.#unreadable.values()
  }

  /** Resources of which it uses only what it knows, as `knownItem` decides. */
  get limited(): Iterable<Refusal> {
    return this.#limited.values()
  }

  /** Forgets the versions, so that the server sends everything. What is in force stays until then. */
  startAnew(): void {
    this.#before = new Set([...(this.#before ?? []), ...this.#held.versions.keys()])
    this.#held = new HeldVersions()
    this.#changed.clear()
    this.#unreadable.clear()
    this.#limited.clear()
  }

  /** @throws BrokenSnapshot */
  take({ resources = [], removed = [] }: DiscoveryResponse): Received {
    const refusals: Refusal[] = []
    let snapshot: Snapshot | undefined
    for (const name of removed) this.#remove(name)
    for (const resource of resources) {
      const { name = '', version = '' } = resource
      const read = readResource(this.#type, resource)
      if ('snapshot' in read) snapshot = read.snapshot
      else if ('fault' in read) refusals.push(this.#refuse(name, version, read.fault))
      else {
        const limit = this.#keep(name, version, read)
        if (limit !== undefined) refusals.push(limit)
      }
    }
    if (snapshot === undefined) return { change: undefined, refusals }
    this.#check(snapshot)
    if (this.#unreadable.size > 0) return { change: undefined, refusals: [...this.#unreadable.values()] }
    this.#whole = snapshot
    return { change: this.#complete(), refusals }
  }

  #remove(name: string): void {
    if (!this.#held.versions.has(name)) return
    this.#held.delete(name)
    this.#unreadable.delete(name)
    this.#limited.delete(name)
    this.#changed.set(name, undefined)
  }

  /** @returns what it lacks, if that is news */
  #keep(name: string, version: string, { item, lacks }: KnownItem): Refusal | undefined {
    if (version !== '' && this.#held.versions.get(name) === version) return undefined
    this.#held.set(name, version)
    this.#unreadable.delete(name)
    this.#limited.delete(name)
    this.#changed.set(name, item)
    if (lacks === undefined) return undefined
    const limit = { key: name, message: lacks }
    this.#limited.set(name, limit)
    return limit
  }

  /** What cannot be read also has a version: the server does not send it again until it changes. */
  #refuse(name: string, version: string, message: string): Refusal {
    const refusal = { key: name, message }
    this.#held.set(name, version)
    this.#limited.delete(name)
    this.#unreadable.set(name, refusal)
    return refusal
  }

  #check({ count, hash }: Snapshot): void {
    const held = this.#held.snapshot
    if (held.count === count && held.hash === hash) return
    const versions = held.count === count ? ', with other versions' : ''
    throw new BrokenSnapshot(`the snapshot has ${count} resources, but ${held.count} were received${versions}`)
  }

  #complete(): PlanChange {
    const removed = new Set([...(this.#before ?? [])].filter((name) => !this.#held.versions.has(name)))
    const set: PlanItem[] = []
    for (const [name, item] of this.#changed) {
      if (item !== undefined) set.push(item)
      else removed.add(name)
    }
    this.#changed.clear()
    this.#before = undefined
    return { set, removed: [...removed] }
  }
}
