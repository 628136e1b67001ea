import type { Steps } from '#base/in-slices.ts'
import type { JsonValue } from '../../json/json-document.ts'
import type { BodyTexts, EventTexts, ExemptPlace } from '../../texts/body-texts.ts'
import { type BlockOf, readEvent, readTexts } from '../../texts/read-texts.ts'
import { compileTable, type TextTable, under } from '../../texts/text-table.ts'
import {
  CACHE,
  CHOICE,
  ECHO,
  FIXED,
  ID,
  LOGPROBS,
  MEDIA,
  METADATA,
  MODEL,
  SCHEMA,
  SETTINGS,
  TEXT,
  type Treatment,
  TYPE,
  USAGE,
  VISIBLE,
} from '../../texts/treatments.ts'
import type { WalkedPlace } from '../../texts/walked-place.ts'
import { ITEM_PLACES, PART_PLACES, TOOL_PLACES } from './item-texts.ts'

type Places = Readonly<Record<string, Treatment>>

/** Members that say how to answer. */
export const SETTING_PLACES: Places = {
  model: MODEL,
  '{service_tier,truncation,include[]}': CHOICE,
  'access_programs.cyber': CHOICE,
  'image.context_compression': CHOICE,
  'reasoning.{context,effort,generate_summary,mode,summary}': CHOICE,
  'prompt.version': CHOICE,
  ...under('prompt.variables.*', { ...PART_PLACES, '': VISIBLE }),
  '{previous_response_id,conversation,conversation.id}': ID,
  '{metadata,user,safety_identifier}': METADATA,
  '{prompt_cache_key,prompt_cache_retention,prompt_cache_options}': CACHE,
  '{stream_options,context_management}': SETTINGS,
  prompt_cache_diagnostics: CACHE,
  'moderation.model': MODEL,
  'moderation.policy.{input,output}.mode': CHOICE,
  tool_choice: CHOICE,
  'tool_choice.{name,server_label}': FIXED,
  'tool_choice.mode': CHOICE,
  'tool_choice.tools[].*': FIXED,
  'tool_choice.tools[].type': TYPE,
  'tool_choice.tools[].{name,server_label}': FIXED,
  'text.verbosity': CHOICE,
}

export const RESPONSES_REQUEST: TextTable = {
  first: ['tools', 'text', 'prompt', 'instructions', 'input'],
  runs: {
    '{text,prompt,instructions,tool_choice}': 'system',
    'tools[]': 'system',
    'input[]': 'item',
  },
  places: {
    ...SETTING_PLACES,
    '{instructions,input}': TEXT,
    'text.format.name': FIXED,
    'text.format.schema': SCHEMA,
    ...under('tools[]', TOOL_PLACES),
    ...under('input[]', ITEM_PLACES),
  },
  anywhere: { type: TYPE, role: TYPE, id: ID, prompt_cache_breakpoint: CACHE },
}

export const RESPONSES_ANSWER: TextTable = {
  first: [],
  runs: { 'output[]': 'item', output_text: 'assistant' },
  places: {
    ...SETTING_PLACES,
    '{instructions,tools,text,prompt,tool_choice,reasoning}': ECHO,
    '{object,status}': CHOICE,
    '{usage,moderation,content_filters}': USAGE,
    'error.code': CHOICE,
    'error.message': VISIBLE,
    'error.misalignment': USAGE,
    'incomplete_details.reason': CHOICE,
    output_text: TEXT,
    ...under('output[]', ITEM_PLACES),
  },
  anywhere: { type: TYPE, role: TYPE, id: ID, created_by: ID, prompt_cache_breakpoint: CACHE },
}

export const RESPONSES_EVENT: TextTable = {
  first: [],
  runs: {},
  places: {
    ...under('response', RESPONSES_ANSWER.places),
    ...under('item', ITEM_PLACES),
    ...under('part', PART_PLACES),
    '{delta,text,refusal,arguments,input,code,transcript}': TEXT,
    'annotation.{title,url,filename}': VISIBLE,
    'annotation.{file_id,container_id}': ID,
    logprobs: LOGPROBS,
    name: FIXED,
    '{message,command}': VISIBLE,
    'error.{code,param}': CHOICE,
    'error.message': VISIBLE,
    'error.misalignment': USAGE,
    '{param,background,output_format,quality,size,status}': CHOICE,
    'delta.{stdout,stderr}': TEXT,
    ...under('output[]', PART_PLACES),
    '{item_id,call_id,response_id}': ID,
    obfuscation: SETTINGS,
    partial_image_b64: MEDIA,
  },
  anywhere: { type: TYPE, role: TYPE, id: ID, created_by: ID, prompt_cache_breakpoint: CACHE },
}

