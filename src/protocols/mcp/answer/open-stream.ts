import type { ServedAnswer } from '../../backend-protocol.ts'
import { type McpRequest, type SessionTarget, targetsOf } from '../mcp-request.ts'
import type { Session } from '../session/session-state.ts'
import { callTarget, discard, type TargetMessage, type TargetReply } from '../target/call-target.ts'
import { interleave } from '../target/interleave.ts'
import {
  answerFailure,
  describeFailure,
  type FailedReply,
  hasFailed,
  noteFailure,
  noteTolerated,
} from '../target/target-failure.ts'
import { ToClient } from '../target/to-client.ts'
import { answerStream, encodeEvent, refuse } from './mcp-answer.ts'

type Messages = Extract<TargetReply, { kind: 'messages' }>

interface OpenStream {
  readonly target: SessionTarget
  readonly reply: Messages
}

/** Opens the stream for unsolicited messages of targets, for all targets that have one. */
export async function openStream(request: McpRequest, session: Session): Promise<ServedAnswer> {
  const { plan, exchange } = request
  const targets = targetsOf(plan, session)
  const calls = targets.map((target) =>
    callTarget(request, { target: target.plan, session: target.session, method: 'GET', message: undefined }),
  )
  const replies = await Promise.all(calls)
  const open: OpenStream[] = []
  const failed: FailedReply[] = []
  replies.forEach((reply, index) => {
    if (reply.kind === 'messages') open.push({ target: targets[index]!, reply })
    else if (hasFailed(reply)) failed.push(reply)
  })
  const failure = decisiveFailure(request, open, failed)
  for (const reply of failed) if (reply !== failure && reply.kind === 'refused') discard(reply.response)
  if (failure !== undefined) {
    discardAll(open)
    return answerFailure(exchange, failure, undefined)
  }
  replies.forEach((reply, index) => {
    if (!hasFailed(reply) || isWithoutStream(reply)) return
    noteTolerated(exchange, describeFailure(reply, targets[index]!.plan.name))
  })
  if (targets.length === 0) return refuse(exchange, 'mcp-targets-unavailable')
  return answerStream(mergeStreams(request, session, open), () => discardAll(open))
}

function discardAll(open: readonly OpenStream[]): void {
  for (const { reply } of open) reply.abort()
}

/**
 * A target without such a stream responds with 405, which is not a failure if another target has one. With FailOpen a stream without any
 * target stays open and idle, so that clients do not reconnect in a loop.
 */
function decisiveFailure(
  { plan }: McpRequest,
  open: readonly OpenStream[],
  failed: readonly FailedReply[],
): FailedReply | undefined {
  const real = failed.find((reply) => !isWithoutStream(reply))
  if (real !== undefined) return plan.failureMode === 'FailClosed' || !plan.multiplexes ? real : undefined
  return open.length === 0 ? failed[0] : undefined
}

function isWithoutStream(reply: FailedReply): boolean {
  return reply.kind === 'refused' && reply.response.status === 405
}

async function* mergeStreams(
  request: McpRequest,
  session: Session,
  open: readonly OpenStream[],
): AsyncGenerator<Uint8Array> {
  const { plan, exchange, deps } = request
  // A single target may continue here with the response whose stream broke off.
  const resumes = !plan.multiplexes && exchange.request.has('last-event-id')
  const toClients = open.map(({ target }) => new ToClient(request, session, target, resumes))
  const closesTogether = plan.failureMode === 'FailClosed'
  const streams = open.map(({ reply }) => withEnd(reply.messages))
  try {
    for await (const [index, received] of interleave(streams)) {
      // After a reconnect the client gets the messages of all targets again, including the lost one.
      if (received === 'end') {
        if (closesTogether) return
        continue
      }
      const text = toClients[index]!.translate(received)
      if (!plan.multiplexes) yield encodeEvent(text ?? '', received.eventId, received.retryMs)
      else if (text !== undefined) yield encodeEvent(text)
    }
    if (!closesTogether && plan.multiplexes) await aborted(deps.signal)
  } catch (error) {
    if (!deps.signal.aborted) noteFailure(exchange, error)
  }
}

/** The messages, and a mark when they end. A broken stream ends in the same way. */
async function* withEnd(messages: AsyncIterable<TargetMessage>): AsyncGenerator<TargetMessage | 'end'> {
  try {
    yield* messages
  } catch {
    // The failure does not matter: the next connection shows whether the target is available.
  }
  yield 'end'
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  const { promise, resolve } = Promise.withResolvers<void>()
  signal.addEventListener('abort', () => resolve(), { once: true })
  await promise
}
