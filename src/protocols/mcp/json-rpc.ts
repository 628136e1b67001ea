import { isRawNumber, parseExactJson, type RawNumber } from '#base/exact-json.ts'
import type { Json, JsonObject } from '#exchange/exchange.ts'

export type MessageId = string | number | RawNumber

/** Error codes of JSON-RPC 2.0 and of MCP. */
export const INVALID_REQUEST = -32600
export const METHOD_NOT_FOUND = -32601
export const INVALID_PARAMS = -32602
export const INTERNAL_ERROR = -32603
/** MCP, revision 2026-07-28. */
export const UNSUPPORTED_VERSION = -32022

/**
 * One JSON-RPC message. `json` is the whole message, so that members that we do not know go on as they came; `text` is what it was
 * parsed from.
 */
export type Message = RequestMessage | NotificationMessage | ResponseMessage

export interface RequestMessage {
  readonly kind: 'request'
  readonly id: MessageId
  readonly method: string
  readonly params: JsonObject | undefined
  readonly json: JsonObject
  readonly text: string
}

export interface NotificationMessage {
  readonly kind: 'notification'
  readonly method: string
  readonly params: JsonObject | undefined
  readonly json: JsonObject
  readonly text: string
}

export interface ResponseMessage {
  readonly kind: 'response'
  /** Undefined for an error about a request that the sender could not read. */
  readonly id: MessageId | undefined
  readonly result: JsonObject | undefined
  readonly error: { readonly code: number; readonly message: string } | undefined
  readonly json: JsonObject
  readonly text: string
}

export type MessageProblem = 'not-json' | 'batch' | 'not-a-message'

/** Reads one message (JSON-RPC 2.0, 4 and 5). Batches left the protocol with revision 2025-06-18 (decision B68). */
export function parseMessage(text: string): Message | MessageProblem {
  let value: unknown
  try {
    value = parseExactJson(text)
  } catch {
    return 'not-json'
  }
  if (Array.isArray(value)) return 'batch'
  return isObject(value) ? toMessage(value, text) : 'not-a-message'
}

function toMessage(json: JsonObject, text: string): Message | MessageProblem {
  const { id, method, params } = json
  if (json.jsonrpc !== '2.0') return 'not-a-message'
  if (method === undefined) return toResponse(json, text)
  if (typeof method !== 'string' || (params !== undefined && !isObject(params))) return 'not-a-message'
  if (id === undefined) return { kind: 'notification', method, params, json, text }
  return isMessageId(id) ? { kind: 'request', id, method, params, json, text } : 'not-a-message'
}

function toResponse(json: JsonObject, text: string): ResponseMessage | MessageProblem {
  const { id = null, result, error } = json
  if (id !== null && !isMessageId(id)) return 'not-a-message'
  if ((result === undefined) === (error === undefined)) return 'not-a-message'
  if (result !== undefined) {
    if (id === null || !isObject(result)) return 'not-a-message'
    return { kind: 'response', id, result, error: undefined, json, text }
  }
  if (!isObject(error)) return 'not-a-message'
  const { code, message } = error
  if (typeof code !== 'number' || typeof message !== 'string') return 'not-a-message'
  return { kind: 'response', id: id ?? undefined, result: undefined, error: { code, message }, json, text }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value)
}

function isMessageId(value: unknown): value is MessageId {
  return typeof value === 'string' || typeof value === 'number' || isRawNumber(value)
}

/** Ids as keys of maps: `1` and `"1"` are different ids. */
export function idKey(id: MessageId): string {
  return JSON.stringify(id)
}

export function isAnswerTo(message: Message | undefined, id: MessageId): message is ResponseMessage {
  return message?.kind === 'response' && message.id !== undefined && idKey(message.id) === idKey(id)
}

export function resultText(id: MessageId, result: JsonObject): string {
  return JSON.stringify({ jsonrpc: '2.0', id, result })
}

/** `id` null: the request could not be read. */
export function errorText(id: MessageId | null, code: number, message: string, data?: Json): string {
  const error = data === undefined ? { code, message } : { code, message, data }
  return JSON.stringify({ jsonrpc: '2.0', id, error })
}
