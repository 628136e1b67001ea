import type { ChatCompletionFunctionTool, ChatCompletionToolChoiceOption } from 'openai/resources/chat/completions'
import { asIs } from '../json/write-json.ts'
import type { Conversation, Tool, ToolChoice } from '../translation/conversation.ts'
import type { Loops } from '../translation/loops.ts'
import type { Losses } from '../translation/losses.ts'
import type { TargetNames } from '../translation/target-names.ts'

/** Few servers have tools that take a text. */
const ONE_TEXT = { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] }

interface ToolMembers {
  tools?: ChatCompletionFunctionTool[]
  tool_choice?: ChatCompletionToolChoiceOption
  parallel_tool_calls?: boolean
}

/** The tools, and how the model may use them: without tools, both is refused. */
export function writeToolMembers(
  { tools, toolChoice, parallelCalls }: Conversation,
  names: TargetNames,
  loops: Loops,
  losses: Losses,
): ToolMembers {
  if (tools.length === 0) {
    if (toolChoice !== undefined && toolChoice.kind !== 'none') losses.drop(toolChoice.origin, 'there are no tools')
    return {}
  }
  const written: ChatCompletionFunctionTool[] = []
  loops.each(tools, (tool) => written.push(writeTool(tool, names)))
  return {
    tools: written,
    ...(toolChoice !== undefined && { tool_choice: writeChoice(toolChoice, names) }),
    ...(parallelCalls !== undefined && { parallel_tool_calls: parallelCalls.allowed }),
  }
}

function writeTool(tool: Tool, names: TargetNames): ChatCompletionFunctionTool {
  const { name, description, parameters, strict, takesText } = tool
  return {
    type: 'function',
    function: {
      name: names.name(name),
      ...(description !== undefined && { description: asIs<string>(description) }),
      ...(parameters !== undefined && { parameters: asIs<Record<string, unknown>>(parameters) }),
      ...(takesText && { parameters: ONE_TEXT }),
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
