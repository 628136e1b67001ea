import type { AnswerError } from '../../chat/answer-sink.ts'

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
 * The body of an error response. The status decides about the type: other APIs have the same types with other statuses, and those that are not
 * written become the code, unless the error has one. The vendor's clients look for codes in `details`, others beside the message.
 */
export function formatError({ status, type, message, code }: AnswerError): string {
  const written = typeOf(status, type)
  const named = code ?? (written === type ? undefined : type)
  const codes = named === undefined ? {} : { code: named, details: { error_code: VENDOR_CODES.get(named) ?? named } }
  return JSON.stringify({ type: 'error', error: { type: written, message, ...codes } })
}

/** The type for a status; for one that the vendor does not document, the type that the error has. */
function typeOf(status: number, type: string | undefined): string {
  for (const [name, documented] of TYPES) if (documented === status) return name
  if (type !== undefined && TYPES.has(type)) return type
  return status < 500 ? 'invalid_request_error' : 'api_error'
}
