import type { AnswerError } from '../../chat/answer-sink.ts'

const TYPES: ReadonlySet<string> = new Set([
  'invalid_request_error',
  'authentication_error',
  'permission_error',
  'not_found_error',
  'rate_limit_error',
  'rate_limit_exceeded',
  'requests',
  'tokens',
  'insufficient_quota',
  'server_error',
  'internal_server_error',
  'service_unavailable',
])

/** The body of an error response, which Responses and Embeddings also use. A type of another API becomes the code, unless the error has one. */
export function formatError({ status, type, message, code, param }: AnswerError): string {
  const isKnown = type !== undefined && TYPES.has(type)
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
