import type { Channels } from '#state/channels.ts'
import { idKey, isMessageId, type MessageId, parseMessage } from '../message/json-rpc.ts'

/** A request of a session that a target processes. */
export interface CallInFlight {
  readonly id: MessageId
  /** The client cancels it. @param cancellation the notification of the client */
  readonly cancel: (cancellation: string) => Promise<void>
  /** The session has ended. */
  readonly end: () => Promise<void>
}

/** The requests that targets process in this worker, by session. Any worker may get a cancellation, or the end of a session, and tells the others. */
export class CallsInFlight {
  readonly #sessions = new Map<string, CallsOfSession>()

  /** @returns call it when the request is over */
  begin(channels: Channels, sessionKey: string, call: CallInFlight): () => void {
    const calls = this.#sessions.get(sessionKey) ?? this.#open(channels, sessionKey)
    calls.all.add(call)
    return () => {
      calls.all.delete(call)
      if (calls.all.size > 0 || this.#sessions.get(sessionKey) !== calls) return
      this.#sessions.delete(sessionKey)
      calls.close()
    }
  }

  #open(channels: Channels, sessionKey: string): CallsOfSession {
    const all = new Set<CallInFlight>()
    const close = channels.open(channelOf(sessionKey), async (text) => {
      await Promise.all(text === ENDED ? [...all].map((call) => call.end()) : cancelled(all, text))
    })
    const calls = { all, close }
    this.#sessions.set(sessionKey, calls)
    return calls
  }
}

/** They share a channel, which is open while there are any. */
interface CallsOfSession {
  readonly all: Set<CallInFlight>
  readonly close: () => void
}

/** Instead of a notification. */
const ENDED = ''

function cancelled(calls: ReadonlySet<CallInFlight>, cancellation: string): Promise<void>[] {
  const message = parseMessage(cancellation)
  const id = message.kind === 'notification' ? message.params?.requestId : undefined
  if (!isMessageId(id)) return []
  const key = idKey(id)
  return [...calls].filter((call) => idKey(call.id) === key).map((call) => call.cancel(cancellation))
}

/** Cancels a request of a session, which another worker may serve. @param cancellation the notification of the client */
export async function cancelInSession(channels: Channels, sessionKey: string, cancellation: string): Promise<void> {
  await channels.send(channelOf(sessionKey), cancellation)
}

/** Ends the calls of a session that has ended, at all workers: their targets are told, and their clients get no result. */
export async function endCallsOf(channels: Channels, sessionKey: string): Promise<void> {
  await channels.send(channelOf(sessionKey), ENDED)
}

function channelOf(sessionKey: string): string {
  return `mcp-session-calls ${sessionKey}`
}
