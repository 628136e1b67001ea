import { CelError, fromJson, type Result } from '#cel/index.ts'
import type { Exchange } from '../exchange.ts'
import type { McpFacts, ToolAnnotations } from '../mcp-facts.ts'
import { type Declared, notYet } from './declared.ts'

export const MCP: readonly Declared[] = [
  { path: 'mcp.methodName', type: 'string', read: (x) => x.mcp?.method },
  { path: 'mcp.sessionId', type: 'string', read: (x) => x.mcp?.sessionId },
]

/** The item of an MCP message; exactly one of them is present. */
export const MCP_ITEM: readonly Declared[] = [
  ...(['tool', 'prompt', 'resource', 'task'] as const).flatMap((type) => [
    { path: `mcp.${type}.name`, type: 'string', read: (x: Exchange) => item(x.mcp, type)?.name },
    { path: `mcp.${type}.target`, type: 'string', read: (x: Exchange) => item(x.mcp, type)?.target },
  ]),
]

/** Arguments of tool calls, for rules, logs and traces (decision B99). */
export const MCP_ARGUMENTS: readonly Declared[] = [
  { path: 'mcp.tool.arguments', type: 'dyn', read: (x) => toValue(x.mcp?.toolArguments) },
]

/** What targets say of their tools, for rules. */
export const MCP_ANNOTATIONS: readonly Declared[] = [
  { path: 'mcp.tool.annotations.title', type: 'string', read: (x) => annotation(x, 'title') },
  ...(['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const).map((hint) => ({
    path: `mcp.tool.annotations.${hint}`,
    type: 'bool',
    read: (x: Exchange) => annotation(x, hint),
  })),
]

/** Responses to tool calls, only for logs and traces (decision B99). */
export const MCP_PAYLOAD: readonly Declared[] = [
  { path: 'mcp.tool.result', type: 'dyn', read: (x) => toValue(x.mcp?.toolCall?.result) },
  { path: 'mcp.tool.error', type: 'dyn', read: (x) => toValue(x.mcp?.toolCall?.error) },
]

export const MCP_GUARDRAILS: readonly Declared[] = notYet(['mcpGuardrails'], 'MCP guardrails are not supported')

function item(mcp: McpFacts | undefined, type: McpFacts['resourceType']): McpFacts | undefined {
  return mcp?.resourceType === type ? mcp : undefined
}

function annotation({ mcp }: Exchange, name: keyof ToolAnnotations): Result | undefined {
  const annotations = mcp?.toolAnnotations
  return annotations instanceof CelError ? annotations : annotations?.[name]
}

function toValue(json: unknown): Result | undefined {
  return json === undefined || json instanceof CelError ? json : fromJson(json)
}
