import { clock } from '#base/clock.ts'
import { conditionEvents, type EventDraft } from '#store/events/condition-events.ts'
import { eventOf, repeatedEvent } from '#store/events/event-of.ts'
import type { Resource } from '#store/resources/resource.ts'
import { ApiUnreadable, isConflict } from '../api-unreadable.ts'
import type { ObjectApi } from '../fenced-api.ts'
import { WriteQueue } from '../write-queue.ts'

/** So many at once, and one more each second: a wave of refusals must not fill the API. */
const MOST_AT_ONCE = 100
const NEXT_AFTER_MS = 1000

type Event = ReturnType<typeof eventOf>

export interface EventWriterOptions {
  readonly client: Pick<ObjectApi, 'get' | 'create' | 'replace'>
  /** Called with a message for the log. */
  readonly failed: (message: string) => void
  /** The `source` of the events. */
  readonly component: string
}

/** Tells refusals in Events of a Kubernetes API, which `kubectl describe` shows. What repeats is counted. Statuses have all of them, events most. */
export class EventWriter implements Disposable {
  readonly #options: EventWriterOptions
  readonly #queue: WriteQueue<Event>
  #room = MOST_AT_ONCE
  /** Until when `#room` counts what has passed. */
  #countedUntil = clock.monotonic()
  #leftOut = 0
  #lastRefusal = ''

  constructor(options: EventWriterOptions) {
    this.#options = options
    this.#queue = new WriteQueue({ write: (_, event) => this.#write(event), failed: options.failed })
  }

  /** Tells what a new status refuses and the one before did not. @param before, after our parts of the status */
  tell(object: Resource, before: unknown, after: unknown): void {
    for (const draft of conditionEvents(before, after)) if (draft.type === 'Warning') this.tellDraft(object, draft)
  }

  tellDraft(object: Resource, draft: EventDraft): void {
    if (!this.#hasRoom()) return
    const event = eventOf(object, draft, { component: this.#options.component, now: timestamp() })
    const { namespace, name } = event.metadata
    this.#queue.put(`${namespace}/${name}`, event)
  }

  /** Events that are not written yet. */
  get queued(): number {
    return this.#queue.length
  }

  [Symbol.dispose](): void {
    this.#queue[Symbol.dispose]()
  }

  #hasRoom(): boolean {
    const now = clock.monotonic()
    const more = Math.floor((now - this.#countedUntil) / NEXT_AFTER_MS)
    this.#countedUntil += more * NEXT_AFTER_MS
    this.#room = Math.min(MOST_AT_ONCE, this.#room + more)
    if (this.#room === 0) {
      if (this.#leftOut++ === 0) this.#options.failed('events are dropped, because there are too many; see statuses')
      return false
    }
    this.#leftOut = 0
    this.#room--
    return true
  }

  /** @throws ApiUnreadable if another attempt may succeed */
  async #write(event: Event): Promise<void> {
    try {
      await this.#writeOnce(event)
    } catch (error) {
      if (!isRefusal(error)) throw error
      // Such as one in a namespace that is being deleted.
      if (error.message !== this.#lastRefusal) this.#options.failed(`${error.message}; the event is dropped`)
      this.#lastRefusal = error.message
    }
  }

  async #writeOnce(event: Event): Promise<void> {
    const { client } = this.#options
    const { namespace, name } = event.metadata
    const list = `/api/v1/namespaces/${encodeURIComponent(namespace)}/events`
    const path = `${list}/${encodeURIComponent(name)}`
    try {
      await client.create(list, event)
    } catch (error) {
      if (!isConflict(error)) throw error
      const { status, body } = await client.get(path)
      // Else it has been forgotten meanwhile.
      if (status === 200) await client.replace(path, repeatedEvent(body, event.lastTimestamp))
    }
  }
}

function isRefusal(error: unknown): error is ApiUnreadable {
  if (!(error instanceof ApiUnreadable)) return false
  const { status = 0 } = error
  return status >= 400 && status < 500 && ![401, 409, 429].includes(status)
}

/** Kubernetes has times of events in whole seconds. */
function timestamp(): string {
  return new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z')
}
