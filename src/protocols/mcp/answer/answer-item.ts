import { BytePattern } from '#base/byte-pattern.ts'
import type { JsonObject } from '#base/json.ts'
import { findAmbiguousMember, shapeOf } from '#base/json-ambiguity.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { noteMcpError, UNKNOWN_ANNOTATIONS } from '#exchange/mcp-facts.ts'
import type { ServedAnswer } from '../../backend-protocol.ts'
import { findTool, pinningFault } from '../calls/learn-tool.ts'
import { callInSession, presentTarget } from '../calls/renew-target.ts'
import { ToClient } from '../calls/to-client.ts'
import { trackInFlight } from '../calls/track-in-flight.ts'
import { denialOf, isAllowed, type McpAuthorization } from '../config/authorization.ts'
import { type McpPlan, type McpTargetPlan, sealsEventIds } from '../config/mcp-plan.ts'
import type { Naming } from '../config/naming.ts'
import { sealEventCursor } from '../message/event-cursor.ts'
import {
  errorText,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  INVALID_REQUEST,
  isAnswerTo,
  type RequestMessage,
  type ResponseMessage,
} from '../message/json-rpc.ts'
import type { ItemParameter } from '../message/methods.ts'
import { LATEST_SESSIONLESS } from '../message/protocol-version.ts'
import { headersOf } from '../message/request-headers.ts'
import type { TargetMessage, TargetReply } from '../message/target-reply.ts'
import { callTarget } from '../modern/call-target.ts'
import { answerError, answerJson, answerStream, CANCELLED, encodeEvent, refuseRequest } from '../request/mcp-answer.ts'
import type { McpDeps, McpRequest, SessionTarget } from '../request/mcp-request.ts'
import { untilStream } from '../session/opening-stream.ts'
import { noteSetting } from '../session/session-settings.ts'
import { isEnded, type Session } from '../session/session-state.ts'
import { abandon } from '../target/abandon.ts'
import { type FoundItem, findItem } from '../target/find-item.ts'
import { noteAnswered } from '../target/note-attempt.ts'
import { readOnlyMessage } from '../target/read-reply.ts'
import { requestText } from '../target/request-text.ts'
import { ResumedResponse } from '../target/resume-response.ts'
import { LIMITS } from '../target/send-to-target.ts'
import { answerFailure, brokenStreamText, hasFailed, noteFailure, SESSION_DELETED } from '../target/target-failure.ts'
import { TargetStreamError } from '../target/target-stream-error.ts'

/** Without `deps`, nothing is known of tools. */
type PreparedRequest = Pick<McpRequest, 'plan' | 'exchange' | 'era'> & {
  readonly deps?: Pick<McpDeps, 'memory' | 'table'>
}

/** Finds the item that a request (a call, a read ...) refers to, or returns an error if the client cannot use such an item. */
export function prepareItem(
  { plan, exchange, era, deps }: PreparedRequest,
  naming: Naming,
  message: RequestMessage,
  parameter: ItemParameter,
): OwnedItem | ServedAnswer {
  // SDKs of the legacy era turn an error status into a failure of the transport.
  const status = era === 'modern' ? 400 : 200
  const item = findItem(naming, parameter, message.params)
  if (item === undefined)
    return refuseRequest(
      exchange,
      { code: 'mcp-message-invalid', status, detail: UNNAMED },
      { id: message.id, code: INVALID_PARAMS, message: UNNAMED },
    )
  describeItem(exchange, item, deps)
  const { kind, publicName, target, params } = item
  // The error is the same for items that do not exist and for items that are not allowed (decision B71).
  const error = { id: message.id, code: INVALID_PARAMS, message: `Unknown ${kind}: ${publicName}` }
  if (target === undefined) {
    return refuseRequest(
      exchange,
      { code: 'mcp-message-invalid', status, detail: 'the name belongs to no target' },
      error,
    )
  }
  const ambiguous = kind === 'tool' ? findAmbiguousArgument(plan.authorization, message) : undefined
  if (ambiguous !== undefined) {
    const detail = `ambiguous member ${JSON.stringify(ambiguous.slice(0, 64))} of the arguments`
    const refusal = { id: message.id, code: INVALID_REQUEST, message: detail }
    return refuseRequest(exchange, { code: 'mcp-message-ambiguous', detail }, refusal)
  }
  if (!isAllowed(plan.authorization, exchange)) {
    return refuseRequest(exchange, { ...denialOf(plan.authorization, exchange), status }, error)
  }
  if (kind === 'tool' && plan.pinning !== undefined && deps !== undefined) {
    const detail = pinningFault(plan.pinning, deps, target, item.name)
    if (detail !== undefined) return refuseRequest(exchange, { code: 'mcp-tool-changed', detail, status }, error)
  }
  return { target, params }
}

