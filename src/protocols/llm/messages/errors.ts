import type { AnswerError } from '../translation/answer-sink.ts'

/** The types that the vendor documents, with their statuses. */
const TYPES: ReadonlyMap<string, number> = new Map([
  ['invalid_request_error', 400],
  ['authentication_error', 401],
  ['billing_error', 402],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['conflict_error', 409],
  ['request_too_large', 413],
  ['rate_limit_error', 429],
  ['api_error', 500],
  ['timeout_error', 504],
  ['overloaded_error', 529],
])

/** Codes on which the vendor's clients act, by our own. */
const VENDOR_CODES: ReadonlyMap<string, string> = new Map([['llm-thread-unsupported', 'thread_unsupported_request']])

/**
 * The body of an error response. A type of another API becomes the code, unless the error has one. The vendor's clients look for codes in
 * `details`, others beside the message.
 */
export function formatError({ status, type, message, code }: AnswerError): string {
  const isKnown = type !== undefined && TYPES.has(type)
  const written = code ?? (isKnown ? undefined : type)
  const codes =
    written === undefined ? {} : { code: written, details: { error_code: VENDOR_CODES.get(written) ?? written } }
  return JSON.stringify({ type: 'error', error: { type: isKnown ? type : typeOf(status), message, ...codes } })
}

/** An error of the gateway; `code` is the code of the rejection. */
export function formatMessagesError(status: number, code: string, message: string): string {
  return formatError({ status, type: undefined, message, code, param: undefined })
}

/** The type for a status. */
function typeOf(status: number): string {
  for (const [type, documented] of TYPES) if (documented === status) return type
  return status < 500 ? 'invalid_request_error' : 'api_error'
}
