import type { ServedAnswer } from '../../backend-protocol.ts'
import { callInSession, presentTargets } from '../calls/renew-target.ts'
import { readStream } from '../calls/target-stream.ts'
import { ToClient } from '../calls/to-client.ts'
import { sealsEventIds } from '../config/mcp-plan.ts'
import { type EventCursor, openEventCursor, sealEventCursor } from '../message/event-cursor.ts'
import { isAnswerTo } from '../message/json-rpc.ts'
import type { TargetMessage, TargetReply } from '../message/target-reply.ts'
import { EVENT_STREAM, refuse } from '../request/mcp-answer.ts'
import type { McpRequest, SessionTarget } from '../request/mcp-request.ts'
import { beginStream } from '../session/opening-stream.ts'
import type { Session } from '../session/session-state.ts'
import { abandon } from '../target/abandon.ts'
import { LIMITS } from '../target/send-to-target.ts'
import { hasNoStream, within } from '../target/stream-timing.ts'
import { answerFailure, describeFailure, hasFailed, noteTolerated } from '../target/target-failure.ts'
import { EventSource } from './event-source.ts'
import { NotificationStream, type StreamParts } from './notification-stream.ts'

/** Opens the stream for unsolicited messages of targets, or continues a response whose stream ended early. */
export async function openStream(request: McpRequest, session: Session): Promise<ServedAnswer> {
  const { plan, exchange, deps } = request
  const lastEventId = exchange.request.joined('last-event-id')
  const cursor = lastEventId === undefined ? undefined : openEventCursor(deps.sealer, session.key, lastEventId)
  const release = lastEventId === undefined ? beginStream(session, deps.table) : () => {}
  const targets = await presentTargets(request, session)
  if (targets.length === 0) {
    release()
    const hasTargets = plan.targets.length > 0
    if (hasTargets && plan.failureMode === 'FailClosed') return refuse(exchange, 'mcp-targets-unavailable')
    // The client hears when there are targets again.
    return answerEvents({ request, session, sources: [], outlastsSources: true, stop: () => {} })
  }
  if (cursor?.request !== undefined) return resumeResponse(request, session, targets, cursor)
  if (!plan.multiplexes) return forwardStream(request, session, targets[0]!, { lastEventId, release })
  // A target may be named like a member that all objects have (`constructor`).
  const events: Record<string, string> = Object.assign(Object.create(null), cursor?.events)
  return mergeStreams(request, session, targets, { events, release })
}

/** The stream of the only target, with its event ids. It ends when that of the target ends, and the client continues it by its id. */
async function forwardStream(
  request: McpRequest,
  session: Session,
  target: SessionTarget,
  { lastEventId, release }: { readonly lastEventId: string | undefined; readonly release: () => void },
): Promise<ServedAnswer> {
  const pending = callInSession(request, session, target, { ...GET, lastEventId })
  void pending.then(release, release)
  const early = await within(pending, GRACE_MS)
  if (early !== undefined && early.kind !== 'messages') return answerWithoutStream(request, early)
  // The client may continue a response here, whatever request it belongs to.
  const mayContinue = lastEventId !== undefined && !sealsEventIds(request.plan)
  const toClient = new ToClient(request, session, target, mayContinue)
  const source = unchangedEvents(early?.messages ?? messagesOf(pending), toClient)
  const stop = early?.abort ?? (() => void pending.then(abandon))
  return answerEvents({ request, session, sources: [source], outlastsSources: false, stop })
}

/** With the event ids and reconnection times of the target. */
function unchangedEvents(messages: AsyncIterable<TargetMessage>, toClient: ToClient): EventSource {
  return new EventSource(messages, (received) => {
    const { eventId: id, retryMs } = received
    return { text: toClient.translate(received) ?? '', id, retryMs }
  })
}

async function* messagesOf(pending: Promise<TargetReply>): AsyncGenerator<TargetMessage> {
  const reply = await pending
  if (reply.kind === 'messages') yield* reply.messages
  else abandon(reply)
}

/** How long the response to a client waits for that of a target, which may have no stream. */
const GRACE_MS = 1000

/**
 * The streams of several targets as one. It outlasts each of them: one that ends is opened again. Its event ids contain the last event of
 * each target, so that a client which returns misses nothing.
 * @param events the last events that the client has got; changed as it gets more
 * @param release called when all targets have responded
 */
async function mergeStreams(
  request: McpRequest,
  session: Session,
  targets: readonly SessionTarget[],
  { events, release }: { readonly events: Record<string, string>; readonly release: () => void },
): Promise<ServedAnswer> {
  const stop = new AbortController()
  const signal = AbortSignal.any([request.deps.signal, stop.signal])
  const attached: McpRequest = { ...request, deps: { ...request.deps, signal } }
  const replies = targets.map((target) =>
    callInSession(attached, session, target, { ...GET, lastEventId: events[target.plan.name] }),
  )
  void Promise.all(replies).then(release, release)
  const refusal = await decisiveReply(request, targets, replies)
  if (refusal !== undefined) {
    for (const reply of replies) void reply.then((each) => each !== refusal && abandon(each))
    return answerWithoutStream(request, refusal)
  }
  const sources = targets.map((target, index) =>
    eventsOf(attached, session, target, { reply: replies[index]!, events }),
  )
  return answerEvents({ request, session, sources, outlastsSources: true, stop: () => stop.abort() })
}

/** @param events as of `mergeStreams` */
function eventsOf(
  request: McpRequest,
  session: Session,
  target: SessionTarget,
  { reply, events }: { readonly reply: Promise<TargetReply>; readonly events: Record<string, string> },
): EventSource {
  const { name } = target.plan
  const toClient = new ToClient(request, session, target)
  const messages = readStream(request, session, name, { reply, lastEventId: events[name] })
  return new EventSource(messages, (received) => {
    if (received.eventId !== undefined) events[name] = received.eventId
    const text = toClient.translate(received)
    if (text === undefined && received.eventId === undefined) return undefined
    if (Object.keys(events).length === 0) return { text: text ?? '' }
    const id = sealEventCursor(request.deps.sealer, session.key, { events, request: undefined })
    return { text: text ?? '', id }
  })
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
  const source = new EventSource(reply.messages, (received) => {
    const { message, eventId, retryMs } = received
    const isLast = isAnswerTo(message, id)
    const text = isLast ? toClient.translateAnswer(message, undefined) : toClient.translate(received)
    const cursor = eventId === undefined ? undefined : { events: { [name!]: eventId }, request: id }
    return { text: text ?? '', id: cursor && sealEventCursor(deps.sealer, session.key, cursor), retryMs, isLast }
  })
  return answerEvents({ request, session, sources: [source], outlastsSources: false, stop: reply.abort })
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

function answerEvents(parts: StreamParts): ServedAnswer {
  return { status: 200, headers: EVENT_STREAM, body: new NotificationStream(parts) }
}
