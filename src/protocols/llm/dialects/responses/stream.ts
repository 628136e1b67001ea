import type { LlmFacts } from '#exchange/llm-facts.ts'
import type { KeptAnswer } from '../../facts/kept-answer.ts'
import { noteNames, noteTier } from '../../facts/note-names.ts'
import { isEventOf, type StreamFormat } from '../../facts/stream-format.ts'
import { wantedMembers } from '../../json/member-reader.ts'
import { memberOf, objectAt, textAt } from '../../json/read-value.ts'
import type { SseBlock } from '../../sse/sse-block.ts'
import { keepItemEvent } from './keep-answer.ts'
import { noteIncomplete, noteStatus, readResponsesUsage } from './response.ts'

const END_EVENTS = ['response.completed', 'response.incomplete', 'response.failed', 'response.cancelled']

const RESPONSE = ['id', 'status', 'incomplete_details.reason', 'model', 'created_at', 'service_tier', 'usage', 'error']

const MEMBERS = wantedMembers(['type', 'code', 'error', ...RESPONSE.map((member) => `response.${member}`)])

/** Streams of the responses API, ended by the event with the whole response. */
export class ResponsesStream implements StreamFormat {
  readonly finishMember = ''
  readonly readsAll = false
  readonly members = MEMBERS
  #id = ''
  #created = 0
  #model = ''

  isEnd(block: SseBlock): boolean {
    return END_EVENTS.some((type) => isEventOf(block, type))
  }

  /** The start of an item that is a call has its name. */
  isOutput(event: unknown): boolean {
    const type = textAt(event, 'type') ?? ''
    if (type === 'response.output_item.added')
      return textAt(memberOf(event, 'item'), 'type')?.endsWith('_call') === true
    return type.startsWith('response.') && type.endsWith('.delta') && textAt(event, 'delta') !== ''
  }

  read(event: unknown, facts: LlmFacts): void {
    const response = objectAt(event, 'response')
    this.#id = textAt(response, 'id') ?? this.#id
    this.#model = textAt(response, 'model') ?? this.#model
    const created = memberOf(response, 'created_at')
    if (typeof created === 'number') this.#created = created
    noteNames(textAt(response, 'id'), textAt(response, 'model'), facts)
    noteTier(textAt(response, 'service_tier'), facts)
    noteStatus(textAt(response, 'status'), facts)
    noteIncomplete(textAt(memberOf(response, 'incomplete_details'), 'reason'), facts)
    readResponsesUsage(memberOf(response, 'usage'), facts)
  }

  keep(event: unknown, kept: KeptAnswer): void {
    keepItemEvent(event, kept)
  }

  formatRefusal(_status: number, code: string, message: string, events: number): string {
    return `event: error\ndata: ${JSON.stringify({ type: 'error', code, message, param: null, sequence_number: events })}\n\n`
  }

  /** Events are numbered from 0 without gaps. */
  formatBreak(message: string, events: number): string {
    const response = {
      id: this.#id,
      object: 'response',
      created_at: this.#created,
      status: 'failed',
      error: { code: 'server_error', message },
      incomplete_details: null,
      model: this.#model,
      output: [],
      usage: null,
    }
    const data = JSON.stringify({ type: 'response.failed', sequence_number: events, response })
    return `event: response.failed\ndata: ${data}\n\n`
  }
}
