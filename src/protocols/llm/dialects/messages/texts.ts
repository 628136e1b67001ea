import type { Steps } from '#base/in-slices.ts'
import type { JsonValue } from '../../json/json-document.ts'
import type { BodyTexts, EventTexts, ExemptPlace } from '../../texts/body-texts.ts'
import { StreamNumbers } from '../../texts/call-numbers.ts'
import { type BlockOf, indexOf, readEvent, readTexts } from '../../texts/read-texts.ts'
import { compileTable, type TextTable, under } from '../../texts/text-table.ts'
import {
  ADDRESS,
  CACHE,
  CHOICE,
  CREDENTIAL,
  ENCRYPTED,
  FIXED,
  fileOf,
  ID,
  JSON_VALUE,
  METADATA,
  MODEL,
  PART,
  SCHEMA,
  signedBy,
  signedTextBy,
  TEXT,
  type Treatment,
  TYPE,
  USAGE,
  VISIBLE,
} from '../../texts/treatments.ts'
import type { WalkedPlace } from '../../texts/walked-place.ts'

type Places = Readonly<Record<string, Treatment>>

const ONE_TOOL: Places = {
  name: FIXED,
  description: VISIBLE,
  input_schema: SCHEMA,
  input_examples: FIXED,
  '{allowed_callers[],response_inclusion}': CHOICE,
  '{allowed_domains,blocked_domains,configs,mcp_server_name}': FIXED,
  model: MODEL,
  caching: CACHE,
  'url_sources.{client_tool_results,server_tool_results}.tools[].name': FIXED,
  'user_location.{city,country,region}': VISIBLE,
  'user_location.timezone': CHOICE,
}

/** A tool, or a set of tools. */
const TOOL: Places = { ...ONE_TOOL, ...under('tools[]', ONE_TOOL) }

/** Members of a block of any type. */
const BLOCK: Places = {
  '': PART,
  '{text,stdout,stderr}': TEXT,
  '{title,context,url,page_age,retrieved_at,error_message,lines[],explanation}': VISIBLE,
  source: VISIBLE,
  'source.data': fileOf('media_type'),
  'source.media_type': CHOICE,
  'source.url': ADDRESS,
  'source.file_id': ID,
  // Without a signature, it is not one of the provider.
  thinking: signedBy('signature'),
  '{signature,data,encrypted_content,encrypted_stdout}': ENCRYPTED,
  'citations[].{cited_text,document_title,title,source,url}': VISIBLE,
  'citations[].encrypted_index': ENCRYPTED,
  'citations[].file_id': ID,
  '{tool_use_id,file_id,caller.tool_id}': ID,
  '{error_code,file_type,stop_reason,trigger.category}': CHOICE,
  'transformations.oversized_image': CHOICE,
  '{name,server_name,mcp_server_name,toolset_name,tool_name}': FIXED,
  'tool_references[].tool_name': FIXED,
  input: JSON_VALUE,
  '{from,to}.model': MODEL,
  'tabs[].tab_id': ID,
  'tabs[].{title,url}': VISIBLE,
  'state_changes[].{tab_id,download_id}': ID,
  'state_changes[].{error,path,url}': VISIBLE,
  ...under('tools[]', ONE_TOOL),
  ...under('{tool,tool_changes[].tool}', { '{name,server_name}': FIXED }),
  ...under('{tool,tool_changes[].tool}.definition', TOOL),
}

/** What a tool or a server said. */
const RESULT = 'content[].content'

/** Blocks inside of a block: those of a document, and those of a result. */
function inside(block: string): Record<string, string> {
  return { [`${block}.{content,content[],source.content,source.content[]}`]: block }
}

export const MESSAGES_REQUEST: TextTable = {
  first: ['tools', 'mcp_servers', 'system', 'output_config', 'output_format', 'messages'],
  runs: {
    system: 'system',
    '{tools,mcp_servers}[]': 'system',
    '{output_config,output_format,compaction,context_management}': 'system',
    'messages[]': 'role',
    [`messages[].${RESULT}`]: 'tool',
  },
  places: {
    model: MODEL,
    'fallbacks[].*': VISIBLE,
    'fallbacks[].model': MODEL,
    '{service_tier,inference_geo,speed,betas[],fallbacks,fallbacks[].speed}': CHOICE,
    '{output_config,fallbacks[].output_config,messages[].output_config}.effort': CHOICE,
    '{output_config.format,output_format,fallbacks[].output_config.format}.schema': SCHEMA,
    '{thinking,fallbacks[].thinking}.display': CHOICE,
    '{thinking,fallbacks[].thinking}.block_binding.prefix_mismatch_behavior': CHOICE,
    metadata: METADATA,
    '{container,container.id,container.skills[].skill_id,user_profile_id,workspace_id,billing_policy.bill_to}': ID,
    'container.skills[].version': CHOICE,
    '{diagnostics,thread}.previous_message_id': ID,
    'mcp_servers[].authorization_token': CREDENTIAL,
    fallback_credit_token: CREDENTIAL,
    'mcp_servers[].url': ADDRESS,
    'mcp_servers[].{name,tool_configuration.allowed_tools[]}': FIXED,
    'compaction.instructions': VISIBLE,
    'context_management.edits[].instructions': VISIBLE,
    'context_management.edits[].keep': CHOICE,
    'context_management.edits[].{clear_tool_inputs,exclude_tools}[]': FIXED,
    'stop_sequences[]': FIXED,
    'tool_choice.name': FIXED,
    system: TEXT,
    ...under('system[]', BLOCK),
    ...under('tools[]', TOOL),
    'messages[].content': TEXT,
    ...under('messages[].content[]', BLOCK),
    'messages[].clear_at': CHOICE,
  },
  repeats: inside('messages[].content[]'),
  anywhere: { type: TYPE, role: TYPE, id: ID, cache_control: CACHE },
}

