import { allowedTools, type ReadChoice, wordChoice } from '../completions/read-tools.ts'
import type { JsonValue } from '../json/json-document.ts'
import { ObjectReader } from '../json/object-reader.ts'
import type { Tool } from '../translation/conversation.ts'
import type { Loops } from '../translation/loops.ts'
import type { Losses } from '../translation/losses.ts'
import { Untranslatable } from '../translation/untranslatable.ts'

export function readTools(list: JsonValue | undefined, loops: Loops, losses: Losses): readonly Tool[] {
  const tools: Tool[] = []
  loops.eachOf(list, (tool) => tools.push(readTool(tool, losses)))
  return tools
}

/** The provider runs tools of other types itself (decision B26). */
function readTool(origin: JsonValue, losses: Losses): Tool {
  const reader = new ObjectReader(origin)
  const type = reader.require('type', reader.text('type'))
  if (type !== 'function' && type !== 'custom') {
    throw new Untranslatable(origin, `the provider of this request has no tool of the type ${type}`)
  }
  const takesText = type === 'custom'
  const tool: Tool = {
    name: reader.require('name', reader.text('name')),
    description: reader.literal('description'),
    parameters: takesText ? undefined : reader.takeKind('parameters', 'object')?.json,
    strict: takesText ? undefined : reader.flag('strict'),
    takesText,
    origin,
  }
  if (takesText) readInputFormat(reader.object('format'), losses)
  reader.drop(losses)
  return tool
}

/** Any text may be the input, or one that a grammar accepts, which no other API has. */
function readInputFormat(format: ObjectReader | undefined, losses: Losses): void {
  format?.word('type', ['text', 'grammar'])
  format?.drop(losses)
}

export function readToolChoice(origin: JsonValue | undefined, tools: readonly Tool[], losses: Losses): ReadChoice {
  if (origin === undefined) return { toolChoice: undefined, tools }
  if (origin.kind === 'string') return { toolChoice: wordChoice(origin), tools }
  const choice = new ObjectReader(origin)
  const type = choice.require('type', choice.text('type'))
  switch (type) {
    case 'allowed_tools':
      return allowedTools(choice, tools, losses)
    case 'function':
    case 'custom': {
      const name = choice.require('name', choice.text('name'))
      choice.drop(losses)
      return { toolChoice: { kind: 'tool', name, origin }, tools }
    }
    default:
      throw new Untranslatable(origin, `a tool choice of the type ${type} cannot be translated`)
  }
}
