import type {
  ToolChoice as ToolChoiceParam,
  ToolUnion,
  WebSearchTool20250305,
} from '@anthropic-ai/sdk/resources/messages/messages'
import type { Conversation, Tool, WebSearch } from '../../chat/conversation.ts'
import type { Loops } from '../../chat/loops.ts'
import type { Losses } from '../../chat/losses.ts'
import { calledNames, isForced } from '../../chat/offered-tools.ts'
import type { TargetNames } from '../../chat/target-names.ts'
import { ANY_PARAMETERS, inputSchema, weighTool } from '../../chat/tool-parameters.ts'
import { SEARCH } from '../../chat/web-search.ts'
import { asIs } from '../../json/write-json.ts'
import type { ModelFacts } from '../../models/models.ts'
import { markOf } from './write-parts.ts'

export function writeTools(
  { tools, turns }: Conversation,
  names: TargetNames,
  loops: Loops,
  losses: Losses,
): ToolUnion[] {
  const written: ToolUnion[] = []
  loops.each(tools, (tool) => written.push(writeTool(tool, names, losses)), weighTool)
  if (tools.length > 0) return written
  return calledNames(turns).map((name) => ({ name: names.name(name), input_schema: ANY_PARAMETERS }))
}

function writeTool(tool: Tool, names: TargetNames, losses: Losses): ToolUnion {
  if (tool.search !== undefined) return writeSearch(tool, tool.search, losses)
  if (tool.strict === true) losses.drop(tool.origin, 'strict')
  return {
    name: names.name(tool.name),
    ...(tool.description !== undefined && { description: asIs<string>(tool.description) }),
    input_schema: inputSchema(tool, losses),
    ...markOf(tool),
  }
}

/** Its calls and their results are no part of the answer, because the client has no members for them. */
function writeSearch(tool: Tool, search: WebSearch, losses: Losses): WebSearchTool20250305 {
  losses.drop(tool.origin, 'the response has its citations, not its calls and results')
  const { allowedDomains, blockedDomains, maxUses, contextSize, location } = search
  if (contextSize !== undefined) losses.drop(contextSize)
  return {
    type: 'web_search_20250305',
    name: SEARCH,
    ...(allowedDomains !== undefined && { allowed_domains: asIs<string[]>(allowedDomains.json) }),
    ...(blockedDomains !== undefined && { blocked_domains: asIs<string[]>(blockedDomains.json) }),
    ...(maxUses !== undefined && { max_uses: maxUses.number }),
    ...(location !== undefined && { user_location: { type: 'approximate', ...location } }),
    ...markOf(tool),
  }
}

export function writeToolChoice(
  conversation: Conversation,
  facts: ModelFacts,
  names: TargetNames,
  losses: Losses,
): ToolChoiceParam | undefined {
  const { toolChoice, parallelCalls, tools } = conversation
  if (tools.length === 0) return calledNames(conversation.turns).length > 0 ? { type: 'none' } : undefined
  const isSingle = parallelCalls?.allowed === false
  const single = isSingle ? { disable_parallel_tool_use: true } : {}
  if (toolChoice === undefined) return isSingle ? { type: 'auto', ...single } : undefined
  if (toolChoice.kind === 'none') return { type: 'none' }
  if (toolChoice.kind === 'auto') return { type: 'auto', ...single }
  if (!isForced(conversation, facts)) {
    losses.drop(toolChoice.origin, 'the model does not support forced tool calls')
    return { type: 'auto', ...single }
  }
  if (toolChoice.kind === 'tool') return { type: 'tool', name: names.name(toolChoice.name), ...single }
  return { type: 'any', ...single }
}
