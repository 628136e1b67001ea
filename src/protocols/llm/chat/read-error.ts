import { parseJson } from '#base/parse-json.ts'
import { elementsOf, memberOf, textAt } from '../json/read-value.ts'
import { type ClientFormat, isMessagesFormat } from '../settings/route-type.ts'
import type { AnswerError } from './answer-sink.ts'
import { statusOfError } from './error-statuses.ts'

/** How much of an error that is not JSON becomes its message. */
const MAX_MESSAGE_BYTES = 2048

const decoder = new TextDecoder()

/**
 * Reads the body of an error response: that of any vendor, or any text, because clouds, gateways and load balancers in front
 * of a provider answer as well.
 */
export function readError(status: number, body: Uint8Array): AnswerError {
  // A character that the limit divides is left out.
  const text = new TextDecoder()
    .decode(body.subarray(0, MAX_MESSAGE_BYTES), { stream: body.length > MAX_MESSAGE_BYTES })
    .trim()
  const found = readErrorObject(parse(body) ?? parseEvent(text), status)
  const message = text === '' ? `the provider responded with status ${status}` : text
  return found ?? { status, type: undefined, message, code: undefined, param: undefined }
}

/**
 * The error in a parsed body or event: an object with the error as its member `error`, or the error itself, or a list of one of them.
 * @returns undefined if it has no message
 */
function readErrorObject(body: unknown, status: number): AnswerError | undefined {
  const whole = elementsOf(body)[0] ?? body
  const error = memberOf(whole, 'error') ?? whole
  const message = typeof error === 'string' ? error : (messageOf(error) ?? messageOf(whole))
  if (message === undefined) return undefined
  const code = textAt(error, 'code') ?? textAt(memberOf(error, 'details'), 'error_code') ?? textAt(error, 'status')
  return {
    status,
    type: textAt(error, 'type') ?? textAt(error, '__type'),
    message,
    code,
    param: textAt(error, 'param'),
  }
}

/**
 * Whether a body is an error in the format of a client. Those of Google have a status beside a number as their code, and are no errors of chat
 * completions, although they look like them.
 */
export function isClientError(type: ClientFormat, body: Uint8Array): boolean {
  const whole = parse(body)
  const error = memberOf(whole, 'error')
  if (textAt(error, 'message') === undefined) return false
  if (isMessagesFormat(type)) return memberOf(whole, 'type') === 'error' && textAt(error, 'type') !== undefined
  return textAt(error, 'status') === undefined || textAt(error, 'type') !== undefined
}

/** An error that an answer or an event with status 200 reports: its status is that of its type or code. */
export function readReportedError(body: unknown): AnswerError {
  const whole = elementsOf(body)[0] ?? body
  const error = memberOf(whole, 'error') ?? whole
  const status = statusOfError([memberOf(error, 'code'), memberOf(error, 'type'), memberOf(error, 'status')])
  const found = readErrorObject(body, status)
  if (found !== undefined) return found
  return { status, type: undefined, message: 'the provider reported an error', code: undefined, param: undefined }
}

function messageOf(error: unknown): string | undefined {
  return textAt(error, 'message') ?? textAt(error, 'Message') ?? textAt(error, 'detail')
}

/** Data of the first event, for servers that answer a streamed request with a failed stream. */
const EVENT = /^(?:(?:event|id|retry)?:[^\n]*\n)*data: ?([^\r\n]*)/

function parseEvent(text: string): unknown {
  const data = EVENT.exec(text)?.[1]
  return data === undefined ? undefined : parse(new TextEncoder().encode(data))
}

function parse(body: Uint8Array): unknown {
  try {
    return parseJson(decoder.decode(body))
  } catch {
    return undefined
  }
}
