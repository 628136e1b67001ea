import type { Json, JsonObject } from '#base/json.ts'
import {
  errorText,
  HEADER_MISMATCH,
  isAnswerTo,
  isObject,
  METHOD_NOT_FOUND,
  parseMessage,
  type RequestMessage,
  type ResponseMessage,
  resultText,
} from '../message/json-rpc.ts'
import { META } from '../message/meta.ts'
import { methodRoute } from '../message/methods.ts'
import { LATEST_SESSIONLESS } from '../message/protocol-version.ts'
import { headersOf } from '../message/request-headers.ts'
import type { TargetMessage, TargetReply } from '../message/target-reply.ts'
import type { McpRequest } from '../request/mcp-request.ts'
import { logLevelOf } from '../session/session-settings.ts'
import { NO_SESSION } from '../session/session-state.ts'
import { abandon } from '../target/abandon.ts'
import { discard, peek } from '../target/read-reply.ts'
import { sendToTarget, type TargetCall } from '../target/send-to-target.ts'
import { describeFailure, hasFailed } from '../target/target-failure.ts'
import { TargetStreamError } from '../target/target-stream-error.ts'
import { answerInput, askClient } from './input-rounds.ts'
import { listenAsModern, relisten } from './listen-as-modern.ts'
import { oneMessage } from './one-message.ts'
import { learnParamHeaders, paramHeaders } from './param-headers.ts'
import { withoutTasks } from './without-tasks.ts'

type Messages = Extract<TargetReply, { kind: 'messages' }>

/** How often a target may ask for input before it completes a request. */
const MAX_ROUNDS = 16

/**
 * Carries a message of a session to a target of the modern era. What a session keeps there (log level, subscriptions), the gateway adds to
 * each request; what the target asks for in a result, the gateway asks the client for in requests.
 */
export async function callAsModern(request: McpRequest, call: TargetCall): Promise<TargetReply> {
  if (call.method === 'GET') return listenAsModern(request, call, envelope(request, call))
  const message = parseMessage(call.message ?? '')
  if (message.kind === 'response') {
    await answerInput(request.deps, message)
    return { kind: 'nothing' }
  }
  // Targets of this era know no notifications of clients: a request is cancelled by closing its stream.
  if (message.kind !== 'request') return { kind: 'nothing' }
  const label = call.session?.endpoint ?? call.target.name
  if (KEPT_BY_GATEWAY.has(message.method)) {
    return oneMessage(resultText(message.id, {}), label, () => relisten(request, call))
  }
  if (methodRoute(message.method, 'modern') === undefined || message.method.startsWith('tasks/')) {
    return oneMessage(errorText(message.id, METHOD_NOT_FOUND, 'Method not found'), label)
  }
  return complete(request, call, message)
}

/** Settings of a session, which its record keeps; `ping` needs no target. */
const KEPT_BY_GATEWAY = new Set(['logging/setLevel', 'resources/subscribe', 'resources/unsubscribe', 'ping'])

async function complete(request: McpRequest, call: TargetCall, message: RequestMessage): Promise<TargetReply> {
  const first = await sendRound(request, call, message, {})
  if (first.kind !== 'messages') return first
  let current: Messages = first
  async function* rounds(): AsyncGenerator<TargetMessage> {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      let required: JsonObject | undefined
      for await (const received of current.messages) {
        if (!isAnswerTo(received.message, message.id)) {
          yield received
          continue
        }
        const { result } = received.message
        if (result?.resultType === 'input_required') {
          required = result
          break
        }
        yield { ...received, message: legacyAnswer(received.message) }
        return
      }
      if (required === undefined) return
      const inputResponses = yield* askClient(request, required.inputRequests)
      const { requestState } = required
      const reply = await sendRound(request, call, message, {
        inputResponses,
        ...(requestState !== undefined && { requestState }),
      })
      if (reply.kind !== 'messages') throw new TargetStreamError(describeRefusal(call, reply))
      current = reply
    }
    throw new TargetStreamError(`the target asked for input more than ${MAX_ROUNDS} times`)
  }
  const { readWhole: _, ...head } = first
  return { ...head, messages: rounds(), abort: () => current.abort() }
}

