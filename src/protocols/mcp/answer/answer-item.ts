import type { JsonObject } from '#base/json.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { ServedAnswer } from '../../backend-protocol.ts'
import { denialOf, isAllowed } from '../config/authorization.ts'
import type { McpTargetPlan } from '../config/mcp-plan.ts'
import { type McpRequest, type SessionTarget, targetsOf } from '../mcp-request.ts'
import {
  errorText,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  isAnswerTo,
  isObject,
  type RequestMessage,
  type ResponseMessage,
} from '../message/json-rpc.ts'
import type { ItemParameter } from '../message/methods.ts'
import type { Session } from '../session/session-state.ts'
import { callTarget, type TargetMessage } from '../target/call-target.ts'
import { type FoundItem, findItem } from '../target/find-item.ts'
import { publicUri } from '../target/naming.ts'
import { answerFailure, brokenStreamText, hasFailed, noteFailure } from '../target/target-failure.ts'
import { ToClient } from '../target/to-client.ts'
import { trackInFlight } from '../target/track-in-flight.ts'
import { answerError, answerStream, encodeEvent, refuseRequest } from './mcp-answer.ts'

/** Finds the item that a request (a call, a read ...) refers to, or returns an error if the client cannot use such an item. */
export function prepareItem(
  { plan, exchange }: Pick<McpRequest, 'plan' | 'exchange'>,
  message: RequestMessage,
  parameter: ItemParameter,
): OwnedItem | ServedAnswer {
  const item = findItem(plan, parameter, message.params)
  if (item === undefined)
    return answerError(exchange, message.id, INVALID_PARAMS, 'the parameters do not identify an item')
  describeItem(exchange, item)
  const { kind, publicName, target, params } = item
  // The error is the same for items that do not exist and for items that are not allowed (decision B71).
  const error = { id: message.id, code: INVALID_PARAMS, message: `Unknown ${kind}: ${publicName}` }
  if (target === undefined) {
    return refuseRequest(exchange, { code: 'mcp-message-invalid', detail: 'the name belongs to no target' }, error)
  }
  if (!isAllowed(plan.authorization, exchange)) {
    return refuseRequest(exchange, { ...denialOf(exchange), status: 400 }, error)
  }
  return { target, params }
}

/** An item that the client may use. */
export interface OwnedItem {
  readonly target: McpTargetPlan
  /** Parameters for the target. */
  readonly params: JsonObject
}

/** Serves a request about one item from the target that owns it. */
export async function answerItem(
  request: McpRequest,
  session: Session,
  message: RequestMessage,
  item: OwnedItem,
): Promise<ServedAnswer> {
  const { plan, exchange, deps } = request
  const target = targetsOf(plan, session).find((entry) => entry.plan === item.target)
  if (target === undefined) return refuseAbsent(request, message)

  const done = trackInFlight(deps.memory, session, message.id, [target])
  const reply = await callTarget(request, {
    target: target.plan,
    session: target.session,
    method: 'POST',
    message: item.params === message.params ? message.text : JSON.stringify({ ...message.json, params: item.params }),
  })
  if (reply.kind === 'messages') {
    const messages = relay(request, session, target, { message, messages: reply.messages, done })
    return answerStream(messages, () => {
      done()
      reply.abort()
    })
  }
  done()
  if (hasFailed(reply)) return answerFailure(exchange, reply, message.id)
  return answerError(exchange, message.id, INTERNAL_ERROR, 'the target did not answer the request')
}

function describeItem(exchange: Exchange, item: FoundItem): void {
  if (exchange.mcp === undefined) return
  exchange.mcp.resourceType = item.kind
  exchange.mcp.name = item.name
  exchange.mcp.target = item.target?.name
  if (item.kind === 'tool' && exchange.mcp.toolCall !== undefined) {
    exchange.mcp.toolCall.arguments = item.params.arguments
  }
}

/** With FailOpen a session lacks targets that were down when it began. */
function refuseAbsent({ exchange }: McpRequest, { id }: RequestMessage): ServedAnswer {
  const error = { id, code: INTERNAL_ERROR, message: 'the target is not part of this session' }
  return refuseRequest(exchange, { code: 'mcp-targets-unavailable' }, error)
}

interface Relayed {
  readonly message: RequestMessage
  readonly messages: AsyncIterable<TargetMessage>
  readonly done: () => void
}

/** Forwards all messages of the target up to its response. With a single target event ids are forwarded, so that clients can resume. */
async function* relay(
  request: McpRequest,
  session: Session,
  target: SessionTarget,
  { message, messages, done }: Relayed,
): AsyncGenerator<Uint8Array> {
  const { plan, exchange, deps } = request
  const toClient = new ToClient(request, session, target)
  let resumable = false
  try {
    for await (const received of messages) {
      const isAnswer = isAnswerTo(received.message, message.id)
      if (isAnswer) noteAnswer(request, received.message)
      const text = isAnswer ? translateAnswer(request, target, message, received) : toClient.translate(received)
      if (plan.multiplexes) {
        if (text !== undefined) yield encodeEvent(text)
      } else {
        resumable ||= received.eventId !== undefined
        yield encodeEvent(text ?? '', received.eventId, received.retryMs)
      }
      if (isAnswer) return
    }
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

/** Replaces URIs of the target in the contents of a resource by the URIs that the client uses. */
function translateAnswer(
  { plan }: McpRequest,
  target: SessionTarget,
  { method }: RequestMessage,
  { message }: TargetMessage,
): string | undefined {
  if (message?.kind !== 'response') return undefined
  const { text } = message
  if (!plan.multiplexes || method !== 'resources/read' || message.result === undefined) return text
  const { contents } = message.result
  if (!Array.isArray(contents)) return text
  const named = contents.map((content) => nameContent(content))
  return JSON.stringify({ ...message.json, result: { ...message.result, contents: named } })

  function nameContent(content: JsonObject[string]): JsonObject[string] {
    if (!isObject(content) || typeof content.uri !== 'string') return content ?? null
    return { ...content, uri: publicUri(plan, target.plan, content.uri) }
  }
}

function noteAnswer({ exchange: { mcp } }: McpRequest, { error, result, json, text }: ResponseMessage): void {
  if (mcp === undefined) return
  if (error !== undefined) mcp.errorCode = error.code
  if (mcp.toolCall === undefined || mcp.resourceType !== 'tool' || text.length > mcp.toolCall.maxLength) return
  mcp.toolCall.result = result
  mcp.toolCall.error = json.error
}
