import type { Steps } from '#base/in-slices.ts'
import { takeCacheControl } from '../../chat/cache-marks.ts'
import type {
  Conversation,
  OutputFormat,
  ParallelCalls,
  Part,
  ReasoningWish,
  Sampling,
  ServiceTier,
  Tool,
  ToolChoice,
  Turn,
} from '../../chat/conversation.ts'
import { Loops } from '../../chat/loops.ts'
import type { Losses } from '../../chat/losses.ts'
import { expectKind, ObjectReader } from '../../chat/object-reader.ts'
import { Untranslatable } from '../../chat/untranslatable.ts'
import { readLocation, refuseHosted, SEARCH, searchTool } from '../../chat/web-search.ts'
import type { JsonValue } from '../../json/json-document.ts'
import { PartReader } from './read-parts.ts'

const ROLES = ['user', 'assistant', 'system'] as const
const THINKING = ['adaptive', 'enabled', 'disabled', 'between_tools'] as const
const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'] as const

/** Reads a request of the messages API. */
export function* readRequest(body: JsonValue, losses: Losses): Steps<Conversation> {
  const loops = new Loops()
  const reader = new ObjectReader(body)
  refuseServers(reader)
  refuseThread(reader)
  const model = reader.require('model', reader.text('model'))
  const maxTokens = reader.require('max_tokens', reader.count('max_tokens'))
  const turns = readTurns(reader, loops, losses)
  const tools = readTools(reader.list('tools'), loops, losses)
  const stop: JsonValue[] = []
  loops.eachOf(reader.list('stop_sequences'), (text) => stop.push(expectKind(text, 'string')))
  if (loops.areWaiting) yield* loops.rest()
  const { toolChoice, parallelCalls } = readToolChoice(reader.object('tool_choice'), losses)
  // Each member is looked up among all, which may be many.
  if (body.isLarge) yield
  const output = reader.object('output_config')
  const format = readFormat(output?.object('format') ?? reader.object('output_format'), losses)
  const isCached = takeCacheControl(reader, losses) === true
  const conversation: Conversation = {
    model,
    streamed: reader.flag('stream') ?? false,
    turns: isCached ? markEnd(turns) : turns,
    tools,
    toolChoice,
    parallelCalls,
    maxTokens,
    sampling: readSampling(reader),
    stop,
    format,
    reasoning: readReasoning(reader.object('thinking'), output, losses),
    user: readUser(reader.object('metadata'), losses),
    serviceTier: readTier(reader),
  }
  if (body.isLarge) yield
  output?.drop(losses)
  reader.drop(losses)
  return conversation
}

/** Tools that the provider runs itself (decision B26). */
function refuseServers(reader: ObjectReader): void {
  const server = reader.list('mcp_servers')?.children().next()
  if (server !== undefined) throw new Untranslatable(server, 'the provider of this request has no MCP servers')
}

/** The rest of the conversation would be at the provider. The vendor's clients send it all when they are refused with this code. */
function refuseThread(reader: ObjectReader): void {
  const thread = reader.take('thread')
  if (thread !== undefined && thread.kind !== 'null') {
    throw new Untranslatable(thread, 'send all messages with each request', 'llm-thread-unsupported')
  }
}

function readTurns(reader: ObjectReader, loops: Loops, losses: Losses): readonly Turn[] {
  const parts = new PartReader(loops, losses)
  const turns: Turn[] = []
  const system = reader.take('system')
  if (system !== undefined) turns.push({ role: 'system', parts: parts.content(system, 'system'), origin: system })
  loops.eachOf(reader.filledList('messages'), (message) => {
    const member = new ObjectReader(message)
    const role = member.require('role', member.word('role', ROLES))
    const content = member.require('content', member.take('content'))
    turns.push({ role, parts: parts.content(content, role), origin: message })
    member.drop(losses)
  })
  return turns
}

/** The API marks thoughts only as part of what follows them. */
const UNMARKED: readonly Part['kind'][] = ['thinking', 'redacted']

/** A mark of the whole request is one of the last block that can have a mark. */
function markEnd(turns: readonly Turn[]): readonly Turn[] {
  for (const [index, turn] of [...turns.entries()].reverse()) {
    const at = turn.parts.findLastIndex(({ kind }) => !UNMARKED.includes(kind))
    if (at >= 0) return turns.with(index, { ...turn, parts: turn.parts.with(at, { ...turn.parts[at]!, cached: true }) })
  }
  return turns
}

