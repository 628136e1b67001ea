import type { JsonObject } from '#base/json.ts'
import {
  INVALID_PARAMS,
  idKey,
  isAnswerTo,
  isMessageId,
  isObject,
  METHOD_NOT_FOUND,
  type MessageId,
  type NotificationMessage,
  parseMessage,
  type RequestMessage,
  type ResponseMessage,
  refusalText,
  resultText,
} from '../message/json-rpc.ts'
import type { TargetMessage } from '../message/target-reply.ts'
import type { McpRequest } from '../request/mcp-request.ts'
import type { TargetCall } from '../target/send-to-target.ts'
import type { CallReader } from './held-call.ts'
import { sealInputState } from './input-state.ts'
import { type ClientEnvelope, envelopeOf, inputRequest, mayAsk } from './legacy-request.ts'
import { respondToTarget } from './respond-to-target.ts'

/** One request of a client of the modern era, and the call of a target of the legacy era that it begins or continues. */
export interface Round {
  readonly request: McpRequest
  readonly call: TargetCall
  /** The request of the client. */
  readonly message: RequestMessage
  readonly reader: CallReader
  /** Of the request at the target. */
  readonly id: MessageId
  readonly progressToken: MessageId | undefined
}

/** The key of the only member of `inputRequests`. */
export const INPUT = 'input'

/**
 * The messages of a target for its client, in the form of the modern era. A request of the target that the client can answer becomes a result
 * (`input_required`): the call is held until the client calls again with the answer. Any other request is refused.
 */
export async function* readRound(round: Round): AsyncGenerator<TargetMessage> {
  const { message, reader, id } = round
  const client = envelopeOf(message)
  let isHeld = false
  let isAnswered = false
  try {
    for (let received = await reader.next(); received !== undefined; received = await reader.next()) {
      const said = received.message
      if (said === undefined) continue
      const { text } = said
      if (said.kind === 'request') {
        const required = await requireInput(round, client, said)
        if (required === undefined) continue
        isHeld = true
        yield withText(received, required)
        return
      }
      if (isAnswerTo(said, id)) {
        isAnswered = true
        yield withText(received, modernAnswer(round, client, said))
        return
      }
      const passed = said.kind === 'notification' ? passNotification(round, client, said) : text
      if (passed !== undefined) yield passed === text ? received : withText(received, passed)
    }
  } finally {
    if (!isHeld) reader.end(!isAnswered)
  }
}

/** Holds the call. @returns the result for the client; undefined: the target has been refused */
async function requireInput(
  { request, call, message, reader }: Round,
  { capabilities }: ClientEnvelope,
  asked: RequestMessage,
): Promise<string | undefined> {
  const refuse = async (code: number, why: string) => {
    await respondToTarget(request, call, refusalText(asked, code, why))
    return undefined
  }
  if (!mayAsk(capabilities, asked.method, asked.params)) {
    return refuse(METHOD_NOT_FOUND, 'the client has not declared that it supports this')
  }
  const at = await reader.hold(asked)
  if (at === undefined || call.session === undefined) return refuse(TOO_MANY, 'too many calls wait for input')
  const requestState = sealInputState(request, message, { session: call.session, at })
  return resultText(message.id, inputRequired({ [INPUT]: inputRequest(asked) }, requestState))
}

const TOO_MANY = -32000

/** The result of a call that waits. */
export function inputRequired(inputRequests: JsonObject, requestState: string | undefined): JsonObject {
  return { resultType: 'input_required', inputRequests, ...(requestState !== undefined && { requestState }) }
}

/** Errors of the legacy era that the modern one does not have. */
const URL_ELICITATION_REQUIRED = -32042
const RESOURCE_NOT_FOUND = -32002

/** The response under the id of the client's request. */
function modernAnswer({ message, id }: Round, { capabilities }: ClientEnvelope, answer: ResponseMessage): string {
  const { error, json, text } = answer
  if (error?.code === URL_ELICITATION_REQUIRED) {
    const asked = urlElicitations(error.json)
    const canVisit = asked.every((params) => mayAsk(capabilities, 'elicitation/create', params))
    if (asked.length > 0 && canVisit) {
      const requests = asked.map((params, index) => [`url${index}`, { method: 'elicitation/create', params }] as const)
      // The client has visited them when it calls again: the call itself is not held.
      return resultText(message.id, inputRequired(Object.fromEntries(requests), undefined))
    }
  }
  if (error?.code === RESOURCE_NOT_FOUND) {
    return JSON.stringify({ ...json, id: message.id, error: { ...error.json, code: INVALID_PARAMS } })
  }
  return idKey(message.id) === idKey(id) ? text : JSON.stringify({ ...json, id: message.id })
}

/** The most URLs that one error may name. */
const MAX_URLS = 32

function urlElicitations({ data }: JsonObject): readonly JsonObject[] {
  const all = isObject(data) && Array.isArray(data.elicitations) ? data.elicitations : []
  return all.slice(0, MAX_URLS).flatMap((one) => (isObject(one) ? [{ mode: 'url', ...one }] : []))
}

/** Changes of lists and resources come on streams of their own in this era, and log messages only if the request wants them. */
function passNotification(
  { message, progressToken: original }: Round,
  { logLevel, progressToken }: ClientEnvelope,
  { method, params, json, text }: NotificationMessage,
): string | undefined {
  if (method === 'notifications/cancelled' || method === 'notifications/resources/updated') return undefined
  if (method.endsWith('/list_changed') || method.startsWith('notifications/tasks/')) return undefined
  if (method === 'notifications/message') return logLevel === undefined ? undefined : text
  if (method !== 'notifications/progress' || message.params?.requestState === undefined) return text
  const token = params?.progressToken
  if (progressToken === undefined || original === undefined || !isMessageId(token)) return undefined
  if (idKey(token) !== idKey(original)) return undefined
  return JSON.stringify({ ...json, params: { ...params, progressToken } })
}

function withText(received: TargetMessage, text: string): TargetMessage {
  const message = parseMessage(text)
  if (message.kind === 'unreadable') throw new Error(`not a message: ${text}`)
  return { ...received, eventId: undefined, message }
}
