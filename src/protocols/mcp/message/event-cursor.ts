import { openJson, type Sealer, sealJson } from '#base/sealer.ts'
import type { MessageId } from './json-rpc.ts'

/**
 * The position of a client in streams of several targets: the id of an event, which the client returns as `Last-Event-ID`. With a single
 * target, clients get the ids of the target.
 */
export interface EventCursor {
  /** The id of the last event of each target, by name. */
  readonly events: Readonly<Record<string, string>>
  /** The request whose response stream it belongs to; undefined: the stream of notifications. */
  readonly request: MessageId | undefined
}

interface SealedEventCursor {
  readonly k: 'event'
  /** Key of the session. */
  readonly r: string
  readonly e: Readonly<Record<string, string>>
  readonly q?: MessageId
}

export function sealEventCursor(sealer: Sealer, sessionKey: string, { events, request }: EventCursor): string {
  const sealed: SealedEventCursor = {
    k: 'event',
    r: sessionKey,
    e: events,
    ...(request !== undefined && { q: request }),
  }
  return sealJson(sealer, sealed)
}

/** Undefined for ids that were not sealed for this session. */
export function openEventCursor(sealer: Sealer, sessionKey: string, id: string): EventCursor | undefined {
  const sealed = openJson<SealedEventCursor>(sealer, 'event', id)
  return sealed?.r === sessionKey ? { events: sealed.e, request: sealed.q } : undefined
}
