import type { ResponseOutputItem } from 'openai/resources/responses/responses'
import type { AnswerError, AnswerSink, AnswerUsage, Citation, StopReason } from '../../chat/answer-sink.ts'
import type { AnswerContext } from '../../chat/dialect.ts'
import { SequentialAnswer } from '../../chat/sequential-answer.ts'
import { STOP_REASONS } from '../../chat/stop-reasons.ts'
import type { JsonValue } from '../../json/json-document.ts'
import { encode } from '../../json/splice.ts'
import { writeJson } from '../../json/write-json.ts'
import { formatError } from '../completions/errors.ts'
import { CustomCallItem, FunctionCallItem } from './call-items.ts'
import { ResponseEvents } from './events.ts'
import { MessageItem } from './message-item.ts'
import type { ItemPlace, OutputItem } from './output-item.ts'
import { ReasoningItem } from './reasoning-item.ts'
import { ResponseObject, type WrittenResponse } from './response-object.ts'

/** What becomes of the response at its end. */
export type Finished = (response: WrittenResponse, error: AnswerError | undefined) => void

/**
 * Makes a response of blocks that do not overlap (`SequentialAnswer`). An item ends when the next one begins or the response ends, because only
 * then it is known whether it is complete, and whether a message goes on.
 */
class ResponseWriter implements AnswerSink {
  readonly #context: AnswerContext
  readonly #events: ResponseEvents | undefined
  readonly #finished: Finished
  readonly #output: ResponseOutputItem[] = []
  #response: ResponseObject | undefined
  #textTools: ReadonlySet<string> | undefined
  #item: OutputItem | undefined
  #reason: StopReason = 'end'
  #usage: AnswerUsage | undefined
  #error: AnswerError | undefined

  /** @param events undefined: no stream is written */
  constructor(context: AnswerContext, events: ResponseEvents | undefined, finished: Finished) {
    this.#context = context
    this.#events = events
    this.#finished = finished
  }

  start(_id: string, model: string): void {
    this.#response = new ResponseObject(model, this.#context)
    if (this.#events === undefined) return
    const response = this.#response.write({ status: 'in_progress', output: [], usage: undefined })
    this.#events.emitResponse('response.created', response)
    this.#events.emitResponse('response.in_progress', response)
  }

  text(_block: number, text: string): void {
    if (text !== '') this.#message.text(text)
  }

  refusal(_block: number, text: string): void {
    if (text !== '') this.#message.refusal(text)
  }

  thinking(block: number, text: string): void {
    const item = this.#thought(block)
    if (text !== '') item.text(text)
  }

  signature(block: number, text: string): void {
    this.#thought(block).signature(text)
  }

  redacted(block: number, data: string): void {
    this.#thought(block).redacted(data)
  }

  call(_block: number, id: string, name: string): void {
    const called = { callId: id === '' ? this.#context.newId('call_') : id, name }
    this.#textTools ??= textTools(this.#context.request)
    if (this.#textTools.has(name)) this.#begin('ctc_', (place) => new CustomCallItem(place, called))
    else this.#begin('fc_', (place) => new FunctionCallItem(place, called))
  }

  arguments(_block: number, text: string): void {
    const item = this.#item
    if (text === '') return
    if (item instanceof FunctionCallItem || item instanceof CustomCallItem) item.arguments(text)
  }

  citation(_block: number, citation: Citation): void {
    // The API has no form for one without a URL.
    if (citation.url !== undefined) this.#message.citation(citation)
  }

  close(): void {
    if (this.#item instanceof MessageItem) this.#item.closeBlock()
  }

  finish(reason: StopReason): void {
    this.#reason = reason
    this.#endItem(STOP_REASONS.responses.incomplete[reason] === undefined ? 'completed' : 'incomplete')
  }

  usage(usage: AnswerUsage): void {
    this.#usage = usage
  }

  fail(error: AnswerError): void {
    this.#error = error
    if (this.#item !== undefined) this.#output.push(this.#item.write('incomplete'))
  }

  end(): void {
    const response = this.#response ?? new ResponseObject('', this.#context)
    const [output, usage, error] = [this.#output, this.#usage, this.#error]
    if (error !== undefined) {
      const written = { code: errorCode(error.status), message: error.message } as const
      return this.#finished(response.write({ status: 'failed', output, usage, error: written }), error)
    }
    const reason = STOP_REASONS.responses.incomplete[this.#reason]
    const status = reason === undefined ? 'completed' : 'incomplete'
    this.#finished(response.write({ status, output, usage, reason }), undefined)
  }

  get #message(): MessageItem {
    if (this.#item instanceof MessageItem) return this.#item
    return this.#begin('msg_', (place) => new MessageItem(place))
  }

  #thought(block: number): ReasoningItem {
    if (this.#item instanceof ReasoningItem && this.#item.block === block) return this.#item
    return this.#begin('rs_', (place) => new ReasoningItem(place, block, this.#context.provider))
  }

  #begin<Item extends OutputItem>(prefix: string, build: (place: ItemPlace) => Item): Item {
    this.#endItem('completed')
    const item = build({ id: this.#context.newId(prefix), index: this.#output.length, events: this.#events })
    this.#item = item
    return item
  }

  #endItem(status: 'completed' | 'incomplete'): void {
    if (this.#item === undefined) return
    this.#item.finish()
    const item = this.#item.write(status)
    this.#events?.emit({ type: 'response.output_item.done', output_index: this.#output.length, item })
    this.#output.push(item)
    this.#item = undefined
  }
}

/** The codes of the API that are about no file or image. */
function errorCode(status: number): 'rate_limit_exceeded' | 'invalid_prompt' | 'server_error' {
  if (status === 429) return 'rate_limit_exceeded'
  return status < 500 ? 'invalid_prompt' : 'server_error'
}

/** The tools of a client that take a text (type `custom`): it expects calls of that type. */
function textTools(request: JsonValue): ReadonlySet<string> {
  const names = new Set<string>()
  for (const tool of request.get('tools')?.elements ?? []) {
    const name = tool.get('name')
    if (name?.kind === 'string' && tool.get('type')?.text === 'custom') names.add(name.text)
  }
  return names
}

/** Writes a response. */
export function writeAnswer(context: AnswerContext, done: (body: Uint8Array) => void): AnswerSink {
  const writer = new ResponseWriter(context, undefined, (response, error) =>
    done(error === undefined ? writeJson(response) : encode(formatError(error))),
  )
  return new SequentialAnswer(writer, context.room)
}

/** Writes the events of a response. In them, items follow each other: what begins before a call is complete is held. */
export function writeStream(context: AnswerContext, write: (events: string) => void): AnswerSink {
  const events = new ResponseEvents(write)
  const writer = new ResponseWriter(context, events, (response) =>
    events.emitResponse(`response.${response.status}`, response),
  )
  return new SequentialAnswer(writer, context.room)
}
