import { isAnswerTo, type MessageId } from '../message/json-rpc.ts'
import { abandon } from './abandon.ts'
import { pauseBefore } from './stream-timing.ts'
import type { TargetMessage, TargetReply } from './target-reply.ts'

type Messages = Extract<TargetReply, { kind: 'messages' }>

export interface Resumption {
  readonly id: MessageId
  readonly first: Messages
  /** Opens the stream again, after an event. */
  readonly open: (lastEventId: string) => Promise<TargetReply>
  readonly signal: AbortSignal
}

/**
 * The messages of a response without event ids, for clients that cannot continue it themselves. A target may end the stream before the response (revision
 * 2025-11-25): the gateway opens it again from the last event on, after the time that the target wants.
 */
export async function* resumeResponse({ id, first, open, signal }: Resumption): AsyncGenerator<TargetMessage> {
  let current = first
  let lastEventId: string | undefined
  let retryMs: number | undefined
  try {
    for (;;) {
      for await (const received of current.messages) {
        lastEventId = received.eventId ?? lastEventId
        retryMs = received.retryMs ?? retryMs
        if (received.message === undefined) continue
        yield { ...received, eventId: undefined, retryMs: undefined }
        if (isAnswerTo(received.message, id)) return
      }
      if (lastEventId === undefined || signal.aborted) return
      await pauseBefore(retryMs, signal)
      if (signal.aborted) return
      const next = await open(lastEventId)
      if (next.kind !== 'messages') return abandon(next)
      current = next
    }
  } finally {
    current.abort()
  }
}
