import type { Steps } from '#base/in-slices.ts'
import type { Conversation, OutputFormat, ReasoningWish, Turn } from '../../chat/conversation.ts'
import { Loops } from '../../chat/loops.ts'
import type { Losses } from '../../chat/losses.ts'
import { ObjectReader } from '../../chat/object-reader.ts'
import { Untranslatable } from '../../chat/untranslatable.ts'
import type { JsonKind, JsonValue } from '../../json/json-document.ts'
import { EFFORTS } from '../../models/models.ts'
import { ItemReader } from './read-items.ts'
import { readToolChoice, readTools } from './read-tools.ts'

const SUMMARIES = ['auto', 'concise', 'detailed'] as const

/** Reads a request of the responses API. */
export function* readRequest(body: JsonValue, losses: Losses): Steps<Conversation> {
  const loops = new Loops()
  const reader = new ObjectReader(body)
  refuseStored(reader)
  const model = reader.require('model', reader.text('model'))
  const turns = readTurns(reader, loops, losses)
  const offered = readTools(reader.list('tools'), loops, losses)
  if (loops.areWaiting) yield* loops.rest()
  const { toolChoice, tools } = readToolChoice(reader.take('tool_choice'), offered, losses)
  // Each member is looked up among all, which may be many.
  if (body.isLarge) yield
  takeDefaults(reader, losses)
  if (body.isLarge) yield
  const conversation: Conversation = {
    model,
    streamed: reader.flag('stream') ?? false,
    turns,
    tools,
    toolChoice,
    parallelCalls: readParallelCalls(reader),
    maxTokens: reader.count('max_output_tokens'),
    sampling: {
      temperature: reader.takeKind('temperature', 'number'),
      topP: reader.takeKind('top_p', 'number'),
    },
    stop: [],
    format: readText(reader.object('text'), losses),
    reasoning: readReasoning(reader, losses),
    user: readUser(reader),
    serviceTier: readTier(reader),
  }
  if (body.isLarge) yield
  reader.drop(losses)
  return conversation
}

/** What stands for texts that only the provider of the API has stored (decision B26). */
const STORED = {
  previous_response_id: 'earlier responses are not stored: send their items in input',
  conversation: 'conversations are not stored: send their items in input',
  prompt: 'the provider of this request has no stored prompts',
}

function refuseStored(reader: ObjectReader): void {
  for (const [name, why] of Object.entries(STORED)) {
    const value = reader.take(name)
    if (value !== undefined) throw new Untranslatable(value, why)
  }
  const background = reader.takeKind('background', 'boolean')
  if (background?.isTrue === true) {
    throw new Untranslatable(background, 'the provider of this request has no background responses')
  }
}

function readTurns(reader: ObjectReader, loops: Loops, losses: Losses): readonly Turn[] {
  const items = new ItemReader(loops, losses)
  const instructions = reader.take('instructions')
  if (instructions !== undefined) items.addMessage('system', instructions, instructions)
  const input = reader.require('input', reader.take('input'))
  if (isEmpty(input)) throw new Untranslatable(input, 'must not be empty')
  if (input.kind === 'string') items.addMessage('user', input, input)
  else items.addList(input)
  return items.turns
}

/** The API refuses a request that has only instructions. */
function isEmpty(input: JsonValue): boolean {
  return input.kind === 'string' ? input.text === '' : input.kind === 'array' && input.children().next() === undefined
}

/** Values that ask for what is done anyway are no losses. */
const DEFAULTS: readonly (readonly [name: string, kind: JsonKind, isDefault: (value: JsonValue) => boolean])[] = [
  ['store', 'boolean', ({ isTrue }) => !isTrue],
  ['truncation', 'string', ({ text }) => text === 'disabled'],
  // Responses have it, asked for or not.
  ['include', 'array', ({ elements }) => elements.every((each) => isText(each, 'reasoning.encrypted_content'))],
]

function takeDefaults(reader: ObjectReader, losses: Losses): void {
  for (const [name, kind, isDefault] of DEFAULTS) {
    const value = reader.takeKind(name, kind)
    if (value !== undefined && !isDefault(value)) losses.drop(value)
  }
  const options = reader.object('stream_options')
  if (options?.value.get('include_obfuscation')?.isTrue === false) options.take('include_obfuscation')
  options?.drop(losses)
}

function isText(value: JsonValue, text: string): boolean {
  return value.kind === 'string' && value.text === text
}

function readText(text: ObjectReader | undefined, losses: Losses): OutputFormat | undefined {
  const format = text?.object('format')
  const read = format && readFormat(format)
  format?.drop(losses)
  text?.drop(losses)
  return read
}

function readFormat(format: ObjectReader): OutputFormat | undefined {
  const type = format.require('type', format.word('type', ['text', 'json_object', 'json_schema']))
  if (type === 'text') return undefined
  if (type === 'json_object') return { kind: 'json' }
  const origin = format.require('schema', format.takeKind('schema', 'object'))
  return {
    kind: 'schema',
    schema: origin.json,
    name: format.text('name'),
    description: format.literal('description'),
    strict: format.flag('strict'),
    origin,
  }
}

/** `vendor_extensions.thinking_budget_tokens` is an extension: the number of tokens for models that take one. */
function readReasoning(reader: ObjectReader, losses: Losses): ReasoningWish | undefined {
  const extensions = reader.object('vendor_extensions')
  const origin = extensions?.value.get('thinking_budget_tokens')
  const budget = extensions?.count('thinking_budget_tokens')
  extensions?.drop(losses)
  const wish = reader.object('reasoning')
  const effort = wish?.word('effort', EFFORTS)
  // The older name of the same member.
  const older = wish?.word('generate_summary', SUMMARIES)
  const summary = (wish?.word('summary', SUMMARIES) ?? older) !== undefined
  wish?.drop(losses)
  if (origin !== undefined && budget === 0) return { effort: 'none', origin }
  if (origin === undefined && effort === undefined && !summary) return undefined
  return {
    ...(effort !== undefined && { effort }),
    ...(budget !== undefined && { budget }),
    summary,
    origin: origin ?? wish!.value,
  }
}

function readUser(reader: ObjectReader): JsonValue | undefined {
  const user = reader.takeKind('user', 'string')
  return reader.takeKind('safety_identifier', 'string') ?? user
}

function readParallelCalls(reader: ObjectReader): Conversation['parallelCalls'] {
  const origin = reader.takeKind('parallel_tool_calls', 'boolean')
  return origin && { allowed: origin.isTrue, origin }
}

function readTier(reader: ObjectReader): Conversation['serviceTier'] {
  const origin = reader.takeKind('service_tier', 'string')
  return origin && { name: origin.text, origin }
}
