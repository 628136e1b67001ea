/**
 * The statuses that vendors document for the types and codes of their errors. An error inside a stream has no status of its own. Unknown
 * types are faults of the provider.
 */
const STATUSES: Readonly<Record<string, number>> = {
  // Messages.
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
  // Chat completions and responses.
  context_length_exceeded: 400,
  string_above_max_length: 400,
  invalid_prompt: 400,
  invalid_image: 400,
  invalid_base64_image: 400,
  content_filter: 400,
  content_policy_violation: 400,
  invalid_api_key: 401,
  model_not_found: 404,
  insufficient_quota: 429,
  rate_limit_exceeded: 429,
  requests: 429,
  tokens: 429,
  server_error: 500,
  internal_server_error: 500,
  service_unavailable: 503,
  // Google Cloud.
  INVALID_ARGUMENT: 400,
  FAILED_PRECONDITION: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  RESOURCE_EXHAUSTED: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
  DEADLINE_EXCEEDED: 504,
  // Converse.
  validationException: 400,
  accessDeniedException: 403,
  resourceNotFoundException: 404,
  modelTimeoutException: 408,
  modelStreamErrorException: 424,
  throttlingException: 429,
  internalServerException: 500,
  serviceUnavailableException: 503,
}

/** @param names types, codes and statuses of an error, the most telling first; numbers are statuses, also as text */
export function statusOfError(names: readonly unknown[]): number {
  for (const name of names) {
    const known = typeof name === 'string' ? statusOf(name) : undefined
    if (known !== undefined) return known
    const number = Number(name)
    if (Number.isInteger(number) && number >= 400 && number <= 599) return number
  }
  return 500
}

/** Services of AWS begin the names of their exceptions with a capital or a small letter. */
function statusOf(name: string): number | undefined {
  for (const each of [name, name.charAt(0).toLowerCase() + name.slice(1)]) {
    if (Object.hasOwn(STATUSES, each)) return STATUSES[each]
  }
  return undefined
}

/** The request is the cause. Missing credentials, quotas and limits of rate are faults between gateway and provider. */
export function isFaultOfClient(status: number): boolean {
  return status === 400 || status === 404 || status === 413 || status === 422
}
