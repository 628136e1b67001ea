import { takeCacheControl } from '../../chat/cache-marks.ts'
import type { Tool, ToolChoice } from '../../chat/conversation.ts'
import type { Loops } from '../../chat/loops.ts'
import type { Losses } from '../../chat/losses.ts'
import { expectKind, ObjectReader } from '../../chat/object-reader.ts'
import { Untranslatable } from '../../chat/untranslatable.ts'
import { isResponsesSearch, readLocation, refuseHosted, SEARCH, searchTool } from '../../chat/web-search.ts'
import type { JsonValue } from '../../json/json-document.ts'

/** Reads `tools`, `functions`, which came before them, and `web_search_options`. */
export function readTools(reader: ObjectReader, loops: Loops, losses: Losses): readonly Tool[] {
  const tools: Tool[] = []
  loops.eachOf(reader.list('tools'), (tool) => tools.push(readTool(tool, losses)))
  loops.eachOf(reader.list('functions'), (each) => tools.push(readFunction(new ObjectReader(each), each, losses)))
  const search = reader.object('web_search_options')
  if (search !== undefined) loops.after(() => tools.push(readSearch(search, losses)))
  return tools
}

function readTool(origin: JsonValue, losses: Losses): Tool {
  const reader = new ObjectReader(origin)
  const type = reader.require('type', reader.text('type'))
  if (type !== 'function' && type !== 'custom') {
    throw refuseHosted(origin, `tools of type ${type}`)
  }
  const described = reader.require(type, reader.object(type))
  const cached = takeCacheControl(reader, losses)
  reader.drop(losses)
  const tool = type === 'function' ? readFunction(described, origin, losses) : readCustom(described, origin, losses)
  return cached === true ? { ...tool, cached } : tool
}

function readSearch(reader: ObjectReader, losses: Losses): Tool {
  const contextSize = reader.takeKind('search_context_size', 'string')
  const user = reader.object('user_location')
  user?.word('type', ['approximate'])
  const location = readLocation(user?.object('approximate'), losses)
  user?.drop(losses)
  reader.drop(losses)
  return searchTool({ contextSize, location }, reader.value)
}

function readFunction(reader: ObjectReader, origin: JsonValue, losses: Losses): Tool {
  const tool: Tool = {
    name: reader.require('name', reader.text('name')),
    description: reader.literal('description'),
    parameters: reader.takeKind('parameters', 'object')?.json,
    strict: reader.flag('strict'),
    takesText: false,
    origin,
  }
  reader.drop(losses)
  return tool
}

function readCustom(reader: ObjectReader, origin: JsonValue, losses: Losses): Tool {
  const name = reader.require('name', reader.text('name'))
  const description = reader.literal('description')
  const format = reader.object('format')
  // Any text may be the input, or one that a grammar accepts, which no other API has.
  format?.word('type', ['text', 'grammar'])
  format?.drop(losses)
  reader.drop(losses)
  return { name, description, parameters: undefined, strict: undefined, takesText: true, origin }
}

export interface ReadChoice {
  readonly toolChoice: ToolChoice | undefined
  /** The tools that the choice leaves. */
  readonly tools: readonly Tool[]
}

/** Reads `tool_choice`, and `function_call`, which came before it. */
export function readToolChoice(reader: ObjectReader, tools: readonly Tool[], losses: Losses): ReadChoice {
  const older = reader.take('function_call')
  const origin = reader.take('tool_choice') ?? older
  if (origin === undefined) return { toolChoice: undefined, tools }
  if (origin.kind === 'string') return { toolChoice: wordChoice(origin), tools }
  const choice = new ObjectReader(origin)
  const type = choice.text('type') ?? 'function'
  switch (type) {
    case 'allowed_tools':
      return allowedTools(choice.require(type, choice.object(type)), tools, losses)
    case 'function':
    case 'custom': {
      const named = origin === older ? choice : choice.require(type, choice.object(type))
      const name = named.require('name', named.text('name'))
      named.drop(losses)
      choice.drop(losses)
      return { toolChoice: { kind: 'tool', name, origin }, tools }
    }
    default:
      throw new Untranslatable(origin, `a tool choice of type ${type} cannot be translated`)
  }
}

export function wordChoice(origin: JsonValue): ToolChoice {
  switch (origin.text) {
    case 'auto':
      return { kind: 'auto', origin }
    case 'none':
      return { kind: 'none', origin }
    case 'required':
      return { kind: 'any', origin }
    default:
      throw new Untranslatable(origin, 'must be one of auto, none, required')
  }
}

/** No other API has this form: the tools that are not allowed are left out. */
export function allowedTools(reader: ObjectReader, tools: readonly Tool[], losses: Losses): ReadChoice {
  const mode = reader.require('mode', reader.word('mode', ['auto', 'required']))
  const allowed = new Set(reader.list('tools')?.elements.map(nameOfTool))
  reader.drop(losses)
  const toolChoice: ToolChoice = { kind: mode === 'required' ? 'any' : 'auto', origin: reader.value }
  return { toolChoice, tools: tools.filter(({ name }) => allowed.has(name)) }
}

function nameOfTool(value: JsonValue): string {
  if (isResponsesSearch(value.get('type')?.text ?? '')) return SEARCH
  const described = value.get('function') ?? value.get('custom') ?? value
  const name = described.get('name')
  if (name === undefined) throw new Untranslatable(value, 'name is required')
  return expectKind(name, 'string').text
}
