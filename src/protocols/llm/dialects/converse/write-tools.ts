import { closedSchema } from '../../chat/closed-schemas.ts'
import type { Conversation, Tool } from '../../chat/conversation.ts'
import { parseSchema, type Schema } from '../../chat/json-schemas.ts'
import type { Loops } from '../../chat/loops.ts'
import type { Losses } from '../../chat/losses.ts'
import { calledNames, isForced } from '../../chat/offered-tools.ts'
import type { TargetNames } from '../../chat/target-names.ts'
import { ANY_PARAMETERS, inputSchema, weighTool } from '../../chat/tool-parameters.ts'
import { refuseHosted } from '../../chat/web-search.ts'
import { isBlank } from '../../json/json-strings.ts'
import { asIs } from '../../json/write-json.ts'
import type { ModelFacts } from '../../models/models.ts'
import type { CachePoints } from './cache-points.ts'
import type { ConverseRequest, ToolBlock } from './wire.ts'

type ToolConfig = NonNullable<ConverseRequest['toolConfig']>

interface ToolsTarget {
  readonly names: TargetNames
  readonly points: CachePoints
  readonly loops: Loops
  readonly losses: Losses
}

/** The API refuses a history with calls that comes without tools, and has no word for a choice of none. */
export function writeTools(
  conversation: Conversation,
  facts: ModelFacts,
  { names, points, loops, losses }: ToolsTarget,
): ToolConfig | undefined {
  const { tools, turns, toolChoice, parallelCalls } = conversation
  const called = tools.length === 0 || toolChoice?.kind === 'none' ? calledNames(turns) : []
  if (tools.length === 0)
    return called.length === 0 ? undefined : { tools: called.map((name) => calledTool(names.name(name))) }
  if (toolChoice?.kind === 'none') {
    if (called.length === 0) return undefined
    losses.drop(toolChoice.origin, 'a history with tool calls requires tools')
  }
  if (parallelCalls?.allowed === false) losses.drop(parallelCalls.origin)
  const blocks: ToolBlock[] = []
  const write = (tool: Tool) => {
    blocks.push({ toolSpec: writeTool(tool, names, losses) })
    points.markTool(blocks, tool)
  }
  loops.each(tools, write, weighTool)
  loops.after(() => points.addToTools(blocks))
  const choice = writeChoice(conversation, facts, names, losses)
  return { tools: blocks, ...(choice !== undefined && { toolChoice: choice }) }
}

function calledTool(name: string): ToolBlock {
  return { toolSpec: { name, inputSchema: { json: ANY_PARAMETERS } } }
}

function writeTool(tool: Tool, names: TargetNames, losses: Losses): NonNullable<ToolBlock['toolSpec']> {
  if (tool.search !== undefined) throw refuseHosted(tool.origin, 'web search')
  const { description } = tool
  const closed = closedParameters(tool, losses)
  return {
    name: names.name(tool.name),
    ...(description !== undefined && !isBlank(description) && { description: asIs<string>(description) }),
    inputSchema: { json: closed ?? inputSchema(tool, losses) },
    ...(closed !== undefined && { strict: true }),
  }
}

/** The schema of a strict tool, if the API can compile all of it. */
function closedParameters({ strict, parameters, origin }: Tool, losses: Losses): Schema | undefined {
  if (strict !== true) return undefined
  const schema = parameters === undefined ? ANY_PARAMETERS : parseSchema(parameters, origin)
  const { closed, told } = closedSchema(schema, origin)
  if (told.length === 0 && closed.type === 'object') return closed
  losses.drop(origin, `strict: the API does not compile ${told.join(', ') || 'the type'}`)
  return undefined
}

/** Few models take a choice, so that the usual one is left out. */
function writeChoice(
  conversation: Conversation,
  facts: ModelFacts,
  names: TargetNames,
  losses: Losses,
): ToolConfig['toolChoice'] {
  const { toolChoice } = conversation
  if (toolChoice === undefined || toolChoice.kind === 'auto' || toolChoice.kind === 'none') return undefined
  if (!isForced(conversation, facts)) {
    losses.drop(toolChoice.origin, 'the model does not support forced tool calls')
    return undefined
  }
  return toolChoice.kind === 'tool' ? { tool: { name: names.name(toolChoice.name) } } : { any: {} }
}