const REQUEST = compileTable(RESPONSES_REQUEST)
const ANSWER = compileTable(RESPONSES_ANSWER)
const EVENT = compileTable(RESPONSES_EVENT)

export function readRequestTexts(body: JsonValue, exempt?: ExemptPlace[]): Steps<BodyTexts> {
  return readTexts(body, REQUEST, exempt)
}

export function readAnswerTexts(body: JsonValue, exempt?: ExemptPlace[]): Steps<BodyTexts> {
  return readTexts(body, ANSWER, exempt)
}

/** Where the members of events belong in the output; numbers are members of the event. `delta` is in all of them. */
const TARGETS: Readonly<Record<string, readonly [member: string, target: string]>> = {
  output_item: ['item', ''],
  content_part: ['part', '.content[content_index]'],
  reasoning_summary_part: ['part', '.summary[summary_index]'],
  output_text: ['text', '.content[content_index].text'],
  refusal: ['refusal', '.content[content_index].refusal'],
  reasoning_text: ['text', '.content[content_index].text'],
  reasoning_summary_text: ['text', '.summary[summary_index].text'],
  function_call_arguments: ['arguments', '.arguments'],
  mcp_call_arguments: ['arguments', '.arguments'],
  custom_tool_call_input: ['input', '.input'],
  code_interpreter_call_code: ['code', '.code'],
  shell_call_command: ['command', '.action.commands[command_index]'],
  'output_text.annotation': ['annotation', '.content[content_index].annotations[annotation_index]'],
}

/** They are about the whole response. */
const STATES: ReadonlySet<string> = new Set([
  ...['created', 'queued', 'in_progress', 'completed', 'incomplete', 'failed'].map((state) => `response.${state}`),
  'error',
])

const ENDS: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete', 'response.failed', 'error'])

/** `response.output_text.delta`: what it is about, and what happens to it. */
const NAME = /^response\.(.+)\.(added|delta|done)$/

export function readEventTexts(event: JsonValue, exempt?: ExemptPlace[]): Steps<EventTexts> {
  const type = event.get('type')?.text ?? ''
  const [, subject = '', step = ''] = NAME.exec(type) ?? []
  const about = Object.hasOwn(TARGETS, subject) ? TARGETS[subject] : undefined
  const isKnown = about !== undefined || STATES.has(type)
  const [member, where] = about ?? ['', `.${subject}[content_index]`]
  const target = `output[output_index]${where}`.replaceAll(/\w+_index/g, (name) => String(event.get(name)?.number ?? 0))
  const kind = step === 'done' ? 'whole' : 'delta'

  const blockOf = (place: WalkedPlace): BlockOf | undefined => {
    if (place.isName) return undefined
    const { path } = place
    if (path.startsWith('response.output[')) return toBlock(path.slice('response.'.length), 'whole')
    const holder = step === 'delta' ? 'delta' : member
    if (holder === '' || (path !== holder && !/^[.[{]/.test(path.slice(holder.length))) || !path.startsWith(holder)) {
      return undefined
    }
    // Annotations and names come whole.
    const ends = step === 'added' && (subject === 'output_text.annotation' || path.endsWith('.name'))
    return { ...toBlock(target + path.slice(holder.length), kind), ends }
  }
  return readEvent(event, EVENT, { isKnown, blockOf, closes: closedBy(type, step, target), exempt })
}

function toBlock(block: string, kind: BlockOf['kind']): BlockOf {
  const [, form] = /^output\[\d+\]\.(arguments|input)$/.exec(block) ?? []
  return { block, kind, form: form as BlockOf['form'] }
}

function closedBy(type: string, step: string, target: string): readonly string[] {
  if (ENDS.has(type)) return ['*']
  return step === 'done' ? [target, `${target}.*`] : []
}
