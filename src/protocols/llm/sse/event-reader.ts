import { parseExactJson } from '#base/exact-json.ts'
import { asBuffer } from '#net/body/as-buffer.ts'
import { type AnswerError, type AnswerSink, unreadableAnswer } from '../chat/answer-sink.ts'
import type { StreamLimits, StreamReader } from '../chat/dialect.ts'
import { decodeText } from '../json/native.ts'
import { SseBlock } from './sse-block.ts'
import { SseSplitter } from './sse-splitter.ts'

/** Reads an event stream of a dialect, whose events are JSON. What cannot be read ends the answer with an error. */
export abstract class EventReader implements StreamReader {
  protected readonly sink: AnswerSink
  readonly #splitter: SseSplitter
  readonly #block = new SseBlock()
  #isOver = false
  /** The rest of the last event is being read, which may be incomplete. */
  #isAtEnd = false

  constructor(sink: AnswerSink, { claim, maxEventBytes }: StreamLimits) {
    this.sink = sink
    const receiver = {
      block: (buffer: Buffer, start: number, end: number) => this.#readBlock(buffer, start, end),
      part: () => this.#refuse('an event of the stream is too large'),
    }
    this.#splitter = new SseSplitter(receiver, { claim, maxBlockBytes: maxEventBytes })
  }

  push(piece: Uint8Array): void {
    if (!this.#isOver) this.#splitter.push(asBuffer(piece), 0, piece.length)
  }

  /** An event without the empty line after it counts, because some servers omit it after the last one. */
  finish(): void {
    this.#isAtEnd = true
    const { rest } = this.#splitter
    this.#readBlock(rest, 0, rest.length)
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

  #readBlock(buffer: Buffer, start: number, end: number): void {
    if (this.#isOver) return
    const { name, data: bytes } = this.#block.read(buffer, start, end)
    if (bytes.length === 0) return
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
