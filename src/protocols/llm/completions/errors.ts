import type { AnswerError } from '../answer-sink.ts'
import { elementsOf, memberOf, textAt } from '../json/read-value.ts'

/** Of an error that is not JSON. */
const MAX_MESSAGE_BYTES = 2048

const decoder = new TextDecoder()

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
}

/** Names of statuses that providers five and six use instead. */
const STATUS_NAMES: Readonly<Record<string, number>> = {
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

/** Reads the body of an error response (decision B34). */
export function readError(status: number, body: Uint8Array): AnswerError {
  const found = readErrorObject(parse(body), status)
  if (found !== undefined) return found
  const message = decoder.decode(body.subarray(0, MAX_MESSAGE_BYTES)).trim()
  return { status, type: undefined, message, code: undefined, param: undefined }
}

/**
 * @param answer a body or an event with an error. Some providers send it in a list, as text, or without the member `error`.
 * @param status undefined: that which its type or code stands for
 * @returns undefined if it has no message
 */
export function readErrorObject(answer: unknown, status: number | undefined): AnswerError | undefined {
  const whole = elementsOf(answer)[0] ?? answer
  const error = memberOf(whole, 'error') ?? whole
  const message =
    typeof error === 'string'
      ? error
      : (textAt(error, 'message') ?? textAt(whole, 'message') ?? textAt(whole, 'detail'))
  if (message === undefined) return undefined
  const name = textAt(error, 'status')
  const type = textAt(error, 'type') ?? undefined
  const code = memberOf(error, 'code')
  return {
    status: status ?? statusOf(type, code, name),
    type,
    message,
    code: typeof code === 'string' ? code : name,
    param: textAt(error, 'param'),
  }
}

function statusOf(type: string | undefined, code: unknown, name: string | undefined): number {
  const number = Number(code)
  if (Number.isInteger(number) && number >= 400 && number <= 599) return number
  for (const word of [code, type]) if (typeof word === 'string' && Object.hasOwn(STATUSES, word)) return STATUSES[word]!
  return name !== undefined && Object.hasOwn(STATUS_NAMES, name) ? STATUS_NAMES[name]! : 500
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(body))
  } catch {
    return undefined
  }
}
