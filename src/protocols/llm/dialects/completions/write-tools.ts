import type {
  ChatCompletionCreateParams,
  ChatCompletionFunctionTool,
  ChatCompletionToolChoiceOption,
} from 'openai/resources/chat/completions'
import type { Conversation, Tool, ToolChoice } from '../../chat/conversation.ts'
import type { Loops } from '../../chat/loops.ts'
import type { Losses } from '../../chat/losses.ts'
import { fitStrict } from '../../chat/strict-schemas.ts'
import type { TargetNames } from '../../chat/target-names.ts'
import { inputSchema, weighTool } from '../../chat/tool-parameters.ts'
import { Untranslatable } from '../../chat/untranslatable.ts'
import { refuseHosted } from '../../chat/web-search.ts'
import { asIs } from '../../json/write-json.ts'
import type { TargetModel } from './target-model.ts'

interface ToolMembers {
  tools?: ChatCompletionFunctionTool[]
  tool_choice?: ChatCompletionToolChoiceOption
  parallel_tool_calls?: boolean
}

/** The tools, and how the model may use them: without tools, both is refused. */
export function writeToolMembers(
  conversation: Conversation,
  names: TargetNames,
  loops: Loops,
  losses: Losses,
): ToolMembers {
  const { parallelCalls } = conversation
  const tools = conversation.tools.filter(({ search }) => search === undefined)
  const toolChoice = takeChoice(conversation, losses)
  if (tools.length === 0) {
    if (toolChoice !== undefined && toolChoice.kind !== 'none') losses.drop(toolChoice.origin, 'there are no tools')
    return {}
  }
  const written: ChatCompletionFunctionTool[] = []
  loops.each(tools, (tool) => written.push(writeTool(tool, names, losses)), weighTool)
  return {
    tools: written,
    ...(toolChoice !== undefined && { tool_choice: writeChoice(toolChoice, names) }),
    ...(parallelCalls !== undefined && { parallel_tool_calls: parallelCalls.allowed }),
  }
}

/** A search cannot be required here. */
function takeChoice({ toolChoice, tools }: Conversation, losses: Losses): ToolChoice | undefined {
  const isSearch = toolChoice?.kind === 'tool' && tools.some((each) => each.search && each.name === toolChoice.name)
  if (!isSearch) return toolChoice
  losses.drop(toolChoice.origin, 'a web search cannot be forced')
  return undefined
}

/** Few models have the search, and they search for every answer. */
export function writeSearch(
  { tools }: Conversation,
  { searches }: TargetModel,
  losses: Losses,
): ChatCompletionCreateParams.WebSearchOptions | undefined {
  const { search, origin } = tools.find((tool) => tool.search !== undefined) ?? {}
  if (search === undefined || origin === undefined) return undefined
  if (!searches) throw refuseHosted(origin, 'web search with this model')
  const { allowedDomains, blockedDomains, maxUses, contextSize, location } = search
  const domains = allowedDomains ?? blockedDomains
  if (domains !== undefined) throw new Untranslatable(domains, 'the provider of this request searches all domains')
  if (maxUses !== undefined) losses.drop(maxUses)
  return {
    ...(contextSize !== undefined && { search_context_size: contextSize.text as 'low' }),
    ...(location !== undefined && { user_location: { type: 'approximate', approximate: location } }),
  }
}

function writeTool(tool: Tool, names: TargetNames, losses: Losses): ChatCompletionFunctionTool {
  const { name, description, parameters, takesText, origin } = tool
  const fitted = tool.strict === true && parameters && fitStrict(parameters, origin, losses)
  const strict = parameters === undefined ? tool.strict : tool.strict && fitted !== undefined
  return {
    type: 'function',
    function: {
      name: names.name(name),
      ...(description !== undefined && { description: asIs<string>(description) }),
      // Few servers have tools that take a text.
      ...((parameters !== undefined || takesText) && { parameters: fitted || inputSchema(tool, losses) }),
      ...(strict !== undefined && { strict }),
    },
  }
}

function writeChoice(choice: ToolChoice, names: TargetNames): ChatCompletionToolChoiceOption {
  switch (choice.kind) {
    case 'tool':
      return { type: 'function', function: { name: names.name(choice.name) } }
    case 'any':
      return 'required'
    default:
      return choice.kind
  }
}
