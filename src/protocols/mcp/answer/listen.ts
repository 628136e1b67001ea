import { clock } from '#base/clock.ts'
import type { Json, JsonObject } from '#base/json.ts'
import type { ServedAnswer } from '../../backend-protocol.ts'
import { ToClient } from '../calls/to-client.ts'
import { filterItems } from '../config/authorization.ts'
import { ownedUri, publicUri } from '../config/naming.ts'
import { isObject, type RequestMessage, resultText } from '../message/json-rpc.ts'
import { META } from '../message/meta.ts'
import { LATEST_SESSIONLESS } from '../message/protocol-version.ts'
import { callTarget } from '../modern/call-target.ts'
import { listenAsLegacy } from '../modern/listen-as-legacy.ts'
import { type Filter, FLAGS, type Listening, type NotListening } from '../modern/subscription.ts'
import { EVENT_STREAM } from '../request/mcp-answer.ts'
import { type McpRequest, type SessionTarget, targetsOf } from '../request/mcp-request.ts'
import type { Session } from '../session/session-state.ts'
import { LIMITS } from '../target/send-to-target.ts'
import { answerFailure, describeFailure, type FailedReply, hasFailed, noteTolerated } from '../target/target-failure.ts'
import { EventSource } from './event-source.ts'
import { NotificationStream } from './notification-stream.ts'

/** Until the acknowledgement of a target. */
const ACKNOWLEDGEMENT_MS = 10_000

const FLAG_NAMES = Object.keys(FLAGS)

/**
 * Serves `subscriptions/listen` (revision 2026-07-28): one stream with the notifications of all targets that the client may get, which begins
 * with what they have accepted together. A target whose stream ends is left out from then on; the client gets the result when all have ended, or
 * when the backend has other targets.
 */
export async function listen(request: McpRequest, session: Session, message: RequestMessage): Promise<ServedAnswer> {
  const { plan, exchange } = request
  const filter = readFilter(message)
  const owned = ownedUris(request, filter.uris)
  const targets = targetsOf(request, session).filter(({ plan: { name } }) => filter.flags.length > 0 || owned.has(name))
  const settled = await Promise.all(
    targets.map((target) => {
      const own = { ...filter, uris: owned.get(target.plan.name) ?? [] }
      const isModern = target.session?.version === LATEST_SESSIONLESS
      return isModern ? listenTo(request, message, target, own) : listenAsLegacy(request, message.id, target, own)
    }),
  )
  const open = settled.filter((one): one is Listening => 'accepted' in one)
  const failed = settled.filter((one): one is NotListening => !('accepted' in one))
  const first = failed[0]
  if (first !== undefined && (plan.failureMode === 'FailClosed' || open.length === 0)) {
    for (const { abort } of open) abort()
    return answerFailure(exchange, first.failure, message.id)
  }
  for (const { target, failure } of failed) noteTolerated(exchange, describeFailure(failure, target.plan.name))
  return { status: 200, headers: EVENT_STREAM, body: streamOf(request, session, message, open) }
}

function readFilter({ params }: RequestMessage): Filter {
  const wanted = isObject(params?.notifications) ? params.notifications : {}
  const uris = Array.isArray(wanted.resourceSubscriptions) ? wanted.resourceSubscriptions : []
  return {
    flags: FLAG_NAMES.filter((flag) => wanted[flag] === true),
    uris: uris.filter((uri) => typeof uri === 'string'),
  }
}

/** The URIs that the client may use, by target, as the target names them. The others are left out, as if the target did not know them. */
function ownedUris({ exchange, plan }: McpRequest, uris: readonly string[]): Map<string, readonly string[]> {
  const owned = Map.groupBy(
    uris.flatMap((uri) => ownedUri(plan, uri) ?? []),
    ({ target }) => target.name,
  )
  const allowed = new Map<string, readonly string[]>()
  for (const [target, items] of owned) {
    const own = filterItems(plan.authorization, exchange, {
      items,
      kind: 'resource',
      target,
      nameOf: ({ name }) => name,
    })
    if (own.length > 0)
      allowed.set(
        target,
        own.map(({ name }) => name),
      )
  }
  return allowed
}

async function listenTo(
  request: McpRequest,
  { json, params }: RequestMessage,
  target: SessionTarget,
  { flags, uris }: Filter,
): Promise<Listening | NotListening> {
  const notifications = {
    ...Object.fromEntries(flags.map((flag) => [flag, true])),
    ...(uris.length > 0 && { resourceSubscriptions: uris }),
  }
  const reply = await callTarget(request, {
    target: target.plan,
    session: target.session,
    method: 'POST',
    message: JSON.stringify({ ...json, params: { ...params, notifications } }),
    limits: LIMITS.notification,
    names: { method: 'subscriptions/listen', name: undefined },
  })
  if (hasFailed(reply)) return { target, failure: reply }
  const failure: FailedReply = {
    kind: 'failed',
    failure: 'invalid-answer',
    detail: `target ${target.plan.name} did not acknowledge the subscription`,
  }
  if (reply.kind !== 'messages') return { target, failure }
  const messages = reply.messages[Symbol.asyncIterator]()
  const late = clock.after(ACKNOWLEDGEMENT_MS, reply.abort)
  const first = await messages.next().catch(() => undefined)
  late.cancel()
  const acknowledged = first?.done === false ? first.value.message : undefined
  if (acknowledged?.kind !== 'notification' || acknowledged.method !== 'notifications/subscriptions/acknowledged') {
    reply.abort()
    return { target, failure }
  }
  const accepted = readFilter({ params: acknowledged.params } as RequestMessage)
  const rest = { [Symbol.asyncIterator]: () => messages }
  return {
    target,
    messages: rest,
    abort: reply.abort,
    accepted: {
      flags: accepted.flags.filter((flag) => flags.includes(flag)),
      uris: accepted.uris.filter((uri) => uris.includes(uri)),
    },
  }
}

/** The acknowledgement, the notifications of all targets, and the result. */
function streamOf(
  request: McpRequest,
  session: Session,
  { id }: RequestMessage,
  open: readonly Listening[],
): NotificationStream {
  const { plan } = request
  const flags = FLAG_NAMES.filter((flag) => open.some(({ accepted }) => accepted.flags.includes(flag)))
  const uris = open.flatMap(({ target, accepted }) => accepted.uris.map((uri) => publicUri(plan, target.plan, uri)))
  const notifications: Record<string, Json> = Object.fromEntries(flags.map((flag) => [flag, true]))
  if (uris.length > 0) notifications.resourceSubscriptions = uris
  const tag = { _meta: { [META.subscriptionId]: id as Json } }
  const sources = open.map(({ target, messages }) => {
    const toClient = new ToClient(request, session, target)
    return new EventSource(messages, (received) => {
      const text = received.message?.kind === 'notification' ? toClient.translate(received) : undefined
      return text === undefined ? undefined : { text }
    })
  })
  return new NotificationStream({
    request,
    session: undefined,
    sources,
    outlastsSources: false,
    listening: {
      first: notificationText('notifications/subscriptions/acknowledged', { notifications, ...tag }),
      last: resultText(id, { resultType: 'complete', ...tag }),
      changes: flags.map((flag) => notificationText(FLAGS[flag as keyof typeof FLAGS], tag)),
    },
    stop: () => {
      for (const { abort } of open) abort()
    },
  })
}

function notificationText(method: string, params: JsonObject): string {
  return JSON.stringify({ jsonrpc: '2.0', method, params })
}
