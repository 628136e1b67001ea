import type { Json, JsonObject } from '#base/json.ts'

/** Results that clients may cache, by method. */
const CACHEABLE = new Set([
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'server/discover',
])

/**
 * A result with the members that revision 2026-07-28 requires. Different callers may see different items, so no shared cache may keep a
 * result, and a target decides how long its own results are valid.
 */
export function modernResult(method: string, result: JsonObject): JsonObject {
  const complete: Record<string, Json> = { ...result, resultType: result.resultType ?? 'complete' }
  if (!CACHEABLE.has(method) || complete.resultType !== 'complete') return complete
  const { ttlMs } = result
  return { ...complete, ttlMs: typeof ttlMs === 'number' && ttlMs >= 0 ? ttlMs : 0, cacheScope: 'private' }
}
