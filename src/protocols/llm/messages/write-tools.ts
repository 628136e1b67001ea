import type { ToolChoice as ToolChoiceParam, Tool as ToolParam } from '@anthropic-ai/sdk/resources/messages/messages'
import type { Conversation, Tool } from '../conversation.ts'
import { findMember, scanMembers } from '../json/scan-members.ts'
import { asIs, JsonPieces, type JsonText } from '../json/write-json.ts'
import type { Losses } from '../losses.ts'
import type { ModelFacts } from '../models.ts'
import type { TargetNames } from '../target-names.ts'
import { markOf } from './write-parts.ts'

type Schema = ToolParam['input_schema']

const NO_PARAMETERS: Schema = { type: 'object', properties: {} }
const ANY_PARAMETERS: Schema = { type: 'object' }
const ONE_TEXT: Schema = { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] }

export function writeTools({ tools, turns }: Conversation, names: TargetNames, losses: Losses): ToolParam[] {
  if (tools.length > 0) return tools.map((tool) => writeTool(tool, names, losses))
  return calledNames(turns).map((name) => ({ name: names.name(name), input_schema: ANY_PARAMETERS }))
}

function writeTool(tool: Tool, names: TargetNames, losses: Losses): ToolParam {
  if (tool.strict === true) losses.drop(tool.origin, 'strict')
  return {
    name: names.name(tool.name),
    ...(tool.description !== undefined && { description: asIs<string>(tool.description) }),
    input_schema: tool.takesText ? ONE_TEXT : schemaOf(tool.parameters),
    ...markOf(tool),
  }
}

/** The API takes only schemas with the type `object`. */
function schemaOf(parameters: JsonText | undefined): Schema {
  if (parameters === undefined) return NO_PARAMETERS
  if (parameters instanceof JsonPieces) return asIs<Schema>(parameters)
  const members = scanMembers(parameters)
  if ('fault' in members || findMember(members, 'type') >= 0) return asIs<Schema>(parameters)
  if (members.offsets.length === 0) return NO_PARAMETERS
  const rest = parameters.subarray(parameters.indexOf(0x7b) + 1)
  return asIs<Schema>(new JsonPieces('{"type":"object",', rest))
}

/** A history with calls needs tools, even if the client offers none any more. */
function calledNames(turns: Conversation['turns']): string[] {
  const names = new Set<string>()
  for (const { parts } of turns) for (const part of parts) if (part.kind === 'call') names.add(part.name)
  return [...names]
}

/** Whether the model must call a tool, as the model accepts it. */
export function isForced({ toolChoice }: Conversation, facts: ModelFacts): boolean {
  return (toolChoice?.kind === 'any' || toolChoice?.kind === 'tool') && !facts.refusesForcedTools
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
