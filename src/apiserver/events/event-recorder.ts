import { clock } from '#base/clock.ts'
import { conditionEvents, type EventDraft } from '#store/events/condition-events.ts'
import { eventName, eventOf, repeatedEvent } from '#store/events/event-of.ts'
import type { Resource, ResourceEvent, ResourceKey } from '#store/resources/resource.ts'
import type { ResourceTable, ResourceWrite } from '#store/resources/resource-table.ts'
import { timestamp } from '../verbs/prepare.ts'

const EVENTS = 'events'
const COMPONENT = 'gatewright'
/** As on the platform. */
const KEPT_MS = 60 * 60_000
const SWEEP_EVERY_MS = 60_000
/** A wave of statuses, as of a start with many invalid objects, must not fill the memory. */
const MOST = 5000

interface Told {
  readonly object: Resource
  readonly draft: EventDraft
}

/**
 * Records what the statuses of objects say as Events, which `kubectl describe` shows. They are in memory only: a new start tells them
 * again, if they still hold.
 */
export class EventRecorder {
  readonly #table: ResourceTable
  readonly #unsubscribe: () => void
  #waiting: Told[] = []
  #write: { cancel(): void } | undefined
  #sweep: { cancel(): void } | undefined

  constructor(table: ResourceTable) {
    this.#table = table
    this.#unsubscribe = table.subscribe((events) => this.#note(events))
    for (const collection of table.collections) {
      for (const object of table.list(collection)) this.#noteStatus(undefined, object)
    }
  }

  close(): void {
    this.#unsubscribe()
    this.#write?.cancel()
    this.#sweep?.cancel()
  }

  #note(events: readonly ResourceEvent[]): void {
    for (const { type, key, before, object } of events) {
      if (type !== 'DELETED' && key.collection !== EVENTS) this.#noteStatus(before, object)
    }
  }

  #noteStatus(before: Resource | undefined, object: Resource): void {
    if (object.status === undefined || before?.status === object.status) return
    for (const draft of conditionEvents(before?.status, object.status)) this.#waiting.push({ object, draft })
    // Not within the change that it tells, so that every watch sees that one first.
    if (this.#waiting.length > 0) this.#write ??= clock.after(0, () => this.#writeAll())
  }

  #writeAll(): void {
    this.#write = undefined
    const writes = new Map<string, ResourceWrite>()
    for (const { object, draft } of this.#waiting.splice(0)) {
      const key = keyOf(object, draft)
      const known = writes.get(key.name)?.object ?? this.#table.get(key)
      if (known === undefined && this.#table.list(EVENTS).length + writes.size >= MOST) continue
      writes.set(key.name, {
        key,
        object: known === undefined ? firstEvent(object, draft) : repeatedEvent(known, timestamp()),
      })
    }
    this.#table.commitInMemory([...writes.values()])
    this.#sweep ??= clock.after(SWEEP_EVERY_MS, () => this.#removeOld())
  }

  #removeOld(): void {
    const limit = clock.now() - KEPT_MS
    const events = this.#table.list(EVENTS)
    const old = events.filter((event) => isOwn(event) && Date.parse(String(event.lastTimestamp)) < limit)
    this.#table.commitInMemory(
      old.map(({ metadata: { namespace = '', name } }) => ({
        key: { collection: EVENTS, namespace, name },
        object: undefined,
      })),
    )
    this.#sweep = events.some(isOwn) ? clock.after(SWEEP_EVERY_MS, () => this.#removeOld()) : undefined
  }
}

function isOwn({ reportingComponent }: Resource): boolean {
  return reportingComponent === COMPONENT
}

function keyOf(object: Resource, draft: EventDraft): ResourceKey {
  return { collection: EVENTS, ...eventName(object, draft) }
}

function firstEvent(object: Resource, draft: EventDraft): Resource {
  const now = timestamp()
  const event = eventOf(object, draft, { component: COMPONENT, now })
  const uid = globalThis.crypto.randomUUID()
  return { ...event, metadata: { ...event.metadata, uid, resourceVersion: '', creationTimestamp: now } }
}
