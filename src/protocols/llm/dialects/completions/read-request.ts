import type { Steps } from '#base/in-slices.ts'
import type { Conversation, OutputFormat, ReasoningWish, Sampling } from '../../chat/conversation.ts'
import { Loops } from '../../chat/loops.ts'
import type { Losses } from '../../chat/losses.ts'
import { expectKind, ObjectReader } from '../../chat/object-reader.ts'
import type { JsonValue } from '../../json/json-document.ts'
import { EFFORTS } from '../../models/models.ts'
import { readToolChoice, readTools } from './read-tools.ts'
import { readTurns } from './read-turns.ts'

/** Reads a request of the chat completions API. */
export function* readRequest(body: JsonValue, losses: Losses): Steps<Conversation> {
  const loops = new Loops()
  const reader = new ObjectReader(body)
  const model = reader.require('model', reader.text('model'))
  const messages = reader.filledList('messages')
  const turns = readTurns(messages, loops, losses)
  const offered = readTools(reader, loops, losses)
  const stop = readStop(reader.take('stop'), loops)
  if (loops.areWaiting) yield* loops.rest()
  const { toolChoice, tools } = readToolChoice(reader, offered, losses)
  // Each member is looked up among all, which may be many.
  if (body.isLarge) yield
  dropDefaults(reader)
  const conversation: Conversation = {
    model,
    streamed: reader.flag('stream') ?? false,
    turns,
    tools,
    toolChoice,
    parallelCalls: readParallelCalls(reader),
    maxTokens: readMaxTokens(reader),
    sampling: readSampling(reader),
    stop,
    format: readFormat(reader.object('response_format'), losses),
    reasoning: readReasoning(reader),
    user: readUser(reader),
    serviceTier: readTier(reader),
  }
  if (body.isLarge) yield
  readStreamOptions(reader.object('stream_options'), losses)
  reader.drop(losses)
  return conversation
}

/** Values that ask for what is done anyway are no losses. */
const DEFAULTS: readonly (readonly [name: string, isDefault: (value: JsonValue) => boolean])[] = [
  ['n', (value) => value.number === 1],
  ['logprobs', isFalse],
  ['store', isFalse],
  [
    'modalities',
    (value) => {
      const each = value.children()
      return each.next()?.text === 'text' && each.next() === undefined
    },
  ],
]

function isFalse(value: JsonValue): boolean {
  return value.kind === 'boolean' && !value.isTrue
}

function dropDefaults(reader: ObjectReader): void {
  for (const [name, isDefault] of DEFAULTS) {
    const value = reader.value.get(name)
    if (value !== undefined && isDefault(value)) reader.take(name)
  }
}

/** The newer name wins. */
function readMaxTokens(reader: ObjectReader): number | undefined {
  const older = reader.count('max_tokens')
  return reader.count('max_completion_tokens') ?? older
}

function readSampling(reader: ObjectReader): Sampling {
  return {
    temperature: reader.takeKind('temperature', 'number'),
    topP: reader.takeKind('top_p', 'number'),
    // An extension of many servers.
    topK: reader.takeKind('top_k', 'number'),
    frequencyPenalty: reader.takeKind('frequency_penalty', 'number'),
    presencePenalty: reader.takeKind('presence_penalty', 'number'),
    seed: reader.takeKind('seed', 'number'),
  }
}

function readStop(stop: JsonValue | undefined, loops: Loops): readonly JsonValue[] {
  if (stop === undefined) return []
  if (stop.kind === 'string') return [stop]
  const stops: JsonValue[] = []
  loops.eachOf(expectKind(stop, 'array'), (each) => stops.push(expectKind(each, 'string')))
  return stops
}

function readFormat(format: ObjectReader | undefined, losses: Losses): OutputFormat | undefined {
  if (format === undefined) return undefined
  const type = format.require('type', format.word('type', ['text', 'json_object', 'json_schema']))
  const given = format.object('json_schema')
  format.drop(losses)
  if (type === 'text') return undefined
  if (type === 'json_object') return { kind: 'json' }
  const reader = format.require('json_schema', given)
  const origin = reader.takeKind('schema', 'object')
  const name = reader.text('name')
  const description = reader.literal('description')
  const strict = reader.flag('strict')
  reader.drop(losses)
  if (origin === undefined) return { kind: 'json' }
  return { kind: 'schema', schema: origin.json, name, description, strict, origin }
}

/** `thinking_budget_tokens` is an extension: the number of tokens for models that take one. */
function readReasoning(reader: ObjectReader): ReasoningWish | undefined {
  const budgetOrigin = reader.value.get('thinking_budget_tokens')
  const effortOrigin = reader.value.get('reasoning_effort')
  const budget = reader.count('thinking_budget_tokens')
  const effort = reader.word('reasoning_effort', EFFORTS)
  if (budget === 0) return { effort: 'none', origin: budgetOrigin! }
  const origin = budgetOrigin ?? effortOrigin
  if (origin === undefined) return undefined
  // A chat client sees thoughts in `reasoning_content`, and has no member to ask for them.
  const summary = effort !== 'none' || budget !== undefined
  return { ...(effort !== undefined && { effort }), ...(budget !== undefined && { budget }), summary, origin }
}

function readUser(reader: ObjectReader): JsonValue | undefined {
  const user = reader.takeKind('user', 'string')
  return reader.takeKind('safety_identifier', 'string') ?? user
}

function readParallelCalls(reader: ObjectReader): Conversation['parallelCalls'] {
  const origin = reader.takeKind('parallel_tool_calls', 'boolean')
  if (origin !== undefined) return { allowed: origin.isTrue, origin }
  // An answer has only one call of a function.
  const functions = reader.value.get('tools') === undefined ? reader.value.get('functions') : undefined
  return functions && { allowed: false, origin: functions }
}

function readTier(reader: ObjectReader): Conversation['serviceTier'] {
  const origin = reader.takeKind('service_tier', 'string')
  return origin && { name: origin.text, origin }
}

/** The gateway itself sees to `include_usage`. */
function readStreamOptions(options: ObjectReader | undefined, losses: Losses): void {
  if (options === undefined) return
  options.flag('include_usage')
  if (options.value.get('include_obfuscation')?.isTrue === false) options.take('include_obfuscation')
  options.drop(losses)
}
