import type { AnswerError } from '../answer-sink.ts'
import { readErrorObject } from '../read-error.ts'

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

const UNKNOWN = 500

/** The error of an answer or an event: its status is that of its type. Undefined if it has no message. */
export function readReportedError(answer: unknown): AnswerError | undefined {
  const error = readErrorObject(answer, UNKNOWN)
  return error && { ...error, status: statusOf(error.type) }
}

function statusOf(type: string | undefined): number {
  return type !== undefined && Object.hasOwn(STATUSES, type) ? STATUSES[type]! : UNKNOWN
}

/**
 * The body of an error response. A type of another API becomes the code, unless the error has one. The vendor's clients look for codes in
 * `details`, others beside the message.
 */
export function formatError({ status, type, message, code }: AnswerError): string {
  const isKnown = type !== undefined && Object.hasOwn(STATUSES, type)
  const written = code ?? (isKnown ? undefined : type)
  const codes = written === undefined ? {} : { code: written, details: { error_code: written } }
  return JSON.stringify({ type: 'error', error: { type: isKnown ? type : errorType(status), message, ...codes } })
}

/** An error of the gateway; `code` is the code of the rejection. */
export function formatMessagesError(status: number, code: string, message: string): string {
  return formatError({ status, type: undefined, message, code, param: undefined })
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
