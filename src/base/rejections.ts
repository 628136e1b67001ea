/**
 * Why a request was refused. Codes are public and stable. Status, text and log reason are defined only here. `reason` is the coarse
 * vocabulary of access log and metrics (docs/behaviour/http.md, "Refusals").
 */
export const REJECTIONS = {
  // reading the request
  'malformed-request': { status: 400, text: 'malformed request', reason: 'InvalidRequest' },
  'tls-not-expected': { status: 400, text: 'TLS on a port without TLS', reason: 'InvalidRequest' },
  'host-invalid': { status: 400, text: 'invalid host', reason: 'InvalidRequest' },
  'connection-invalid': { status: 400, text: 'invalid connection field', reason: 'InvalidRequest' },
  'path-invalid': { status: 400, text: 'invalid path', reason: 'InvalidRequest' },
  'path-ambiguous': { status: 400, text: 'ambiguous path', reason: 'InvalidRequest' },
  'request-timeout-reading': { status: 408, text: 'request timeout', reason: 'InvalidRequest' },
  'method-not-allowed': { status: 405, text: 'method not allowed', reason: 'Internal' },
  'body-too-large': { status: 413, text: 'request body too large', reason: 'InvalidRequest' },
  'content-coding-unsupported': { status: 415, text: 'unsupported content encoding', reason: 'InvalidRequest' },
  'content-coding-invalid': { status: 400, text: 'invalid content encoding', reason: 'InvalidRequest' },
  'uri-too-long': { status: 414, text: 'request target too long', reason: 'InvalidRequest' },
  'expectation-failed': { status: 417, text: 'expectation failed', reason: 'InvalidRequest' },
  misdirected: { status: 421, text: 'misdirected request', reason: 'NotFound' },
  'headers-too-large': { status: 431, text: 'request header fields too large', reason: 'InvalidRequest' },
  'method-not-implemented': { status: 501, text: 'not implemented', reason: 'InvalidRequest' },
  'version-not-supported': { status: 505, text: 'http version not supported', reason: 'InvalidRequest' },
  // finding a route
  'listener-not-found': { status: 404, text: 'listener not found', reason: 'NotFound' },
  'route-not-found': { status: 404, text: 'route not found', reason: 'NotFound' },
  'no-valid-backends': { status: 500, text: 'no valid backends', reason: 'NoHealthyBackend' },
  'backend-missing': { status: 500, text: 'backend does not exist', reason: 'NoHealthyBackend' },
  'backend-invalid': { status: 500, text: 'invalid backend type', reason: 'NoHealthyBackend' },
  'no-healthy-backends': { status: 503, text: 'no healthy backends', reason: 'NoHealthyBackend' },
  'dns-failed': { status: 503, text: 'backends required DNS resolution which failed', reason: 'NoHealthyBackend' },
  'destination-not-allowed': { status: 403, text: 'destination not allowed', reason: 'Authorization' },
  // policies
  'api-key-missing': { status: 401, text: 'authentication required', reason: 'APIKeyAuth' },
  'api-key-unknown': { status: 401, text: 'authentication failed', reason: 'APIKeyAuth' },
  'jwt-missing': { status: 401, text: 'authentication required', reason: 'JwtAuth' },
  'jwt-invalid': { status: 401, text: 'authentication failed', reason: 'JwtAuth' },
  'jwt-keys-unavailable': { status: 401, text: 'authentication failed', reason: 'JwtAuth' },
  'sign-in-unavailable': {
    status: 502,
    text: 'authorization server unavailable',
    reason: 'UpstreamFailure',
  },
  'basic-missing': { status: 401, text: 'authentication required', reason: 'BasicAuth' },
  'basic-invalid': { status: 401, text: 'authentication failed', reason: 'BasicAuth' },
  'basic-busy': { status: 503, text: 'authentication busy', reason: 'BasicAuth' },
  'authorization-denied': { status: 403, text: 'authorization failed', reason: 'Authorization' },
  'authorization-exceeded': { status: 403, text: 'authorization failed', reason: 'Authorization' },
  'csrf-failed': { status: 403, text: 'CSRF validation failed', reason: 'DirectResponse' },
  'rate-limited': { status: 429, text: 'rate limit exceeded', reason: 'RateLimit' },
  'rate-limit-failed': { status: 500, text: 'rate limit failed', reason: 'RateLimit' },
  'ext-auth-denied': { status: 403, text: 'external authorization failed', reason: 'ExtAuth' },
  'ext-proc-failed': { status: 500, text: 'ext_proc failed', reason: 'ExtProc' },
  'filter-failed': { status: 500, text: 'failed to apply filters', reason: 'Internal' },
  'transformation-request-failed': { status: 500, text: 'transformation failed', reason: 'Internal' },
  'transformation-response-failed': { status: 502, text: 'transformation failed', reason: 'Internal' },
  'expression-exceeded-request': { status: 500, text: 'expression limit exceeded', reason: 'Internal' },
  'expression-exceeded-response': { status: 502, text: 'expression limit exceeded', reason: 'Internal' },
  'policy-invalid': { status: 500, text: 'policy cannot be applied', reason: 'Internal' },
  // the backend
  'backend-auth-failed': { status: 500, text: 'backend authentication failed', reason: 'UpstreamFailure' },
  'backend-credential-unavailable': { status: 500, text: 'backend authentication failed', reason: 'UpstreamFailure' },
  'upstream-failed': { status: 503, text: 'upstream call failed', reason: 'UpstreamFailure' },
  'upstream-overloaded': { status: 503, text: 'upstream overloaded', reason: 'UpstreamFailure' },
  'upstream-timeout': { status: 504, text: 'upstream call timeout', reason: 'Timeout' },
  'request-timeout': { status: 504, text: 'request timeout', reason: 'Timeout' },
  'upgrade-failed': { status: 502, text: 'request upgrade failed', reason: 'Internal' },
  'response-headers-too-large': { status: 502, text: 'response header fields too large', reason: 'Internal' },
  'response-too-large': { status: 502, text: 'response body too large', reason: 'Internal' },
  // LLM
  'llm-body-invalid': { status: 400, text: 'invalid request body', reason: 'InvalidRequest' },
  'llm-query-invalid': { status: 400, text: 'invalid query', reason: 'InvalidRequest' },
  'llm-model-missing': { status: 400, text: 'model is required', reason: 'InvalidRequest' },
  'llm-route-unknown': { status: 404, text: 'no route type for this path', reason: 'NotFound' },
  'llm-unsupported': { status: 400, text: 'unsupported conversion', reason: 'InvalidRequest' },
  'llm-thread-unsupported': { status: 400, text: 'no conversations are stored', reason: 'InvalidRequest' },
  'llm-not-implemented': { status: 501, text: 'not implemented for this provider', reason: 'InvalidRequest' },
  'llm-response-invalid': { status: 502, text: 'invalid provider response', reason: 'UpstreamFailure' },
  'prompt-guard-rejected': {
    status: 403,
    text: 'The request was rejected due to inappropriate content',
    reason: 'Guardrail',
  },
  'prompt-guard-failed': { status: 503, text: 'prompt guard failed', reason: 'Guardrail' },
  // MCP
  'mcp-not-acceptable': { status: 406, text: 'mcp: not acceptable', reason: 'MCP' },
  'mcp-content-type': { status: 415, text: 'mcp: unsupported media type', reason: 'MCP' },
  'mcp-message-invalid': { status: 400, text: 'mcp: invalid message', reason: 'MCP' },
  'mcp-message-ambiguous': { status: 400, text: 'mcp: ambiguous message', reason: 'MCP' },
  'mcp-session-missing': { status: 400, text: 'mcp: session header is required', reason: 'MCP' },
  'mcp-session-invalid': { status: 400, text: 'mcp: invalid session', reason: 'MCP' },
  'mcp-session-unknown': { status: 404, text: 'mcp: unknown session', reason: 'MCP' },
  'mcp-version-unsupported': { status: 400, text: 'mcp: unsupported protocol version', reason: 'MCP' },
  'mcp-method-unknown': { status: 404, text: 'mcp: unknown method', reason: 'MCP' },
  'mcp-header-mismatch': { status: 400, text: 'mcp: headers do not agree with the message', reason: 'MCP' },
  'mcp-origin-refused': { status: 403, text: 'mcp: origin not allowed', reason: 'MCP' },
  'mcp-targets-unavailable': { status: 503, text: 'mcp: no target available', reason: 'MCP' },
  // A2A
  'a2a-call-unreadable': { status: 400, text: 'a2a: call cannot be read', reason: 'InvalidRequest' },
  'a2a-card-invalid': { status: 502, text: 'a2a: agent card cannot be rewritten', reason: 'UpstreamFailure' },
  // the gateway itself
  'body-memory-exhausted': { status: 503, text: 'no memory for the body', reason: 'Internal' },
  'internal-error': { status: 500, text: 'internal error', reason: 'Internal' },
} as const satisfies Record<string, { status: number; text: string; reason: string }>

export type RejectionCode = keyof typeof REJECTIONS

/** The coarse reason in logs and metrics; `Upstream` and `DirectResponse` are the two that are not refusals. */
export type Reason = (typeof REJECTIONS)[RejectionCode]['reason'] | 'Upstream' | 'DirectResponse'
