import type { JsonObject } from '#base/json.ts'
import type { ToolAnnotations } from '#exchange/mcp-facts.ts'
import { isObject } from '../message/json-rpc.ts'

/**
 * The annotations of a tool, with the defaults of the protocol for hints that are absent or no bool: it is assumed that the tool changes and
 * destroys things (MCP 2025-03-26 and later, `ToolAnnotations`). `destructiveHint` has a meaning only if the tool is not read-only.
 */
export function readAnnotations({ annotations }: JsonObject): ToolAnnotations {
  const given = isObject(annotations) ? annotations : {}
  const hint = (name: string, otherwise: boolean) => {
    const value = given[name]
    return typeof value === 'boolean' ? value : otherwise
  }
  const readOnlyHint = hint('readOnlyHint', false)
  return {
    title: typeof given.title === 'string' ? given.title : undefined,
    readOnlyHint,
    destructiveHint: hint('destructiveHint', !readOnlyHint),
    idempotentHint: hint('idempotentHint', false),
    openWorldHint: hint('openWorldHint', true),
  }
}
