import type { FormChange } from '../answer/form-change.ts'
import type { JsonValue } from '../json/json-document.ts'
import { inPieces, textOf, withMembers } from '../json/one-line-json.ts'
import { ResponseCollector } from './collect-response.ts'

/** The two forms of the responses API. Nothing is lost: the last event of a stream has the whole response, or the others have its output. */
export const responsesForms: FormChange = {
  faultOf: (response) => (response.get('output')?.kind === 'array' ? undefined : 'the response has no output'),
  writeStream: writeResponseStream,
  collector: (hasRoom) => new ResponseCollector(hasRoom),
}

/** The final states of a response, whose events have their names. */
const FINAL: ReadonlySet<string> = new Set(['completed', 'incomplete', 'cancelled'])

/** Writes a whole response as the events of a stream. Everything in it, also what no client knows, is in its events. */
function* writeResponseStream(response: JsonValue): Generator<string | Uint8Array> {
  const events = new Events()
  const begun = withMembers(response, { status: '"in_progress"', output: '[]', usage: 'null', completed_at: 'null' })
  yield* events.of('response.created', `"response":${begun}`)
  yield* events.of('response.in_progress', `"response":${begun}`)
  const output = response.get('output')!.children()
  for (let item = output.next(); item !== undefined; item = output.next()) yield* writeItem(item, output.index, events)
  const status = response.get('status')?.text ?? 'completed'
  if (FINAL.has(status)) yield* events.of(`response.${status}`, '"response":', response)
}

type Pieces = Generator<string | Uint8Array>

/** Numbers events from 0. Their names are their types (decision B32). */
class Events {
  #count = 0

  /** @param members JSON text, and values in it */
  of(type: string, ...members: readonly (string | JsonValue)[]): Pieces {
    const begin = `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#count++},`
    return inPieces([begin, ...members, '}\n\n'])
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

/** Of a type that the gateway does not know. */
const NO_TEXT = [undefined, ''] as const

function emptied(member: string | undefined): Readonly<Record<string, string>> {
  return member === undefined ? {} : { [member]: '""' }
}

function* writeItem(item: JsonValue, index: number, events: Events): Pieces {
  const type = item.get('type')?.text ?? ''
  const [member, event] = Object.hasOwn(ITEM_TEXTS, type) ? ITEM_TEXTS[type]! : NO_TEXT
  const begun = withMembers(item, { status: '"in_progress"', content: '[]', summary: '[]', ...emptied(member) })
  yield* events.of('response.output_item.added', `"output_index":${index},"item":${begun}`)
  const about = `"item_id":${JSON.stringify(item.get('id')?.text ?? '')},"output_index":${index}`
  const text = member === undefined ? undefined : item.get(member)
  if (text !== undefined) {
    yield* events.of(`${event}.delta`, `${about},"delta":`, text)
    const name = event.endsWith('arguments') ? `,"name":${JSON.stringify(item.get('name')?.text ?? '')}` : ''
    yield* events.of(`${event}.done`, `${about},"${member}":`, text, name)
  }
  for (const [at, part] of (item.get('summary')?.elements ?? []).entries()) {
    yield* writePart(part, 'response.reasoning_summary_part', `${about},"summary_index":${at}`, events)
  }
  for (const [at, part] of (item.get('content')?.elements ?? []).entries()) {
    yield* writePart(part, 'response.content_part', `${about},"content_index":${at}`, events)
  }
  yield* events.of('response.output_item.done', `"output_index":${index},"item":`, item)
}

function* writePart(part: JsonValue, kind: string, about: string, events: Events): Pieces {
  const type = part.get('type')?.text ?? ''
  const [member, event] = Object.hasOwn(PART_TEXTS, type) ? PART_TEXTS[type]! : NO_TEXT
  const begun = withMembers(part, { ...emptied(member), annotations: '[]', logprobs: '[]' })
  yield* events.of(`${kind}.added`, `${about},"part":${begun}`)
  const text = member === undefined ? undefined : part.get(member)
  if (text !== undefined) {
    const probabilities = type === 'output_text' ? `,"logprobs":${textOf(part.get('logprobs')) || '[]'}` : ''
    yield* events.of(`${event}.delta`, `${about},"delta":`, text, probabilities)
    for (const [at, annotation] of (part.get('annotations')?.elements ?? []).entries()) {
      const cited = `${about},"annotation_index":${at},"annotation":${textOf(annotation)}`
      yield* events.of('response.output_text.annotation.added', cited)
    }
    yield* events.of(`${event}.done`, `${about},"${member}":`, text, probabilities)
  }
  yield* events.of(`${kind}.done`, `${about},"part":`, part)
}
