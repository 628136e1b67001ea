import { Pace, type Steps } from '#base/in-slices.ts'
import type { JsonValue } from '../../json/json-document.ts'
import type { BodyTexts, EventTexts, ExemptPlace } from '../../texts/body-texts.ts'
import { StreamNumbers } from '../../texts/call-numbers.ts'
import { type BlockOf, indexOf, readEvent, readTexts } from '../../texts/read-texts.ts'
import { compileTable, type TextTable, under } from '../../texts/text-table.ts'
import {
  ADDRESS,
  ARGUMENTS,
  CACHE,
  CHOICE,
  FILE,
  FIXED,
  fileOf,
  ID,
  LOGPROBS,
  MEDIA,
  METADATA,
  MODEL,
  PART,
  SCHEMA,
  SETTINGS,
  TEXT,
  type Treatment,
  TYPE,
  USAGE,
  VISIBLE,
} from '../../texts/treatments.ts'
import type { NumberOf, WalkedPlace } from '../../texts/walked-place.ts'

type Places = Readonly<Record<string, Treatment>>

/** Parts of a content, also those of the Messages API that compatible servers accept. */
const PARTS: Places = {
  '[]': PART,
  '[].{text,refusal,thinking,reasoning}': TEXT,
  '[].image_url': ADDRESS,
  '[].{image_url,video_url,audio_url}.url': FILE,
  '[].image_url.detail': CHOICE,
  '[].input_audio.data': MEDIA,
  '[].input_audio.format': CHOICE,
  '[].file.file_data': FILE,
  '[].file.file_id': ID,
  '[].source.data': fileOf('media_type'),
  '[].source.media_type': CHOICE,
}

const MESSAGE: Places = {
  '{content,refusal,reasoning_content,reasoning,thinking}': TEXT,
  ...under('content', PARTS),
  name: FIXED,
  'audio.id': ID,
  'audio.data': MEDIA,
  'audio.transcript': TEXT,
  '{function_call,tool_calls[].function}.name': FIXED,
  '{function_call,tool_calls[].function}.arguments': ARGUMENTS,
  'tool_calls[].custom.name': FIXED,
  'tool_calls[].custom.input': ARGUMENTS,
  tool_call_id: ID,
  'annotations[].url_citation.{title,url}': VISIBLE,
}

export const COMPLETIONS_REQUEST: TextTable = {
  first: ['tools', 'functions', 'response_format', 'messages', 'prediction'],
  runs: {
    'messages[]': 'role',
    'messages[].{reasoning_content,reasoning,thinking}': 'assistant',
    '{tools,functions}[]': 'system',
    '{response_format,web_search_options}': 'system',
    prediction: 'assistant',
  },
  places: {
    model: MODEL,
    '{service_tier,reasoning_effort,verbosity,modalities[]}': CHOICE,
    'audio.{format,voice}': CHOICE,
    '{stream_options,logit_bias}': SETTINGS,
    '{stop,stop[]}': FIXED,
    '{metadata,user,safety_identifier}': METADATA,
    '{prompt_cache_key,prompt_cache_retention,prompt_cache_options}': CACHE,
    'moderation.model': MODEL,
    'moderation.policy.{input,output}.mode': CHOICE,
    ...under('messages[]', MESSAGE),
    'prediction.content': TEXT,
    ...under('prediction.content', PARTS),
    'tools[].{function,custom}.name': FIXED,
    'tools[].function.{parameters,output_schema}': SCHEMA,
    'tools[].custom.format.grammar.definition': FIXED,
    'tools[].custom.format.grammar.syntax': CHOICE,
    'functions[].name': FIXED,
    'functions[].parameters': SCHEMA,
    'response_format.json_schema.name': FIXED,
    'response_format.json_schema.schema': SCHEMA,
    '{tool_choice,function_call}': CHOICE,
    'function_call.name': FIXED,
    'tool_choice.{function,custom}.name': FIXED,
    'tool_choice.allowed_tools.mode': CHOICE,
    'tool_choice.allowed_tools.tools[].*': FIXED,
    'tool_choice.allowed_tools.tools[].type': TYPE,
    'tool_choice.allowed_tools.tools[].{function,custom}.name': FIXED,
    'web_search_options.search_context_size': CHOICE,
    'web_search_options.user_location.approximate.timezone': CHOICE,
  },
  anywhere: { type: TYPE, role: TYPE, id: ID, cache_control: CACHE, prompt_cache_breakpoint: CACHE },
}

