import { editMembers } from '../json/edit-members.ts'
import type { JsonValue } from '../json/json-document.ts'
import { decodeText } from '../json/native.ts'
import { scanMembers } from '../json/scan-members.ts'

/** The final states of a response, whose events have their names. */
const FINAL: ReadonlySet<string> = new Set(['completed', 'incomplete', 'cancelled'])

/** Writes a whole response as the events of a stream. Everything in it, also what no client knows, is in its events. */
export function* writeResponseStream(response: JsonValue): Generator<string> {
  const events = new Events()
  const begun = withMembers(response, { status: '"in_progress"', output: '[]', usage: 'null', completed_at: 'null' })
  yield events.of('response.created', `"response":${begun}`)
  yield events.of('response.in_progress', `"response":${begun}`)
  const output = response.get('output')?.elements ?? []
  for (const [index, item] of output.entries()) yield* writeItem(item, index, events)
  const status = response.get('status')?.text ?? 'completed'
  if (FINAL.has(status)) yield events.of(`response.${status}`, `"response":${textOf(response)}`)
}

/** Numbers events from 0. Their names are their types (decision B32). */
class Events {
  #count = 0

  /** @param members JSON text */
  of(type: string, members: string): string {
    return `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#count++},${members}}\n\n`
  }
}

/** What arrives in pieces, of an item or a part: member, and the type of its events without `.delta` and `.done`. */
const ITEM_TEXTS: Readonly<Record<string, readonly [member: string, type: string]>> = {
  function_call: ['arguments', 'response.function_call_arguments'],
  mcp_call: ['arguments', 'response.mcp_call_arguments'],
  custom_tool_call: ['input', 'response.custom_tool_call_input'],
}
const PART_TEXTS: Readonly<Record<string, readonly [member: string, type: string]>> = {
  output_text: ['text', 'response.output_text'],
  refusal: ['refusal', 'response.refusal'],
  reasoning_text: ['text', 'response.reasoning_text'],
  summary_text: ['text', 'response.reasoning_summary_text'],
}

function* writeItem(item: JsonValue, index: number, events: Events): Generator<string> {
  const type = item.get('type')?.text ?? ''
  const [member = '', event = ''] = Object.hasOwn(ITEM_TEXTS, type) ? ITEM_TEXTS[type]! : []
  const begun = withMembers(item, { status: '"in_progress"', content: '[]', summary: '[]', [member]: '""' })
  yield events.of('response.output_item.added', `"output_index":${index},"item":${begun}`)
  const about = `"item_id":${JSON.stringify(item.get('id')?.text ?? '')},"output_index":${index}`
  const text = item.get(member)
  if (text !== undefined) {
    yield events.of(`${event}.delta`, `${about},"delta":${textOf(text)}`)
    const name = event.endsWith('arguments') ? `,"name":${JSON.stringify(item.get('name')?.text ?? '')}` : ''
    yield events.of(`${event}.done`, `${about},"${member}":${textOf(text)}${name}`)
  }
  for (const [at, part] of (item.get('summary')?.elements ?? []).entries()) {
    yield* writePart(part, 'response.reasoning_summary_part', `${about},"summary_index":${at}`, events)
  }
  for (const [at, part] of (item.get('content')?.elements ?? []).entries()) {
    yield* writePart(part, 'response.content_part', `${about},"content_index":${at}`, events)
  }
  yield events.of('response.output_item.done', `"output_index":${index},"item":${textOf(item)}`)
}

function* writePart(part: JsonValue, kind: string, about: string, events: Events): Generator<string> {
  const type = part.get('type')?.text ?? ''
  const [member = '', event = ''] = Object.hasOwn(PART_TEXTS, type) ? PART_TEXTS[type]! : []
  const begun = withMembers(part, { [member]: '""', annotations: '[]', logprobs: '[]' })
  yield events.of(`${kind}.added`, `${about},"part":${begun}`)
  const text = part.get(member)
  if (text !== undefined) {
    const probabilities = type === 'output_text' ? `,"logprobs":${textOf(part.get('logprobs')) || '[]'}` : ''
    yield events.of(`${event}.delta`, `${about},"delta":${textOf(text)}${probabilities}`)
    for (const [at, annotation] of (part.get('annotations')?.elements ?? []).entries()) {
      const cited = `${about},"annotation_index":${at},"annotation":${textOf(annotation)}`
      yield events.of('response.output_text.annotation.added', cited)
    }
    yield events.of(`${event}.done`, `${about},"${member}":${textOf(text)}${probabilities}`)
  }
  yield events.of(`${kind}.done`, `${about},"part":${textOf(part)}`)
}

/** The text of an object with other values of those members that it has. */
function withMembers(value: JsonValue, changes: Readonly<Record<string, string>>): string {
  const has = Object.entries(changes).filter(([name]) => value.get(name) !== undefined)
  const members = scanMembers(value.json)
  if (has.length === 0 || 'fault' in members) return textOf(value)
  return inOneLine(editMembers(members, new Map(has)))
}

function textOf(value: JsonValue | undefined): string {
  return value === undefined ? '' : inOneLine(value.json)
}

/** A line end, which is never in a string, would end the data of an event. */
function inOneLine(json: Uint8Array): string {
  return decodeText(json, 0, json.length).replace(/[\r\n]+/g, ' ')
}
