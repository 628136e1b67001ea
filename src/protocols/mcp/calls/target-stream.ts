import type { TargetMessage, TargetReply } from '../message/target-reply.ts'
import { type McpRequest, targetsOf } from '../request/mcp-request.ts'
import type { Session } from '../session/session-state.ts'
import { abandon } from '../target/abandon.ts'
import { LIMITS } from '../target/send-to-target.ts'
import { hasNoStream, pauseBefore } from '../target/stream-timing.ts'
import { callInSession } from './renew-target.ts'

export interface StreamStart {
  /** The first attempt to open it. */
  readonly reply: Promise<TargetReply>
  readonly lastEventId: string | undefined
}

/**
 * The unsolicited messages of a target, until the client leaves. A stream that ends or breaks is opened again, from its last event on.
 * @param name of the target, which may be initialised again meanwhile
 */
export async function* readStream(
  request: McpRequest,
  session: Session,
  name: string,
  start: StreamStart,
): AsyncGenerator<TargetMessage> {
  const { signal } = request.deps
  let { lastEventId } = start
  let retryMs: number | undefined
  let failures = 0
  for (let reply = await start.reply; ; reply = await reopen(request, session, name, lastEventId)) {
    if (hasNoStream(reply)) break
    failures++
    try {
      if (reply.kind === 'messages') {
        for await (const received of reply.messages) {
          failures = 0
          lastEventId = received.eventId ?? lastEventId
          retryMs = received.retryMs ?? retryMs
          yield received
        }
      }
    } catch {
      // The next attempt shows whether the target is available.
    } finally {
      abandon(reply)
    }
    if (signal.aborted) return
    await pauseBefore(retryMs, signal, failures)
    if (signal.aborted) return
  }
}

async function reopen(
  request: McpRequest,
  session: Session,
  name: string,
  lastEventId: string | undefined,
): Promise<TargetReply> {
  const target = targetsOf(request, session).find(({ plan }) => plan.name === name)
  if (target === undefined) return { kind: 'nothing' }
  return callInSession(request, session, target, {
    method: 'GET',
    message: undefined,
    limits: LIMITS.stream,
    lastEventId,
  })
}
