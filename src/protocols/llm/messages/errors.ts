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
