import type { ServedAnswer } from '../../backend-protocol.ts'
import { type McpRequest, type SessionTarget, targetsOf } from '../mcp-request.ts'
import { type EventCursor, openEventCursor, sealEventCursor } from '../message/event-cursor.ts'
import { isAnswerTo } from '../message/json-rpc.ts'
import type { Capability } from '../session/capabilities.ts'
import { callInSession, presentTargets } from '../session/renew-target.ts'
import type { Session } from '../session/session-state.ts'
import { announceTargets } from '../session/session-stream.ts'
import { keepInUse } from '../session/session-use.ts'
import { abandon } from '../target/abandon.ts'
import { interleave } from '../target/interleave.ts'
import { LIMITS } from '../target/send-to-target.ts'
import { hasNoStream, within } from '../target/stream-timing.ts'
import { answerFailure, describeFailure, hasFailed, noteFailure, noteTolerated } from '../target/target-failure.ts'
import type { TargetReply } from '../target/target-reply.ts'
import { readStream } from '../target/target-stream.ts'
import { ToClient } from '../target/to-client.ts'
import { answerStream, encodeEvent, refuse } from './mcp-answer.ts'
import { readNews } from './read-news.ts'

/** An event for the client, or the end of the whole stream. */
type StreamEvent =
  | { readonly text: string; readonly id?: string | undefined; readonly retryMs?: number | undefined }
  | 'end'

/** Opens the stream for unsolicited messages of targets, or continues a response whose stream ended early. */
export async function openStream(request: McpRequest, session: Session): Promise<ServedAnswer> {
  const { plan, exchange, deps } = request
  const lastEventId = exchange.request.joined('last-event-id')
  const cursor = lastEventId === undefined ? undefined : openEventCursor(deps.sealer, session.key, lastEventId)
  const targets = await presentTargets(request, session)
  if (targets.length === 0) return refuse(exchange, 'mcp-targets-unavailable')
  if (cursor?.request !== undefined) return resumeResponse(request, session, targets, cursor)
  if (!plan.multiplexes) return forwardStream(request, session, targets[0]!, lastEventId)
  // A target may be named like a member that all objects have (`constructor`).
  const events: Record<string, string> = Object.assign(Object.create(null), cursor?.events)
  return mergeStreams(request, session, targets, events)
}

/** The stream of the only target, with its event ids. It ends when that of the target ends, and the client continues it by its id. */
async function forwardStream(
  request: McpRequest,
  session: Session,
  target: SessionTarget,
  lastEventId: string | undefined,
): Promise<ServedAnswer> {
  const pending = callInSession(request, session, target, { ...GET, lastEventId })
  const early = await within(pending, GRACE_MS)
  if (early !== undefined && early.kind !== 'messages') return answerWithoutStream(request, early)
  // The client may continue a response here, whatever request it belongs to.
  const toClient = new ToClient(request, session, target, lastEventId !== undefined)
  async function* forward(): AsyncGenerator<StreamEvent> {
    const reply = early ?? (await pending)
    if (reply.kind === 'messages') {
      for await (const received of reply.messages) {
        yield { text: toClient.translate(received) ?? '', id: received.eventId, retryMs: received.retryMs }
      }
    } else abandon(reply)
    yield 'end'
  }
  const stop = () => void pending.then(abandon)
  return answerEvents(request, session, [forward(), readNews(request.deps, session.key)], stop)
}

/** How long the response to a client waits for that of a target, which may have no stream. */
const GRACE_MS = 1000

/**
 * The streams of several targets as one. It outlasts each of them: one that ends is opened again. Its event ids contain the last event of
 * each target, so that a client which returns misses nothing.
 * @param events the last events that the client has got; changed as it gets more
 */
async function mergeStreams(
  request: McpRequest,
  session: Session,
  targets: readonly SessionTarget[],
  events: Record<string, string>,
): Promise<ServedAnswer> {
  const stop = new AbortController()
  const signal = AbortSignal.any([request.deps.signal, stop.signal])
  const attached: McpRequest = { ...request, deps: { ...request.deps, signal } }
  const replies = targets.map((target) =>
    callInSession(attached, session, target, { ...GET, lastEventId: events[target.plan.name] }),
  )
  const refusal = await decisiveReply(request, targets, replies)
  if (refusal !== undefined) {
    for (const reply of replies) void reply.then((each) => each !== refusal && abandon(each))
    return answerWithoutStream(request, refusal)
  }
  const { sealer } = request.deps
  async function* translate(target: SessionTarget, reply: Promise<TargetReply>): AsyncGenerator<StreamEvent> {
    const { name } = target.plan
    const toClient = new ToClient(attached, session, target)
    for await (const received of readStream(attached, session, name, { reply, lastEventId: events[name] })) {
      if (received.eventId !== undefined) events[name] = received.eventId
      const text = toClient.translate(received)
      const id =
        Object.keys(events).length === 0
          ? undefined
          : sealEventCursor(sealer, session.key, { events, request: undefined })
      if (text !== undefined || received.eventId !== undefined) yield { text: text ?? '', id }
    }
  }
  const sources = targets.map((target, index) => translate(target, replies[index]!))
  return answerEvents(request, session, [...sources, readNews(attached.deps, session.key)], () => stop.abort())
}

