/** An error object of the chat completions API, which Responses and Embeddings also use. `code` is the rejection code. */
export function formatCompletionsError(status: number, code: string, message: string): string {
  return JSON.stringify({ error: { message, type: errorType(status), param: null, code } })
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
