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

/** JSON-RPC and MCP errors for unknown names. */
const UNKNOWN_ITEM: ReadonlySet<number | undefined> = new Set([-32602, -32002])

export function isUnknownItem(errorCode: number | undefined): boolean {
  return UNKNOWN_ITEM.has(errorCode)
}
