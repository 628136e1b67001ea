export const METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'DELETE',
  'OPTIONS',
  'PATCH',
  'TRACE',
  'CONNECT',
])

/** Requests and notifications of MCP clients (revisions to 2026-07-28). */
export const MCP_METHODS: ReadonlySet<string> = new Set([
  'initialize',
  'ping',
  'logging/setLevel',
  'tools/list',
  'tools/call',
  'prompts/list',
  'prompts/get',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'completion/complete',
  'tasks/list',
  'tasks/get',
  'tasks/result',
  'tasks/update',
  'tasks/cancel',
  'server/discover',
  'subscriptions/listen',
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/progress',
  'notifications/roots/list_changed',
])

/** Types of errors in streams of providers, and how streams break off. */
export const LLM_ERROR_TYPES: ReadonlySet<string> = new Set([
  'api_error',
  'authentication_error',
  'billing_error',
  'context_length_exceeded',
  'error',
  'insufficient_quota',
  'invalid_prompt',
  'invalid_request_error',
  'not_found_error',
  'overloaded_error',
  'permission_error',
  'rate_limit_error',
  'rate_limit_exceeded',
  'request_too_large',
  'server_error',
  'timeout_error',
  'upstream-failed',
  'incomplete',
  'protocol-error',
  'reset',
  'timeout',
])

/** JSON-RPC and MCP errors for unknown names. */
const UNKNOWN_ITEM: ReadonlySet<number | undefined> = new Set([-32602, -32002])

export function isUnknownItem(errorCode: number | undefined): boolean {
  return UNKNOWN_ITEM.has(errorCode)
}
