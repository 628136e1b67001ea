import { toByteText } from '#base/byte-text.ts'
import { sha256OfByteText } from '#base/sha256.ts'
import type { Resource } from '../resources/resource.ts'
import type { EventDraft } from './condition-events.ts'

/** Objects without namespace have their events there. */
const DEFAULT_NAMESPACE = 'default'
/** Length limit of the message of an Event (Kubernetes API). */
const MAX_MESSAGE = 1024
const DIGEST_LENGTH = 16
/** A name has at most 253 characters. */
const KEPT_NAME = 200

/** The same event of the same object has the same name. */
export function eventName({ metadata: { uid, name, namespace = DEFAULT_NAMESPACE } }: Resource, draft: EventDraft) {
  const digest = sha256OfByteText(toByteText(`${uid} ${draft.reason} ${draft.message}`)).slice(0, DIGEST_LENGTH)
  return { namespace, name: `${name.slice(0, KEPT_NAME)}.${digest}` }
}

/**
 * The first Event of its name (Kubernetes, core/v1). Its metadata have only its name.
 * @param component that tells it
 * @param now RFC 3339, in whole seconds
 */
export function eventOf(object: Resource, draft: EventDraft, { component, now }: Teller) {
  const { metadata, apiVersion, kind } = object
  const { namespace, name, uid, resourceVersion } = metadata
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: eventName(object, draft),
    involvedObject: { apiVersion, kind, ...(namespace !== undefined && { namespace }), name, uid, resourceVersion },
    type: draft.type,
    reason: draft.reason,
    message: draft.message.slice(0, MAX_MESSAGE),
    source: { component },
    reportingComponent: component,
    reportingInstance: '',
    firstTimestamp: now,
    lastTimestamp: now,
    count: 1,
  }
}

export interface Teller {
  readonly component: string
  readonly now: string
}

/** The Event when it has happened once more. */
export function repeatedEvent<Event extends Readonly<Record<string, unknown>>>(event: Event, now: string) {
  return { ...event, lastTimestamp: now, count: Number(event.count) + 1 }
}