function describeRefusal({ target }: TargetCall, reply: Exclude<TargetReply, Messages>): string {
  abandon(reply)
  const how = hasFailed(reply) ? describeFailure(reply, target.name) : `no response from target ${target.name}`
  return `the target did not accept the input of the client: ${how}`
}

/** The response to a request. With a status that is not a success, targets of this era send an error as for a session: the client reads it. */
async function sendRound(
  request: McpRequest,
  call: TargetCall,
  message: RequestMessage,
  more: JsonObject,
): Promise<TargetReply> {
  const reply = await sendWithFields(request, call, message, more)
  if (reply.kind !== 'refused' || !ERROR_STATUSES.has(reply.response.status)) return reply
  const { response, start } = await peek(reply.response)
  const refusal = parseMessage(start)
  const refused: TargetReply = { kind: 'refused', response }
  if (refusal.kind !== 'response' || refusal.error === undefined) return refused
  discard(response)
  return oneMessage(JSON.stringify({ ...refusal.json, id: message.id }), response.endpoint)
}

/** Of errors of the protocol: others are for HTTP, such as 401 with its challenge. */
const ERROR_STATUSES = new Set([400, 404])

/** Sends the request once more if the target wants arguments repeated in header fields, which its list of tools names. */
async function sendWithFields(
  request: McpRequest,
  call: TargetCall,
  message: RequestMessage,
  more: JsonObject,
): Promise<TargetReply> {
  // A target of this era decides itself whether a call becomes a task, and clients of sessions do not know its tasks.
  const { task: _, ...own } = message.params ?? {}
  const params: JsonObject = { ...own, ...more }
  const meta = isObject(params._meta) ? params._meta : {}
  const client = envelope(request, call)
  const sent: TargetCall = {
    ...call,
    message: JSON.stringify({ ...message.json, params: { ...params, _meta: { ...meta, ...client } } }),
    names: headersOf(message),
  }
  const reply = await sendToTarget(request, { ...sent, fields: paramHeaders(request, call.target, message) })
  if (reply.kind !== 'refused' || reply.response.status !== 400 || message.method !== 'tools/call') return reply
  const { response, start } = await peek(reply.response)
  if (!start.includes(`${HEADER_MISMATCH}`)) return { kind: 'refused', response }
  await learnParamHeaders(request, call, client)
  discard(response)
  return sendToTarget(request, { ...sent, fields: paramHeaders(request, call.target, message) })
}

/** What each request of this era says about its client. */
function envelope({ deps }: McpRequest, { of = NO_SESSION }: TargetCall): JsonObject {
  const { capabilities, clientInfo } = of.client
  const declared = withoutTasks(capabilities)
  const level = logLevelOf(of, deps.table)
  return {
    [META.protocolVersion]: LATEST_SESSIONLESS,
    [META.clientCapabilities]: declared,
    [META.clientInfo]: clientInfo,
    ...(level !== undefined && { [META.logLevel]: level }),
  }
}

/**
 * Without the members that only the modern era has.
 * @throws TargetStreamError if the result has another form, which the client would read as a complete one: a task, which the gateway did not
 * offer, or that of an unknown extension
 */
function legacyAnswer(message: ResponseMessage): ResponseMessage {
  if (message.result === undefined) return message
  const { resultType = 'complete' } = message.result
  if (resultType !== 'complete') {
    throw new TargetStreamError(`the target did not complete the request: resultType ${describe(resultType)}`)
  }
  const { resultType: _, ttlMs: _ttl, cacheScope: _scope, ...result } = message.result as Record<string, Json>
  const json = { ...message.json, result }
  return { ...message, result, json, text: JSON.stringify(json) }
}

/** For the log; texts of targets are cut. */
function describe(value: Json): string {
  return JSON.stringify(value).slice(0, 100)
}
