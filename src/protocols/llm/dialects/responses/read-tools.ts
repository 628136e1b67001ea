import type { Tool, ToolChoice } from '../../chat/conversation.ts'
import type { Loops } from '../../chat/loops.ts'
import type { Losses } from '../../chat/losses.ts'
import { ObjectReader } from '../../chat/object-reader.ts'
import { Untranslatable } from '../../chat/untranslatable.ts'
import { isResponsesSearch, readLocation, refuseHosted, SEARCH, searchTool } from '../../chat/web-search.ts'
import type { JsonValue } from '../../json/json-document.ts'
import { allowedTools, type ReadChoice, wordChoice } from '../completions/read-tools.ts'

export function readTools(list: JsonValue | undefined, loops: Loops, losses: Losses): readonly Tool[] {
  const tools: Tool[] = []
  loops.eachOf(list, (tool) => {
    const read = readTool(tool, losses)
    if (read !== undefined) tools.push(read)
  })
  return tools
}

/** @returns undefined for a search that must not read pages of the web, which other vendors do not have */
function readTool(origin: JsonValue, losses: Losses): Tool | undefined {
  const reader = new ObjectReader(origin)
  const type = reader.require('type', reader.text('type'))
  if (isResponsesSearch(type)) return readSearch(reader, losses)
  if (type !== 'function' && type !== 'custom') throw refuseHosted(origin, `tools of type ${type}`)
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

function readSearch(reader: ObjectReader, losses: Losses): Tool | undefined {
  if (reader.flag('external_web_access') === false) {
    losses.drop(reader.value, 'other vendors have no search without web access')
    return undefined
  }
  const filters = reader.object('filters')
  const allowedDomains = filters?.list('allowed_domains')
  const blockedDomains = filters?.list('blocked_domains')
  filters?.drop(losses)
  const contextSize = reader.takeKind('search_context_size', 'string')
  const location = readLocation(reader.object('user_location'), losses)
  reader.drop(losses)
  return searchTool({ allowedDomains, blockedDomains, contextSize, location }, reader.value)
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
      if (isResponsesSearch(type)) return { toolChoice: chosenSearch(origin, tools, losses), tools }
      throw new Untranslatable(origin, `a tool choice of type ${type} cannot be translated`)
  }
}

function chosenSearch(origin: JsonValue, tools: readonly Tool[], losses: Losses): ToolChoice | undefined {
  if (tools.some(({ search }) => search !== undefined)) return { kind: 'tool', name: SEARCH, origin }
  losses.drop(origin)
  return undefined
}
