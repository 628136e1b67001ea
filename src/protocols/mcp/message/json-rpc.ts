import { isRawNumber, numberIn, parseExactJson, type RawNumber } from '#base/exact-json.ts'
import type { Json, JsonObject } from '#base/json.ts'
import { findAmbiguousMember } from '#base/json-ambiguity.ts'
import { nestsDeeper } from '#base/skip-json.ts'
import { messageShape } from './message-shape.ts'

export type MessageId = string | number | RawNumber

/** Error codes of JSON-RPC 2.0 and of MCP. */
export const INVALID_REQUEST = -32600
export const METHOD_NOT_FOUND = -32601
export const INVALID_PARAMS = -32602
export const INTERNAL_ERROR = -32603
/** MCP, revision 2026-07-28. */
export const HEADER_MISMATCH = -32020
export const MISSING_CAPABILITY = -32021
export const UNSUPPORTED_VERSION = -32022

/** One JSON-RPC message. `json` is the whole message, so that unknown members are forwarded; `text` is its source text. */
export type Message = RequestMessage | NotificationMessage | ResponseMessage

export interface RequestMessage {
  readonly kind: 'request'
  readonly id: MessageId
  readonly method: string
  readonly params: JsonObject | undefined
  readonly json: JsonObject
  readonly text: string
}

/** Its method begins with `notifications/`, as all notifications of the protocol do. */
export interface NotificationMessage {
  readonly kind: 'notification'
  readonly method: string
  readonly params: JsonObject | undefined
  readonly json: JsonObject
  readonly text: string
}

/** `id` undefined: an error about a request that the sender could not read. */
export type ResponseMessage = {
  readonly kind: 'response'
  readonly id: MessageId | undefined
  readonly json: JsonObject
  readonly text: string
} & (
  | { readonly result: JsonObject; readonly error: undefined }
  | { readonly result: undefined; readonly error: ResponseError }
)

export interface ResponseError {
  readonly code: number
  readonly message: string
  /** All members. */
  readonly json: JsonObject
}

/** A text that is not a message, or that receivers may read in different ways. */
export interface UnreadableMessage {
  readonly kind: 'unreadable'
  readonly problem: 'not-json' | 'batch' | 'not-a-message' | 'no-id' | 'too-deep' | 'ambiguous'
  /** Describes the ambiguity. */
  readonly detail: string | undefined
  /** Id of the request; null without a request, or if it is ambiguous. */
  readonly id: MessageId | null
}

/** Containers in each other. A message with much more of them could be parsed, but not written again. */
const MAX_DEPTH = 1000

/**
 * Parses one message (JSON-RPC 2.0, 4 and 5). Batches were removed from the protocol with revision 2025-06-18. The members
 * that the gateway reads must be unambiguous (decision B71): otherwise the target could execute another request than the one that the rules
 * allowed.
 */
export function parseMessage(text: string): Message | UnreadableMessage {
  let value: unknown
  try {
    value = parseExactJson(text)
  } catch {
    return unreadable('not-json')
  }
  if (Array.isArray(value)) return unreadable('batch')
  if (!isObject(value)) return unreadable('not-a-message')
  if (nestsDeeper(text, MAX_DEPTH)) return unreadable('too-deep')
  const ambiguous = findAmbiguousMember(text, messageShape(value.method))
  const message = toMessage(value, text)
  if (ambiguous === undefined) return message
  const detail = `ambiguous member ${JSON.stringify(ambiguous.key.slice(0, 64))}`
  return unreadable('ambiguous', detail, ambiguous.depth > 1 && message.kind === 'request' ? message.id : null)
}

function unreadable(
  problem: UnreadableMessage['problem'],
  detail?: string,
  id: MessageId | null = null,
): UnreadableMessage {
  return { kind: 'unreadable', problem, detail, id }
}

const NOT_A_MESSAGE = unreadable('not-a-message')

/** Rules and routing judge requests. Some receivers execute a request also without an id, so such a message is none (decision B71). */
const NO_ID = unreadable('no-id')

const NOTIFICATIONS = 'notifications/'

function toMessage(json: JsonObject, text: string): Message | UnreadableMessage {
  const { id, method, params, result, error } = json
  if (json.jsonrpc !== '2.0') return NOT_A_MESSAGE
  if (method === undefined) return toResponse(json, text)
  // Receivers could take it for a response.
  if (result !== undefined || error !== undefined) return NOT_A_MESSAGE
  if (typeof method !== 'string' || (params !== undefined && !isObject(params))) return NOT_A_MESSAGE
  if (id === undefined) {
    return method.startsWith(NOTIFICATIONS) ? { kind: 'notification', method, params, json, text } : NO_ID
  }
  return isMessageId(id) ? { kind: 'request', id, method, params, json, text } : NOT_A_MESSAGE
}

function toResponse(json: JsonObject, text: string): ResponseMessage | UnreadableMessage {
  const { id = null, result, error } = json
  if (id !== null && !isMessageId(id)) return NOT_A_MESSAGE
  if ((result === undefined) === (error === undefined)) return NOT_A_MESSAGE
  if (result !== undefined) {
    if (id === null || !isObject(result)) return NOT_A_MESSAGE
    return { kind: 'response', id, result, error: undefined, json, text }
  }
  if (!isObject(error)) return NOT_A_MESSAGE
  const { message } = error
  const code = numberIn(error.code)
  if (code === undefined || typeof message !== 'string') return NOT_A_MESSAGE
  return { kind: 'response', id: id ?? undefined, result: undefined, error: { code, message, json: error }, json, text }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value)
}

/** Bounds the ids that the gateway stores. No client needs longer ones. */
const MAX_ID_LENGTH = 1024

/** Also of progress tokens. */
export function isMessageId(value: unknown): value is MessageId {
  if (typeof value === 'string') return value.length <= MAX_ID_LENGTH
  return typeof value === 'number' || (isRawNumber(value) && value.rawJSON.length <= MAX_ID_LENGTH)
}

/** Ids as keys of maps. `1` and `"1"` are different ids. `1` and `1.0` are the same, because a target may format a number differently. */
export function idKey(id: MessageId): string {
  const number = numberIn(id)
  return Number.isSafeInteger(number) ? String(number) : JSON.stringify(id)
}

export function isAnswerTo(message: Message | undefined, id: MessageId): message is ResponseMessage {
  return message?.kind === 'response' && message.id !== undefined && idKey(message.id) === idKey(id)
}

export function resultText(id: MessageId, result: JsonObject): string {
  return JSON.stringify({ jsonrpc: '2.0', id, result })
}

/** The response to a request of a target that no client answers. A `ping` needs none. */
export function refusalText({ id, method }: RequestMessage, code: number, message: string): string {
  return method === 'ping' ? resultText(id, {}) : errorText(id, code, message)
}

/** `id` null: the request could not be read. */
export function errorText(id: MessageId | null, code: number, message: string, data?: Json): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, data } })
}
