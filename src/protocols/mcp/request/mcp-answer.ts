import { fromByteText } from '#base/byte-text.ts'
import type { Json } from '#base/json.ts'
import { REJECTIONS, type RejectionCode } from '#base/rejections.ts'
import type { DecidedBy } from '#exchange/decided-by.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { noteMcpError } from '#exchange/mcp-facts.ts'
import type { ServedAnswer } from '../../backend-protocol.ts'
import { formatSse } from '../../http/sse.ts'
import { errorText, type MessageId } from '../message/json-rpc.ts'
import { withHeartbeat } from './heartbeat.ts'

const encoder = new TextEncoder()

export const EVENT_STREAM = [
  ['content-type', 'text/event-stream'],
  ['cache-control', 'no-cache'],
] as const

export const ACCEPTED: ServedAnswer = { status: 202, headers: [], body: undefined }

/** The response to DELETE: some SDKs report 202 as a failure. */
export const ENDED: ServedAnswer = { status: 204, headers: [], body: undefined }

/** Unset members use the values of the catalogue of rejections. */
export interface RefusalOptions {
  /** For operators only. */
  readonly detail?: string
  readonly status?: number
  readonly headers?: ServedAnswer['headers']
  /** A JSON-RPC error that replaces the plain text. */
  readonly json?: string
  /** The policies that refuse. */
  readonly decidedBy?: DecidedBy
}

/** Refuses the request; the exchange has the reason for log and decision record. */
export function refuse(exchange: Exchange, code: RejectionCode, options: RefusalOptions = {}): ServedAnswer {
  const { status, text, reason } = REJECTIONS[code]
  exchange.refusal = code
  exchange.refusalDetail = options.detail
  exchange.decidedBy = options.decidedBy
  exchange.reason = reason
  const type = options.json === undefined ? 'text/plain; charset=utf-8' : 'application/json'
  return {
    status: options.status ?? status,
    headers: [['content-type', type], ...(options.headers ?? [])],
    body: encoder.encode(options.json ?? text),
    refuses: true,
  }
}

export interface RequestError {
  readonly id: MessageId | null
  readonly code: number
  readonly message: string
  readonly data?: Json
}

/** Refuses one JSON-RPC request with an error that the client can match to it. */
export function refuseRequest(
  exchange: Exchange,
  rejection: { readonly code: RejectionCode } & Pick<RefusalOptions, 'status' | 'detail' | 'decidedBy'>,
  error: RequestError,
): ServedAnswer {
  noteMcpError(exchange.mcp, error.code, error.message)
  const { code, ...options } = rejection
  return refuse(exchange, code, { ...options, json: errorText(error.id, error.code, error.message, error.data) })
}

/** A JSON-RPC error as the response to a valid request; its HTTP status is a success. */
export function answerError(exchange: Exchange, id: MessageId, code: number, message: string): ServedAnswer {
  noteMcpError(exchange.mcp, code, message)
  return answerMessages([errorText(id, code, message)])
}

/** Complete messages, one event each. */
export function answerMessages(texts: readonly string[], headers: ServedAnswer['headers'] = []): ServedAnswer {
  const body = texts.map((text) => formatSse({ event: 'message', data: text })).join('')
  return { status: 200, headers: [...EVENT_STREAM, ...headers], body: encoder.encode(body) }
}

/** No response: the client has cancelled the request or disconnected. */
export const CANCELLED: ServedAnswer = { status: 200, headers: EVENT_STREAM, body: new Uint8Array(0) }

/** One complete message. */
export function answerJson(message: string | Uint8Array): ServedAnswer {
  return { status: 200, headers: JSON_BODY, body: typeof message === 'string' ? encoder.encode(message) : message }
}

const JSON_BODY = [['content-type', 'application/json']] as const

/**
 * Messages as a stream. `release` frees the resources of a stream that is abandoned before it starts: a generator that never ran does not
 * run its `finally`.
 */
export function answerStream(body: AsyncGenerator<Uint8Array>, release: () => void): ServedAnswer {
  let begun = false
  const pieces = withHeartbeat(body)
  const iterator: AsyncIterator<Uint8Array> = {
    next: () => {
      begun = true
      return pieces.next()
    },
    return: () => {
      if (!begun) release()
      return pieces.return!()
    },
  }
  return { status: 200, headers: EVENT_STREAM, body: { [Symbol.asyncIterator]: () => iterator } }
}

/** One event in wire format. @param id byte text */
export function encodeEvent(text: string, id?: string, retryMs?: number): Uint8Array {
  const event = { event: text === '' ? '' : 'message', data: text, retryMs }
  return encoder.encode(formatSse(id === undefined ? event : { ...event, id: fromByteText(id) }))
}