/** The same for whole answers and events, whose members have other names. */
function answerTable(message: 'message' | 'delta'): TextTable {
  return {
    first: [],
    runs: { [`choices[].${message}`]: 'assistant' },
    places: {
      model: MODEL,
      '{object,service_tier,system_fingerprint}': CHOICE,
      '{usage,moderation,metadata,obfuscation,prompt_filter_results}': USAGE,
      'choices[].{finish_reason,native_finish_reason}': CHOICE,
      'choices[].{content_filter_results,content_filter_result}': USAGE,
      ...under(`choices[].${message}`, MESSAGE),
      'choices[].logprobs': LOGPROBS,
    },
    anywhere: { type: TYPE, role: TYPE, id: ID },
  }
}

export const COMPLETIONS_ANSWER = answerTable('message')
export const COMPLETIONS_EVENT = answerTable('delta')

const REQUEST = compileTable(COMPLETIONS_REQUEST)
const ANSWER = compileTable(COMPLETIONS_ANSWER)
const EVENT = compileTable(COMPLETIONS_EVENT)

export function readRequestTexts(body: JsonValue, exempt?: ExemptPlace[]): Steps<BodyTexts> {
  return readTexts(body, REQUEST, exempt)
}

export function readAnswerTexts(body: JsonValue, exempt?: ExemptPlace[]): Steps<BodyTexts> {
  return readTexts(body, ANSWER, exempt)
}

/** The work for a call in a chunk. */
const WORK_PER_CALL = 256

/** A chunk: what a delta contains continues what the last ones contained. */
export function* readEventTexts(
  event: JsonValue,
  exempt?: ExemptPlace[],
  { calls } = new StreamNumbers(),
): Steps<EventTexts> {
  const closes: string[] = []
  const pace = new Pace()
  /** Of calls, by where they begin. */
  const places = new Map<number, number>()
  for (const [position, choice] of (event.get('choices')?.elements ?? []).entries()) {
    const index = indexOf(choice, position)
    if ((choice.get('finish_reason')?.text ?? '') !== '') closes.push(`choices[${index}].*`)
    for (const call of choice.get('delta')?.get('tool_calls')?.elements ?? []) {
      places.set(call.place, calls.of(index).placeOf(namesOf(call)))
      if (pace.after(WORK_PER_CALL)) yield
    }
  }
  const numberOf: NumberOf = (element, position) => places.get(element.place) ?? indexOf(element, position)
  const blockOf = (place: WalkedPlace) => blockBy(place, numberOf)
  return yield* readEvent(event, EVENT, { isKnown: isChunk(event), blockOf, closes, exempt })
}

/** What tells the pieces of a call from those of others. */
function namesOf(call: JsonValue): unknown {
  const called = call.get('function') ?? call.get('custom')
  const names = { id: call.get('id')?.beginning, function: { name: called?.get('name')?.beginning } }
  return { ...names, index: call.get('index')?.count }
}

/** Providers report errors in the middle of a stream. */
function isChunk(event: JsonValue): boolean {
  return event.get('choices')?.kind === 'array' || event.get('error') !== undefined
}

function blockBy(place: WalkedPlace, numberOf: NumberOf): BlockOf | undefined {
  if (place.isName) return undefined
  // A content may be a text in one event, and parts with the rest of it in the next ones.
  const block = place.pathBy(numberOf).replace(/^(choices\[\d+\]\.delta\.content)\[\d+\](?:\.text)?$/, '$1')
  const [choice] = /^choices\[\d+\](?!\.delta\.annotations\b)/.exec(block) ?? []
  if (choice === undefined) return undefined
  // Names usually arrive in one piece.
  if (block.endsWith('.name')) return { block, kind: 'delta', ends: true }
  const [, form] = /\.(?:function_call|function|custom)\.(arguments|input)$/.exec(block) ?? []
  if (form !== undefined) return { block, kind: 'delta', form: form as BlockOf['form'] }
  return { block, kind: 'delta', sequence: choice }
}
