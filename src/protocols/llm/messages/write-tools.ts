import type { ToolChoice as ToolChoiceParam, Tool as ToolParam } from '@anthropic-ai/sdk/resources/messages/messages'
import { asIs } from '../json/write-json.ts'
import type { ModelFacts } from '../models/models.ts'
import type { Conversation, Tool } from '../translation/conversation.ts'
import type { Loops } from '../translation/loops.ts'
import type { Losses } from '../translation/losses.ts'
import { ANY_PARAMETERS, calledNames, inputSchema, isForced } from '../translation/offered-tools.ts'
import type { TargetNames } from '../translation/target-names.ts'
import { markOf } from './write-parts.ts'

export function writeTools(
  { tools, turns }: Conversation,
  names: TargetNames,
  loops: Loops,
  losses: Losses,
): ToolParam[] {
  const written: ToolParam[] = []
  loops.each(tools, (tool) => written.push(writeTool(tool, names, losses)))
  if (tools.length > 0) return written
  return calledNames(turns).map((name) => ({ name: names.name(name), input_schema: ANY_PARAMETERS }))
}

function writeTool(tool: Tool, names: TargetNames, losses: Losses): ToolParam {
  if (tool.strict === true) losses.drop(tool.origin, 'strict')
  return {
    name: names.name(tool.name),
    ...(tool.description !== undefined && { description: asIs<string>(tool.description) }),
    input_schema: inputSchema(tool),
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
    losses.drop(toolChoice.origin, 'the model cannot be made to call a tool')
    return { type: 'auto', ...single }
  }
  if (toolChoice.kind === 'tool') return { type: 'tool', name: names.name(toolChoice.name), ...single }
  return { type: 'any', ...single }
}