/**
 * The rest of a response whose stream its target has ended early (revision 2025-11-25, "Listening for Messages"). Only the response to that
 * request passes.
 */
async function resumeResponse(
  request: McpRequest,
  session: Session,
  targets: readonly SessionTarget[],
  { events, request: id }: EventCursor,
): Promise<ServedAnswer> {
  const { exchange, deps } = request
  const [name, lastEventId] = Object.entries(events)[0] ?? []
  const target = targets.find(({ plan }) => plan.name === name)
  if (target === undefined || id === undefined) return refuse(exchange, 'mcp-targets-unavailable')
  const reply = await callInSession(request, session, target, { ...GET, lastEventId })
  if (reply.kind !== 'messages') return answerWithoutStream(request, reply)
  const toClient = new ToClient(request, session, target)
  async function* rest(): AsyncGenerator<StreamEvent> {
    const { messages } = reply as Extract<TargetReply, { kind: 'messages' }>
    for await (const received of messages) {
      const { message, eventId, retryMs } = received
      const isAnswer = isAnswerTo(message, id!)
      const text = isAnswer ? toClient.translateAnswer(message, undefined) : toClient.translate(received)
      const cursor = eventId === undefined ? undefined : { events: { [name!]: eventId }, request: id }
      yield { text: text ?? '', id: cursor && sealEventCursor(deps.sealer, session.key, cursor), retryMs }
      if (isAnswer) break
    }
    yield 'end'
  }
  return answerEvents(request, session, [rest(), readNews(deps, session.key)], reply.abort)
}

const GET = { method: 'GET', message: undefined, limits: LIMITS.stream } as const

/**
 * The reply that decides about the whole stream; undefined: it can begin. A target without such a stream responds with 405, which is no
 * failure if another target has one. With FailClosed all targets that respond within a second must have a stream or none. With FailOpen the
 * first stream is enough. The others join it later, and a stream without any target stays open and idle, so that clients do not reconnect in
 * a loop.
 */
async function decisiveReply(
  request: McpRequest,
  targets: readonly SessionTarget[],
  replies: readonly Promise<TargetReply>[],
): Promise<TargetReply | undefined> {
  const { failureMode } = request.plan
  if (failureMode === 'FailOpen') {
    replies.forEach((reply, index) => void noteFailed(request, targets[index]!, reply))
    if (await within(hasAnyOpen(replies), GRACE_MS)) return undefined
  }
  const waited = await Promise.all(replies.map((reply) => within(reply, GRACE_MS)))
  const settled = waited.filter((reply) => reply !== undefined)
  const failed = settled.find((reply) => hasFailed(reply) && !hasNoStream(reply))
  if (failed !== undefined) return failureMode === 'FailClosed' ? failed : undefined
  const mayOpen = settled.length < waited.length || settled.some(({ kind }) => kind === 'messages')
  return mayOpen ? undefined : settled[0]
}

/** Resolves as soon as a stream is open, or when no target has one. */
function hasAnyOpen(replies: readonly Promise<TargetReply>[]): Promise<boolean> {
  const opened = replies.map(async (reply) => {
    if ((await reply).kind !== 'messages') throw new Error('no stream')
  })
  return Promise.any(opened).then(
    () => true,
    () => false,
  )
}

async function noteFailed(
  { exchange, deps }: McpRequest,
  { plan }: SessionTarget,
  reply: Promise<TargetReply>,
): Promise<void> {
  const settled = await reply
  if (deps.signal.aborted || !hasFailed(settled) || hasNoStream(settled)) return
  noteTolerated(exchange, describeFailure(settled, plan.name))
}

function answerWithoutStream({ exchange }: McpRequest, reply: TargetReply): ServedAnswer {
  if (hasFailed(reply)) return answerFailure(exchange, reply, undefined)
  abandon(reply)
  return refuse(exchange, 'method-not-allowed', { headers: [['allow', 'POST, DELETE']] })
}

/** @param stop abandons the streams of the targets */
function answerEvents(
  request: McpRequest,
  session: Session,
  sources: readonly AsyncGenerator<StreamEvent>[],
  stop: () => void,
): ServedAnswer {
  const { plan, exchange, deps } = request
  const forget = deps.memory.streams.add(plan.backend, {
    targets: plan.targets.map(({ name }) => name),
    changed: () => void announceTargets(deps.channels, session.key, capabilitiesOf(request, session)),
  })
  const release = keepInUse(session, deps.table)
  const close = () => {
    forget()
    release()
    stop()
  }
  async function* encode(): AsyncGenerator<Uint8Array> {
    try {
      for await (const [, event] of interleave(sources)) {
        if (event === 'end') return
        yield encodeEvent(event.text, event.id, event.retryMs)
      }
    } catch (error) {
      if (!deps.signal.aborted) noteFailure(exchange, error)
    } finally {
      close()
    }
  }
  return answerStream(encode(), close)
}

function capabilitiesOf(request: McpRequest, session: Session): ReadonlySet<Capability> {
  return new Set(targetsOf(request, session).flatMap((target) => [...(target.session?.capabilities ?? [])]))
}
