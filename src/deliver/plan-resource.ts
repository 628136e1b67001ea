import { createHash } from 'node:crypto'
import { parseJson } from '#base/parse-json.ts'
import { decodeMessage, encodeMessage, field, message, STRING, UINT32 } from '#base/protobuf/message.ts'
import type { PlanItem } from '#plan/item.ts'
import type { DiscoveryResource } from './discovery-messages.ts'
import { type KnownItem, knownItem } from './known-item.ts'

// Items of a plan as resources of incremental xDS. The types carry the version of their schema: a program that does not know it
// refuses the type, instead of misreading items.

export const ITEM_TYPE = 'type.googleapis.com/gatewright.dev/plan.v1.Item'
export const ENDPOINTS_TYPE = 'type.googleapis.com/gatewright.dev/plan.v1.Endpoints'

export type PlanType = typeof ITEM_TYPE | typeof ENDPOINTS_TYPE

/** Endpoints first: a route must not arrive before the addresses behind it. */
export const PLAN_TYPES: readonly PlanType[] = [ENDPOINTS_TYPE, ITEM_TYPE]

/** The name of the resource that says what is whole. Keys of items contain a slash. */
export const SNAPSHOT = 'snapshot'

/** What all resources of one type together are: their number, and the exclusive or of their versions. */
export interface Snapshot {
  readonly count: number
  readonly hash: string
}

const RESOURCE = message({
  json: field(1, STRING),
  snapshot: field(2, message({ count: field(1, UINT32), hash: field(2, STRING) })),
})

/** An item in the form that is sent. */
export interface PlanResource {
  readonly name: string
  readonly type: PlanType
  /** SHA-256 of `value`, in hexadecimal digits. */
  readonly version: string
  readonly value: Uint8Array
}

export function resourceOf(item: PlanItem): PlanResource {
  const value = encodeMessage(RESOURCE, { json: JSON.stringify(item) })
  return { name: item.key, type: item.kind === 'endpoints' ? ENDPOINTS_TYPE : ITEM_TYPE, version: hash(value), value }
}

export function snapshotResource(type: PlanType, snapshot: Snapshot): PlanResource {
  const value = encodeMessage(RESOURCE, { snapshot })
  return { name: SNAPSHOT, type, version: hash(value), value }
}

export function toMessage({ name, type, version, value }: PlanResource): DiscoveryResource {
  return { name, version, resource: { typeUrl: type, value } }
}

/** What a resource contains, or why it cannot be used. No text has a value of the resource, which may be a Secret. */
export type ReadResource = KnownItem | { readonly snapshot: Snapshot } | { readonly fault: string }

/** Reads a received resource. @param type of the response */
export function readResource(type: PlanType, { name, resource }: DiscoveryResource): ReadResource {
  if (resource?.typeUrl !== type) return { fault: 'the resource does not have the type of its response' }
  const read = decodeMessage(RESOURCE, resource.value ?? new Uint8Array(0))
  if (read === undefined) return { fault: 'the resource is not a message of its type' }
  if (name === SNAPSHOT) {
    const { count = 0, hash = '' } = read.snapshot ?? {}
    return { snapshot: { count, hash } }
  }
  return readItem(type, name, read.json)
}

function readItem(type: PlanType, name: string | undefined, json = ''): ReadResource {
  let item: unknown
  try {
    item = parseJson(json)
  } catch {
    // The error quotes the text.
    return { fault: 'the item is not JSON' }
  }
  const { kind, key } = (typeof item === 'object' && item !== null ? item : {}) as Partial<PlanItem>
  if (typeof kind !== 'string') return { fault: 'the item has no kind' }
  if ((kind === 'endpoints') !== (type === ENDPOINTS_TYPE))
    return { fault: 'the kind of the item does not belong to its type' }
  if (key !== name) return { fault: 'the item has another name than its resource' }
  return knownItem(item as PlanItem) ?? { fault: 'it needs a newer version of the proxy' }
}

const NOTHING = '0'.repeat(64)

/** The snapshot of resources that come and go. */
export class RunningSnapshot {
  #count = 0
  readonly #hash = Buffer.from(NOTHING, 'hex')

  get snapshot(): Snapshot {
    return { count: this.#count, hash: this.#hash.toString('hex') }
  }

  /** @param before of the same resource @param now undefined: there is none */
  replace(before: string | undefined, now: string | undefined): void {
    if (before !== undefined) this.#toggle(before, -1)
    if (now !== undefined) this.#toggle(now, 1)
  }

  /** A version that is not a digest, as another server may give it, counts as its digest. */
  #toggle(version: string, count: 1 | -1): void {
    this.#count += count
    const digest = Buffer.from(DIGEST.test(version) ? version : hash(Buffer.from(version)), 'hex')
    for (let i = 0; i < digest.length; i++) this.#hash[i]! ^= digest[i]!
  }
}

/** The resources of one type that one side has: their versions, and the snapshot of all. */
export class HeldVersions {
  readonly #versions = new Map<string, string>()
  readonly #running = new RunningSnapshot()

  get versions(): ReadonlyMap<string, string> {
    return this.#versions
  }

  get snapshot(): Snapshot {
    return this.#running.snapshot
  }

  set(name: string, version: string): void {
    this.#running.replace(this.#versions.get(name), version)
    this.#versions.set(name, version)
  }

  delete(name: string): void {
    this.#running.replace(this.#versions.get(name), undefined)
    this.#versions.delete(name)
  }
}

const DIGEST = /^[0-9a-f]{64}$/

function hash(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
