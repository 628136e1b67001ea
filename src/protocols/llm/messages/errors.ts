import type { AnswerError } from '../answer-sink.ts'
import { elementsOf, memberOf, textAt } from '../json/read-value.ts'

/** The statuses of the types that the vendor documents. */
const STATUSES: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  conflict_error: 409,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
}

/** Of an error that is not JSON. */
const MAX_MESSAGE_BYTES = 2048

const decoder = new TextDecoder()

/** Reads the body of an error response (decision B34). */
export function readError(status: number, body: Uint8Array): AnswerError {
  const error = parse(body)
  const found = error === undefined ? undefined : readErrorObject(error, status)
  if (found !== undefined) return found
  const message = decoder.decode(body.subarray(0, MAX_MESSAGE_BYTES)).trim()
  return { status, type: undefined, message, code: undefined, param: undefined }
}

/**
 * @param answer the body of an error response, or an error event; clouds send one in a list, or without a type
 * @param status undefined: that of its type
 * @returns undefined if it has no message
 */
export function readErrorObject(answer: unknown, status: number | undefined): AnswerError | undefined {
  const whole = elementsOf(answer)[0] ?? answer
  const error = memberOf(whole, 'error') ?? whole
  const message = typeof error === 'string' ? error : (textAt(error, 'message') ?? textAt(whole, 'message'))
  if (message === undefined) return undefined
  const type = textAt(error, 'type')
  return {
    status: status ?? statusOf(type),
    type,
    message,
    code: textAt(memberOf(error, 'details'), 'error_code') ?? textAt(error, 'status'),
    param: undefined,
  }
}

function statusOf(type: string | undefined): number {
  return type !== undefined && Object.hasOwn(STATUSES, type) ? STATUSES[type]! : 500
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(body))
  } catch {
    return undefined
  }
}

/** The body of an error response. Codes stand where the API has its own. */
export function formatError({ status, type, message, code }: AnswerError): string {
  const known = type !== undefined && Object.hasOwn(STATUSES, type) ? type : errorType(status)
  const details = code === undefined ? {} : { details: { error_code: code } }
  return JSON.stringify({ type: 'error', error: { type: known, message, ...details } })
}

/** An error object of the messages API. */
export function formatMessagesError(status: number, _code: string, message: string): string {
  return JSON.stringify({ type: 'error', error: { type: errorType(status), message } })
}

/** The error types of the API by status. */
function errorType(status: number): string {
  switch (status) {
    case 401:
      return 'authentication_error'
    case 402:
      return 'billing_error'
    case 403:
      return 'permission_error'
    case 404:
      return 'not_found_error'
    case 413:
      return 'request_too_large'
    case 429:
      return 'rate_limit_error'
    case 504:
      return 'timeout_error'
    case 529:
      return 'overloaded_error'
    default:
      return status < 500 ? 'invalid_request_error' : 'api_error'
  }
}
