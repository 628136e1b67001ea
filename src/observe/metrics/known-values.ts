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

/** Requests and notifications of MCP clients (revision 2025-11-25). */
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
