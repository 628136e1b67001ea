import { clock } from '#base/clock.ts'
import { type McpRequest, targetsOf } from '../mcp-request.ts'
import { callInSession } from '../session/renew-target.ts'
import type { Session } from '../session/session-state.ts'
import { abandon } from './abandon.ts'
import { LIMITS } from './send-to-target.ts'
import type { TargetMessage, TargetReply } from './target-reply.ts'

/** Delay before a stream that has ended is opened again, unless the target names one; doubled while it fails. */
const REOPEN_MS = 1000
const MIN_REOPEN_MS = 100
const MAX_REOPEN_MS = 30_000

/** A server without a stream for unsolicited messages responds with 405 (Streamable HTTP, "Listening for Messages"). */
export function hasNoStream(reply: TargetReply): boolean {
  return reply.kind === 'nothing' || (reply.kind === 'refused' && reply.response.status === 405)
}

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
  let retryMs = REOPEN_MS
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
    await pause(Math.min(Math.max(retryMs, MIN_REOPEN_MS) * 2 ** Math.min(failures, 5), MAX_REOPEN_MS), signal)
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

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = clock.after(ms, resolve)
  const left = () => resolve()
  signal.addEventListener('abort', left, { once: true })
  await promise
  timer.cancel()
  signal.removeEventListener('abort', left)
}
