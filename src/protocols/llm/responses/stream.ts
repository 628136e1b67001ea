import type { LlmFacts } from '#exchange/llm-facts.ts'
import { memberOf, objectAt, textAt } from '../json/read-value.ts'
import type { KeptAnswer } from '../kept-answer.ts'
import { isEventOf, type StreamFormat } from '../stream-format.ts'
import { keepItemEvent } from './keep-answer.ts'
import { readResponsesUsage } from './response.ts'

const END_EVENTS = ['response.completed', 'response.incomplete', 'response.failed', 'error']

/** Streams of the responses API, ended by the event with the whole response. */
export class ResponsesStream implements StreamFormat {
  readonly finishMember = ''
  readonly readsAll = false
  #id = ''
  #created = 0
  #model = ''

  isEnd(piece: Uint8Array, start: number, data: number): boolean {
    return END_EVENTS.some((type) => isEventOf(piece, start, data, type))
  }

  isOutput(piece: Uint8Array, start: number, data: number): boolean {
    return isEventOf(piece, start, data, 'response.output_text.delta')
  }

  read(event: unknown, facts: LlmFacts): void {
    const response = objectAt(event, 'response')
    this.#id = textAt(response, 'id') ?? this.#id
    this.#model = textAt(response, 'model') ?? this.#model
    const created = memberOf(response, 'created_at')
    if (typeof created === 'number') this.#created = created
    facts.responseModel = textAt(response, 'model') ?? facts.responseModel
    facts.serviceTier = textAt(response, 'service_tier') ?? facts.serviceTier
    readResponsesUsage(memberOf(response, 'usage'), facts)
  }

  keep(event: unknown, kept: KeptAnswer): void {
    keepItemEvent(event, kept)
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
