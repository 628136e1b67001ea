import { parseExactJson } from '#base/exact-json.ts'
import { asBuffer } from '#net/body/as-buffer.ts'
import { decodeText } from '../json/native.ts'
import { type AnswerError, type AnswerSink, unreadableAnswer } from '../translation/answer-sink.ts'
import type { StreamLimits, StreamReader } from '../translation/dialect.ts'
import { SseEvents } from './sse-events.ts'

/** Reads an event stream of a dialect, whose events are JSON. What cannot be read ends the answer with an error. */
export abstract class EventReader implements StreamReader {
  protected readonly sink: AnswerSink
  readonly #events: SseEvents
  #isOver = false
  /** The rest of the last event is being read, which may be incomplete. */
  #isAtEnd = false

  constructor(sink: AnswerSink, { claim, maxEventBytes }: StreamLimits) {
    this.sink = sink
    const receiver = {
      event: (name: string, data: Uint8Array) => this.#read(name, data),
      overlong: () => this.#refuse('an event of the stream is too large'),
    }
    this.#events = new SseEvents(receiver, { claim, maxBlockBytes: maxEventBytes })
  }

  push(piece: Uint8Array): void {
    if (!this.#isOver) this.#events.push(asBuffer(piece))
  }

  finish(): void {
    this.#isAtEnd = true
    if (!this.#isOver) this.#events.end()
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

  #read(name: string, bytes: Uint8Array): void {
    if (this.#isOver || bytes.length === 0) return
    const data = decodeText(bytes, 0, bytes.length)
    if (this.isEndMark(data)) return
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
    if (this.#isOver) return
    this.fail(unreadableAnswer(message))
  }
}
