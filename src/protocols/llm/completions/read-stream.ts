import { type SseEvent, SseEventTooLarge, SseParser } from '../../http/sse.ts'
import type { AnswerSink } from '../answer-sink.ts'
import type { StreamLimits, StreamReader } from '../dialect.ts'
import { countAt, elementsOf, memberOf, objectAt, textAt } from '../json/read-value.ts'
import { encode } from '../json/splice.ts'
import { readReportedError } from './errors.ts'
import { MessageBlocks } from './message-blocks.ts'
import { readUsage } from './usage.ts'

const END_OF_EVENT = encode('\n\n')
const END_MARK = '[DONE]'

export function readStream(sink: AnswerSink, limits: StreamLimits): StreamReader {
  return new CompletionsStreamReader(sink, limits)
}

/** Reads a stream of chat completion chunks. Only the first choice counts: the gateway asks for one. */
class CompletionsStreamReader implements StreamReader {
  readonly #sink: AnswerSink
  readonly #parser: SseParser
  readonly #message: MessageBlocks
  #serviceTier: string | undefined
  #isStarted = false
  #isFinished = false
  #isOver = false
  /** The rest of the last event is being read, which may be incomplete. */
  #isAtEnd = false

  constructor(sink: AnswerSink, limits: StreamLimits) {
    this.#sink = sink
    this.#parser = new SseParser(limits.maxEventBytes)
    this.#message = new MessageBlocks(sink)
  }

  push(piece: Uint8Array): void {
    if (this.#isOver) return
    try {
      for (const event of this.#parser.push(piece)) this.#event(event)
    } catch (error) {
      if (!(error instanceof SseEventTooLarge)) throw error
      this.#fail('an event of the stream is too large')
    }
  }

  finish(): void {
    this.#isAtEnd = true
    this.push(END_OF_EVENT)
  }

  #event({ event, data }: SseEvent): void {
    if (this.#isOver || data === '') return
    if (data.startsWith(END_MARK)) return this.#end()
    let chunk: unknown
    try {
      // Not the exact parser: the only numbers are counts and positions.
      chunk = JSON.parse(data)
    } catch {
      if (!this.#isAtEnd) this.#fail('an event of the stream is not JSON')
      return
    }
    if (event === 'error' || (memberOf(chunk, 'error') ?? undefined) !== undefined) return this.#error(chunk)
    this.#chunk(chunk)
  }

  #chunk(chunk: unknown): void {
    this.#serviceTier = textAt(chunk, 'service_tier') ?? this.#serviceTier
    const choice = elementsOf(memberOf(chunk, 'choices')).find((each) => (countAt(each, 'index') ?? 0) === 0)
    // Before the first choice, some providers send facts of their filters, without an id.
    if (choice !== undefined) this.#choice(choice, chunk)
    const usage = objectAt(chunk, 'usage')
    if (usage !== undefined) this.#sink.usage(readUsage(usage, this.#serviceTier))
  }

  #choice(choice: unknown, chunk: unknown): void {
    if (!this.#isStarted) {
      this.#isStarted = true
      this.#sink.start(textAt(chunk, 'id') ?? '', textAt(chunk, 'model') ?? '')
    }
    this.#message.add(memberOf(choice, 'delta'))
    const reason = textAt(choice, 'finish_reason')
    if (reason) this.#finish(reason)
  }

  #finish(reason: string): void {
    if (this.#isFinished) return
    this.#isFinished = true
    this.#message.finish(reason)
  }

  #end(): void {
    this.#finish('stop')
    this.#isOver = true
  }

  #error(event: unknown): void {
    this.#isOver = true
    this.#sink.fail(readReportedError(event))
  }

  #fail(message: string): void {
    this.#isOver = true
    this.#sink.fail({ status: 502, type: undefined, message, code: undefined, param: undefined })
  }
}