/** The rules and the target must read the same arguments. Arguments that no rule reads concern only the target. */
function findAmbiguousArgument({ argumentShape }: McpAuthorization, { text }: RequestMessage): string | undefined {
  if (argumentShape === undefined) return undefined
  return findAmbiguousMember(text, shapeOf({ params: shapeOf({ arguments: argumentShape }) }))?.key
}

/** A request of an extension, for the only target. */
export function extensionItem({ targets }: McpPlan, { params = {} }: RequestMessage): OwnedItem {
  return { target: targets[0]!, params }
}

const UNNAMED = 'the parameters do not identify an item'

/** An item that the client may use. */
export interface OwnedItem {
  readonly target: McpTargetPlan
  /** Parameters for the target. */
  readonly params: JsonObject
}

/** Serves a request about one item from the target that owns it. */
export async function answerItem(
  client: McpRequest,
  session: Session,
  message: RequestMessage,
  item: OwnedItem,
): Promise<ServedAnswer> {
  const present = presentTarget(client, session, item.target)
  const target = present instanceof Promise ? await present : present
  if (target === undefined) return refuseAbsent(client, session, message)

  const inFlight = trackInFlight(client, session, message.id, target)
  const { request, done } = inFlight
  const { exchange, deps } = request
  const opening = untilStream(session, deps.table)
  if (opening !== undefined) await opening
  if (inFlight.isCancelled) {
    done()
    return CANCELLED
  }
  const reply = await callInSession(request, session, target, {
    method: 'POST',
    isRepeatable: REPEATABLE.has(message.method),
    names: headersOf({ method: message.method, params: item.params }),
    message: requestText(request, session, target, message, item.params),
  })
  if (reply.kind === 'messages') {
    noteSetting(session, target.plan.name, { method: message.method, params: item.params }, deps.table)
    const { readWhole } = reply
    if (readWhole !== undefined) {
      const whole = forwardWhole(request, session, target, { message, read: readWhole })
      if (whole instanceof Promise) return whole.finally(done)
      done()
      return whole
    }
    const received = resumed(request, session, target, { message, reply })
    const abort = () => received.abort()
    inFlight.endResponse = abort
    const messages = relay(request, session, target, { message, messages: received, done })
    return answerStream(messages, () => {
      done()
      abort()
    })
  }
  done()
  if (deps.signal.aborted) {
    abandon(reply)
    return CANCELLED
  }
  if (hasFailed(reply)) return answerFailure(exchange, reply, message.id)
  return answerError(exchange, message.id, INTERNAL_ERROR, 'the target did not answer the request')
}

const GET = { method: 'GET', message: undefined, limits: LIMITS.stream } as const

/** Only a client with a session can continue a response that ends early. Revisions without sessions have no way to continue one. */
function resumed(
  request: McpRequest,
  session: Session,
  { plan, session: present }: SessionTarget,
  { message, reply }: { readonly message: RequestMessage; readonly reply: Extract<TargetReply, { kind: 'messages' }> },
): AsyncIterable<TargetMessage> & Pick<ResumedResponse, 'abort'> {
  const { messages, abort } = reply
  if (request.era === 'modern' || present?.version === LATEST_SESSIONLESS) {
    return { [Symbol.asyncIterator]: () => messages[Symbol.asyncIterator](), abort }
  }
  // In the same session of the target: another one does not know the events.
  const open = (lastEventId: string) =>
    callTarget(request, { ...GET, target: plan, session: present, of: session, lastEventId })
  const { signal } = request.deps
  return new ResumedResponse({ id: message.id, first: reply, open, signal, clientContinues: session.key !== '' })
}

/** Methods that only read, or whose effect is the same the second time. Nobody knows that of a tool. */
const REPEATABLE = new Set([
  'prompts/get',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'completion/complete',
  'tasks/get',
  'tasks/cancel',
])

function describeItem(exchange: Exchange, item: FoundItem, deps: PreparedRequest['deps']): void {
  if (exchange.mcp === undefined) return
  exchange.mcp.resourceType = item.kind
  exchange.mcp.name = item.name
  exchange.mcp.target = item.target?.name
  // A call without arguments is one with empty arguments.
  if (item.kind !== 'tool') return
  exchange.mcp.toolArguments = item.params.arguments ?? {}
  const known = deps && item.target && findTool(deps, item.target, item.name)
  exchange.mcp.toolAnnotations = known?.annotations ?? UNKNOWN_ANNOTATIONS
}

/** With FailOpen a session lacks targets that were down when it began. */
function refuseAbsent({ exchange, deps }: McpRequest, session: Session, { id }: RequestMessage): ServedAnswer {
  if (isEnded(session, deps.table)) return answerFailure(exchange, SESSION_DELETED, undefined)
  const error = { id, code: INTERNAL_ERROR, message: 'the target is not part of this session' }
  return refuseRequest(exchange, { code: 'mcp-targets-unavailable' }, error)
}

