import type { AnswerError } from '../answer-sink.ts'
import { elementsOf, memberOf } from '../json/read-value.ts'
import { readErrorObject } from '../read-error.ts'

/** An error object of the chat completions API, which Responses and Embeddings also use. `code` is the rejection code. */
export function formatCompletionsError(status: number, code: string, message: string): string {
  return formatError({ status, type: undefined, message, code, param: undefined })
}

/** The body of an error response. A type of another API becomes the code, unless the error has one. */
export function formatError({ status, type, message, code, param }: AnswerError): string {
  const isKnown = type !== undefined && Object.hasOwn(STATUSES, type)
  const written = isKnown ? type : errorType(status)
  return JSON.stringify({
    error: { message, type: written, param: param ?? null, code: code ?? (isKnown ? null : (type ?? null)) },
  })
}

function errorType(status: number): string {
  switch (status) {
    case 401:
      return 'authentication_error'
    case 403:
      return 'permission_error'
    case 429:
      return 'rate_limit_error'
    default:
      return status < 500 ? 'invalid_request_error' : 'server_error'
  }
}

/** The types of the API, with the status that an error in a stream stands for. */
const STATUSES: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  permission_error: 403,
  not_found_error: 404,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  requests: 429,
  tokens: 429,
  insufficient_quota: 429,
  server_error: 500,
  internal_server_error: 500,
  service_unavailable: 503,
  // Names that providers five and six have for statuses.
  INVALID_ARGUMENT: 400,
  FAILED_PRECONDITION: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  RESOURCE_EXHAUSTED: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
  DEADLINE_EXCEEDED: 504,
}

/** The error of an answer or an event: its status is that which its type or code stands for. */
export function readReportedError(answer: unknown): AnswerError {
  const error = readErrorObject(answer, statusOf(memberOf(elementsOf(answer)[0] ?? answer, 'error')))
  if (error !== undefined) return error
  return { status: 500, type: undefined, message: 'the provider reported an error', code: undefined, param: undefined }
}

function statusOf(error: unknown): number {
  const code = memberOf(error, 'code')
  const number = Number(code)
  if (Number.isInteger(number) && number >= 400 && number <= 599) return number
  for (const word of [code, memberOf(error, 'type'), memberOf(error, 'status')]) {
    if (typeof word === 'string' && Object.hasOwn(STATUSES, word)) return STATUSES[word]!
  }
  return 500
}
