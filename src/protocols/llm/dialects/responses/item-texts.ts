import { under } from '../../texts/text-table.ts'
import {
  ADDRESS,
  ARGUMENTS,
  CHOICE,
  CREDENTIAL,
  ENCRYPTED,
  FILE,
  FIXED,
  fileOf,
  ID,
  JSON_VALUE,
  LOGPROBS,
  MEDIA,
  MODEL,
  PART,
  SCHEMA,
  TEXT,
  type Treatment,
  TYPE,
  VISIBLE,
} from '../../texts/treatments.ts'

type Places = Readonly<Record<string, Treatment>>

/** A part of a content, of an output, of a summary, or of a variable of a prompt. */
export const PART_PLACES: Places = {
  '': PART,
  '{text,refusal,transcript,stdout,stderr,logs}': TEXT,
  image_url: FILE,
  file_data: FILE,
  '{file_url,url}': ADDRESS,
  file_id: ID,
  filename: VISIBLE,
  detail: CHOICE,
  audio: MEDIA,
  'outcome.type': TYPE,
  logprobs: LOGPROBS,
  'annotations[].{title,url,filename}': VISIBLE,
  'annotations[].{file_id,container_id}': ID,
}

const CONTAINER: Places = {
  '': ID,
  '{file_ids[],container_id}': ID,
  memory_limit: CHOICE,
  'network_policy.allowed_domains[]': FIXED,
  'network_policy.domain_secrets[].{domain,name}': FIXED,
  'network_policy.domain_secrets[].value': CREDENTIAL,
  'skills[].{skill_id,version}': ID,
  'skills[].{name,path}': FIXED,
  'skills[].description': VISIBLE,
  'skills[].source.data': fileOf('media_type'),
  'skills[].source.media_type': CHOICE,
}

const ONE_TOOL: Places = {
  name: FIXED,
  '{description,server_description}': VISIBLE,
  '{parameters,output_schema,input_schema}': SCHEMA,
  annotations: JSON_VALUE,
  'format.definition': FIXED,
  'format.syntax': CHOICE,
  'allowed_callers[]': CHOICE,
  '{allowed_tools[],allowed_tools.tool_names[]}': FIXED,
  require_approval: CHOICE,
  'require_approval.{always,never}.tool_names[]': FIXED,
  server_label: FIXED,
  server_url: ADDRESS,
  '{connector_id,tunnel_id,vector_store_ids[]}': ID,
  '{authorization,headers}': CREDENTIAL,
  'filters.allowed_domains[]': FIXED,
  ...under('{filters,filters.filters[],filters.filters[].filters[]}', { type: CHOICE, '{key,value,value[]}': FIXED }),
  'ranking_options.ranker': CHOICE,
  '{search_context_size,search_content_types[],execution}': CHOICE,
  'user_location.{city,country,region}': VISIBLE,
  'user_location.timezone': CHOICE,
  '{environment,action,background,complexity,input_fidelity,moderation,output_format,quality,size}': CHOICE,
  '{model,svg.model}': MODEL,
  'svg.reasoning.effort': CHOICE,
  'input_image_mask.file_id': ID,
  'input_image_mask.image_url': FILE,
  ...under('container', CONTAINER),
  ...under('environment', { ...CONTAINER, '': CHOICE }),
}

/** A tool, or a namespace of tools. */
export const TOOL_PLACES: Places = { ...ONE_TOOL, ...under('tools[]', ONE_TOOL) }

/** Actions of a computer, a shell or a search. */
const ACTION: Places = {
  '{text,pattern,query,queries[],command[],commands[],url,working_directory,user}': VISIBLE,
  '{button,keys[]}': CHOICE,
  'sources[].url': VISIBLE,
  env: JSON_VALUE,
}

/** Members of an item of an input, an output or a conversation, of any type. */
export const ITEM_PLACES: Places = {
  '': PART,
  '{content,output,code}': TEXT,
  ...under('{content,output,outputs,summary}[]', PART_PLACES),
  ...under('output', { image_url: FILE, file_id: ID }),
  '{arguments,input}': ARGUMENTS,
  '{name,namespace,server_label}': FIXED,
  '{queries[],reason,revised_prompt,error,error.message,error.content}': VISIBLE,
  '{error.code,error.type,error.param,error.moderation_details}': CHOICE,
  '{pending_safety_checks,acknowledged_safety_checks}[].message': VISIBLE,
  '{pending_safety_checks,acknowledged_safety_checks}[].code': CHOICE,
  'operation.diff': VISIBLE,
  'operation.path': VISIBLE,
  action: CHOICE,
  ...under('{action,actions[]}', ACTION),
  'results[].{text,filename}': VISIBLE,
  'results[].file_id': ID,
  'results[].attributes': JSON_VALUE,
  '{call_id,approval_request_id,container_id,caller.caller_id,caller_id}': ID,
  '{encrypted_content,fingerprint}': ENCRYPTED,
  result: FILE,
  '{status,phase,background,output_format,quality,size,execution,reasoning.effort}': CHOICE,
  'svg_usage.model': MODEL,
  ...under('environment', CONTAINER),
  ...under('tools[]', TOOL_PLACES),
  'text.format.name': FIXED,
  'text.format.schema': SCHEMA,
}