export const MESSAGES_ANSWER: TextTable = {
  first: [],
  runs: { content: 'assistant', 'content[].thinking': 'assistant', [RESULT]: 'tool' },
  places: {
    model: MODEL,
    '{stop_reason,stop_details.category}': CHOICE,
    'stop_details.{explanation,recommended_model}': VISIBLE,
    'stop_details.fallback_credit_token': CREDENTIAL,
    stop_sequence: VISIBLE,
    '{usage,context_management,diagnostics,input_transformations}': USAGE,
    'container.{id,skills[].skill_id}': ID,
    'container.{expires_at,skills[].version}': CHOICE,
    ...under('content[]', BLOCK),
    'content[].thinking': signedTextBy('signature'),
  },
  repeats: inside('content[]'),
  anywhere: { type: TYPE, role: TYPE, id: ID, cache_control: CACHE },
}

export const MESSAGES_EVENT: TextTable = {
  first: [],
  runs: {},
  places: {
    ...under('message', MESSAGES_ANSWER.places),
    ...under('content_block', BLOCK),
    'delta.{text,partial_json}': TEXT,
    // The signature comes later.
    '{delta,content_block}.thinking': FIXED,
    'delta.{signature,encrypted_content}': ENCRYPTED,
    'delta.content': VISIBLE,
    ...under('delta.citation', {
      '{cited_text,document_title,title,source,url}': VISIBLE,
      encrypted_index: ENCRYPTED,
      file_id: ID,
    }),
    ...under('delta', pick(MESSAGES_ANSWER.places, /^(?:\{?stop|container)/)),
    '{usage,context_management,input_transformations}': USAGE,
    'error.type': TYPE,
    request_id: ID,
  },
  repeats: { ...inside('content_block'), ...inside('message.content[]') },
  anywhere: { type: TYPE, role: TYPE, id: ID, cache_control: CACHE },
}

function pick(places: Places, which: RegExp): Places {
  return Object.fromEntries(Object.entries(places).filter(([path]) => which.test(path)))
}

const REQUEST = compileTable(MESSAGES_REQUEST)
const ANSWER = compileTable(MESSAGES_ANSWER)
const EVENT = compileTable(MESSAGES_EVENT)

/** Also of a request to count tokens. */
export function readRequestTexts(body: JsonValue, exempt?: ExemptPlace[]): Steps<BodyTexts> {
  return readTexts(body, REQUEST, exempt)
}

export function readAnswerTexts(body: JsonValue, exempt?: ExemptPlace[]): Steps<BodyTexts> {
  return readTexts(body, ANSWER, exempt)
}

const TYPES: ReadonlySet<string> = new Set([
  'message_start',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'message_stop',
  'ping',
  'error',
])

/** Members of a delta, each with the member of the block that it continues. */
const CONTINUED: ReadonlyMap<string, string> = new Map([
  ['text', 'text'],
  ['thinking', 'thinking'],
  ['partial_json', 'input'],
])

export function readEventTexts(
  event: JsonValue,
  exempt?: ExemptPlace[],
  { blocks } = new StreamNumbers(),
): Steps<EventTexts> {
  const type = event.get('type')?.text
  const index = indexOf(event, 0)
  const block = `content[${type === 'content_block_start' ? blocks.begin(index) : blocks.of(index)}]`
  const blockOf = ({ path: place, isName }: WalkedPlace): BlockOf | undefined => {
    if (isName) return undefined
    // A message may begin with content, which the events go on with.
    const begun = /^message\.(content\[\d+\]\.(?:text|thinking))$/.exec(place)
    if (begun !== null) return { block: begun[1]!, kind: 'delta' }
    const path = /^(delta(?!\.citation\b)|content_block)(?:\.|(?=[[{])|$)(.*)$/.exec(place)
    if (path === null || (type !== 'content_block_delta' && type !== 'content_block_start')) return undefined
    const [, holder, name] = path
    if (holder === 'content_block' && !CONTINUED.has(name!)) return undefined
    // An unknown member of a delta continues like the known ones.
    const member = CONTINUED.get(name!) ?? name!
    return { block: `${block}.${member}`, kind: 'delta', form: member === 'input' ? 'arguments' : undefined }
  }
  const closes = type === 'content_block_stop' ? [`${block}.*`] : type === 'message_stop' ? ['*'] : []
  return readEvent(event, EVENT, { isKnown: type !== undefined && TYPES.has(type), blockOf, closes, exempt })
}
