import type { JsonValue } from '../json/json-document.ts'
import { ObjectReader } from '../json/object-reader.ts'
import type { ParallelCalls, Tool, ToolChoice } from '../translation/conversation.ts'
import type { Loops } from '../translation/loops.ts'
import type { Losses } from '../translation/losses.ts'
import { Untranslatable } from '../translation/untranslatable.ts'
import { takeCached } from './read-parts.ts'

export function readTools(list: JsonValue | undefined, loops: Loops, losses: Losses): readonly Tool[] {
  const tools: Tool[] = []
  loops.eachOf(list, (tool) => tools.push(readTool(tool, losses)))
  return tools
}

function readTool(origin: JsonValue, losses: Losses): Tool {
  const reader = new ObjectReader(origin)
  const type = reader.text('type') ?? 'custom'
  if (type !== 'custom')
    throw new Untranslatable(origin, `the provider of this request has no tool of the type ${type}`)
  const tool: Tool = {
    name: reader.require('name', reader.text('name')),
    description: reader.literal('description'),
    parameters: reader.require('input_schema', reader.takeKind('input_schema', 'object')).json,
    strict: reader.flag('strict'),
    takesText: false,
    cached: takeCached(reader, losses),
    origin,
  }
  reader.drop(losses)
  return tool
}

const CHOICES = ['auto', 'any', 'none', 'tool'] as const

interface Choice {
  readonly toolChoice: ToolChoice | undefined
  readonly parallelCalls: ParallelCalls | undefined
}

export function readToolChoice(reader: ObjectReader | undefined, losses: Losses): Choice {
  if (reader === undefined) return { toolChoice: undefined, parallelCalls: undefined }
  const kind = reader.require('type', reader.word('type', CHOICES))
  const origin = reader.value
  const disables = reader.takeKind('disable_parallel_tool_use', 'boolean')
  const toolChoice: ToolChoice =
    kind === 'tool' ? { kind, name: reader.require('name', reader.text('name')), origin } : { kind, origin }
  reader.drop(losses)
  return { toolChoice, parallelCalls: disables && { allowed: !disables.isTrue, origin: disables } }
}