function readSampling(reader: ObjectReader): Sampling {
  return {
    temperature: reader.takeKind('temperature', 'number'),
    topP: reader.takeKind('top_p', 'number'),
    topK: reader.takeKind('top_k', 'number'),
  }
}

function readReasoning(
  thinking: ObjectReader | undefined,
  output: ObjectReader | undefined,
  losses: Losses,
): ReasoningWish | undefined {
  const effort = output?.word('effort', EFFORTS)
  if (thinking === undefined) {
    if (output === undefined || effort === undefined) return undefined
    return { effort, adaptive: false, origin: output.value.get('effort')! }
  }
  const origin = thinking.value
  const kind = thinking.require('type', thinking.word('type', THINKING))
  const budget = thinking.count('budget_tokens')
  const summary = thinking.word('display', ['summarized', 'omitted']) !== 'omitted'
  thinking.drop(losses)
  switch (kind) {
    case 'adaptive':
      return { effort, adaptive: true, summary, origin }
    case 'enabled':
      return { budget: thinking.require('budget_tokens', budget), effort, summary, origin }
    default:
      if (effort !== undefined) losses.drop(output!.value.get('effort')!, 'thinking is off')
      return { effort: 'none', origin }
  }
}

function readFormat(format: ObjectReader | undefined, losses: Losses): OutputFormat | undefined {
  if (format === undefined) return undefined
  format.word('type', ['json_schema'])
  const origin = format.require('schema', format.takeKind('schema', 'object'))
  format.drop(losses)
  return { kind: 'schema', schema: origin.json, name: undefined, description: undefined, strict: true, origin }
}

function readUser(metadata: ObjectReader | undefined, losses: Losses): JsonValue | undefined {
  const user = metadata?.takeKind('user_id', 'string')
  metadata?.drop(losses)
  return user
}

function readTier(reader: ObjectReader): ServiceTier | undefined {
  const origin = reader.takeKind('service_tier', 'string')
  if (origin === undefined) return undefined
  const name = origin.text
  return { name: name === 'standard_only' ? 'default' : name, origin }
}

function readTools(list: JsonValue | undefined, loops: Loops, losses: Losses): readonly Tool[] {
  const tools: Tool[] = []
  loops.eachOf(list, (tool) => tools.push(readTool(tool, losses)))
  return tools
}

function readTool(origin: JsonValue, losses: Losses): Tool {
  const reader = new ObjectReader(origin)
  const type = reader.text('type') ?? 'custom'
  if (/^web_search_\d+$/.test(type)) return readSearch(reader, losses)
  if (type !== 'custom') throw refuseHosted(origin, `tools of type ${type}`)
  const tool: Tool = {
    name: reader.require('name', reader.text('name')),
    description: reader.literal('description'),
    parameters: reader.require('input_schema', reader.takeKind('input_schema', 'object')).json,
    strict: reader.flag('strict'),
    takesText: false,
    cached: takeCacheControl(reader, losses),
    origin,
  }
  reader.drop(losses)
  return tool
}

function readSearch(reader: ObjectReader, losses: Losses): Tool {
  reader.word('name', [SEARCH])
  const search = {
    allowedDomains: reader.list('allowed_domains'),
    blockedDomains: reader.list('blocked_domains'),
    maxUses: reader.takeKind('max_uses', 'number'),
    location: readLocation(reader.object('user_location'), losses),
  }
  const cached = takeCacheControl(reader, losses)
  reader.drop(losses)
  return { ...searchTool(search, reader.value), cached }
}

const CHOICES = ['auto', 'any', 'none', 'tool'] as const

interface Choice {
  readonly toolChoice: ToolChoice | undefined
  readonly parallelCalls: ParallelCalls | undefined
}

function readToolChoice(reader: ObjectReader | undefined, losses: Losses): Choice {
  if (reader === undefined) return { toolChoice: undefined, parallelCalls: undefined }
  const kind = reader.require('type', reader.word('type', CHOICES))
  const origin = reader.value
  const disables = reader.takeKind('disable_parallel_tool_use', 'boolean')
  const toolChoice: ToolChoice =
    kind === 'tool' ? { kind, name: reader.require('name', reader.text('name')), origin } : { kind, origin }
  reader.drop(losses)
  return { toolChoice, parallelCalls: disables && { allowed: !disables.isTrue, origin: disables } }
}
