import { parseExactJson } from '#base/exact-json.ts'
import { SseEventTooLarge, SseParser } from '../../http/sse.ts'
import type { AnswerError, AnswerSink } from '../answer-sink.ts'
import type { StreamLimits, StreamReader } from '../dialect.ts'
import { encode } from '../json/splice.ts'

const END_OF_EVENT = encode('\n\n')

/** Reads an event stream of a dialect, whose events are JSON. What cannot be read ends the answer with an error. */
export abstract class EventReader implements StreamReader {
  protected readonly sink: AnswerSink
  readonly #parser: SseParser
  #isOver = false
  /** The rest of the last event is being read, which may be incomplete. */
  #isAtEnd = false

  constructor(sink: AnswerSink, limits: StreamLimits) {
    this.sink = sink
    this.#parser = new SseParser(limits.maxEventBytes)
  }

  push(piece: Uint8Array): void {
    if (this.#isOver) return
    try {
      for (const { event, data } of this.#parser.push(piece)) if (data !== '') this.#read(event, data)
    } catch (error) {
      if (!(error instanceof SseEventTooLarge)) throw error
      this.#refuse('an event of the stream is too large')
    }
  }

  finish(): void {
    this.#isAtEnd = true
    this.push(END_OF_EVENT)
  }

  /** @param name from the event line; empty if there is none */
  protected abstract event(name: string, event: unknown): void

  /** Whether the data, which may be no JSON, ends the stream. */
  protected isEndMark(_data: string): boolean {
    return false
  }

  /** The provider said that the stream is over: the client need not wait for the end of the body. */
  protected complete(): void {
    this.#isOver = true
    this.sink.end()
  }

  protected fail(error: AnswerError): void {
    this.#isOver = true
    this.sink.fail(error)
  }

  #read(name: string, data: string): void {
    if (this.#isOver || this.isEndMark(data)) return
    let event: unknown
    try {
      event = parseExactJson(data)
    } catch {
      if (!this.#isAtEnd) this.#refuse('an event of the stream is not JSON')
      return
    }
    this.event(name, event)
  }

  #refuse(message: string): void {
    this.fail({ status: 502, type: undefined, message, code: undefined, param: undefined })
  }
}