const RESULT = new BytePattern('"result"')
const ERROR = new BytePattern('"error"')

interface Forwarded {
  readonly message: RequestMessage
  readonly read: () => Uint8Array | Promise<Uint8Array>
}

/** Forwards a response that is the only message of the target, without a stream. A promise only if it has not arrived. */
function forwardWhole(
  request: McpRequest,
  session: Session,
  target: SessionTarget,
  { message, read }: Forwarded,
): ServedAnswer | Promise<ServedAnswer> {
  const forward = (body: Uint8Array) => forwardBody(request, session, target, message, body)
  const refuse = (error: unknown) => refuseBroken(request, message, error)
  try {
    const body = read()
    return body instanceof Promise ? body.then(forward).catch(refuse) : forward(body)
  } catch (error) {
    return refuse(error)
  }
}

/** @throws if it is no message */
function forwardBody(
  request: McpRequest,
  session: Session,
  target: SessionTarget,
  message: RequestMessage,
  body: Uint8Array,
): ServedAnswer {
  noteAnswered(request, target.plan.name)
  if (passesUnread(request, target, body)) return answerJson(body)
  const answer = readOnlyMessage(body)
  if (isAnswerTo(answer, message.id)) {
    noteAnswer(request, answer)
    return answerJson(new ToClient(request, session, target).translateAnswer(answer, message.method))
  }
  return answerError(request.exchange, message.id, INTERNAL_ERROR, 'the target did not answer the request')
}

function refuseBroken({ exchange, deps }: McpRequest, { id }: RequestMessage, error: unknown): ServedAnswer {
  if (!deps.signal.aborted) noteFailure(exchange, error)
  return answerError(exchange, id, INTERNAL_ERROR, brokenStreamText(error))
}

/**
 * A result of the only target passes as it is: its names are those of the client, and there is nothing to note. What else the target might
 * send, it could also send to a client without a gateway.
 */
function passesUnread({ plan, exchange, era }: McpRequest, { session }: SessionTarget, body: Uint8Array): boolean {
  if (plan.multiplexes || era === 'modern' || session?.version === LATEST_SESSIONLESS) return false
  return exchange.mcp?.toolCall === undefined && RESULT.isIn(body) && !ERROR.isIn(body)
}

interface Relayed {
  readonly message: RequestMessage
  readonly messages: AsyncIterable<TargetMessage>
  readonly done: () => void
}

/** Since revision 2026-07-28, targets ask in the result of a request. */
const REQUESTS_CLIENT = 'a target of a revision without sessions sent a request to the client'

/**
 * Forwards all messages of the target up to its response. Event ids are forwarded, some in sealed form, so that clients can resume the stream.
 */
async function* relay(
  request: McpRequest,
  session: Session,
  target: SessionTarget,
  { message, messages, done }: Relayed,
): AsyncGenerator<Uint8Array> {
  const { plan, exchange, deps, era } = request
  const toClient = new ToClient(request, session, target)
  const seal = (eventId: string) =>
    sealEventCursor(deps.sealer, session.key, { events: { [target.plan.name]: eventId }, request: message.id })
  const isSealed = sealsEventIds(plan)
  let resumable = false
  try {
    for await (const received of messages) {
      const isAnswer = isAnswerTo(received.message, message.id)
      if (era === 'modern' && received.message?.kind === 'request') throw new TargetStreamError(REQUESTS_CLIENT)
      if (isAnswer) {
        noteAnswered(request, target.plan.name)
        noteAnswer(request, received.message)
      }
      const text = isAnswer ? toClient.translateAnswer(received.message, message.method) : toClient.translate(received)
      const { eventId, retryMs } = received
      resumable ||= eventId !== undefined && era === 'legacy'
      const id = eventId === undefined || era === 'modern' ? undefined : isSealed ? seal(eventId) : eventId
      if (text !== undefined || id !== undefined || retryMs !== undefined) yield encodeEvent(text ?? '', id, retryMs)
      if (isAnswer) return
    }
    if (deps.signal.aborted) return
    // A server may close the stream before its response; the client then fetches the rest with GET and the last event id.
    if (!resumable)
      yield encodeEvent(errorText(message.id, INTERNAL_ERROR, 'the target ended its stream without a response'))
  } catch (error) {
    if (deps.signal.aborted) return
    noteFailure(exchange, error)
    yield encodeEvent(errorText(message.id, INTERNAL_ERROR, brokenStreamText(error)))
  } finally {
    done()
  }
}

function noteAnswer({ exchange: { mcp } }: McpRequest, { error, result, json, text }: ResponseMessage): void {
  if (mcp === undefined) return
  if (error !== undefined) noteMcpError(mcp, error.code, error.message)
  if (mcp.toolCall === undefined || mcp.resourceType !== 'tool' || text.length > mcp.toolCall.maxLength) return
  mcp.toolCall.result = result
  mcp.toolCall.error = json.error
}
