import { parseExactJson } from '#base/exact-json.ts'
import { asBuffer } from '#net/body/as-buffer.ts'
import type { EventFrame } from '#net/event-stream/event-frame.ts'
import { EventReader } from '#net/event-stream/event-reader.ts'
import { type AnswerError, type AnswerSink, unreadableAnswer } from '../../chat/answer-sink.ts'
import type { StreamLimits, StreamReader } from '../../chat/dialect.ts'
import { decodeText } from '../../json/native.ts'
import { countAt, memberOf, textAt } from '../../json/read-value.ts'
import { readCitation, readStop, readUsage } from './read-blocks.ts'

/** The statuses that the vendor documents for its exceptions. */
const STATUSES: Readonly<Record<string, number>> = {
  accessDeniedException: 403,
  conflictException: 400,
  internalServerException: 500,
  modelErrorException: 424,
  modelNotReadyException: 429,
  modelStreamErrorException: 424,
  modelTimeoutException: 408,
  resourceNotFoundException: 404,
  serviceQuotaExceededException: 400,
  serviceUnavailableException: 503,
  throttlingException: 429,
  validationException: 400,
}

/** An exception within a stream. @param name in camel case, as the service sends it */
export function readException(name: string | undefined, payload: unknown): AnswerError {
  const type = name === undefined ? undefined : name.charAt(0).toLowerCase() + name.slice(1)
  const message = textAt(payload, 'message') ?? textAt(payload, 'Message')
  return {
    status: type !== undefined && Object.hasOwn(STATUSES, type) ? STATUSES[type]! : 500,
    type,
    message: message ?? `the provider reported ${type ?? 'an error'}`,
    code: undefined,
    param: undefined,
  }
}

export function readStream(sink: AnswerSink, limits: StreamLimits): StreamReader {
  return new ConverseStreamReader(sink, limits)
}

/** Reads an event stream of the Converse API. Texts and thoughts need not have a beginning. */
class ConverseStreamReader implements StreamReader {
  readonly #sink: AnswerSink
  readonly #frames: EventReader
  #isOver = false
  /** Calls without arguments so far. Blocks may overlap. */
  readonly #empty = new Set<number>()

  constructor(sink: AnswerSink, { claim, maxEventBytes }: StreamLimits) {
    this.#sink = sink
    this.#frames = new EventReader(claim, maxEventBytes, (frame) => this.#take(frame))
  }

  push(piece: Uint8Array): void {
    if (this.#isOver) return
    const bad = this.#frames.read(asBuffer(piece), 0, piece.length)
    if (bad !== undefined && !this.#isOver) this.#fail(unreadableAnswer(bad.detail))
  }

  /** An incomplete frame cannot be read. */
  finish(): void {}

  #take(frame: EventFrame): void {
    if (this.#isOver) return
    const type = frame.text(':message-type')
    if (type === 'error') {
      const [name, message] = [frame.text(':error-code'), frame.text(':error-message')]
      return this.#fail(readException(name, { message }))
    }
    let payload: unknown
    try {
      payload = parseExactJson(decodeText(frame.payload))
    } catch {
      if (type !== 'exception') return this.#fail(unreadableAnswer('an event of the stream is not JSON'))
    }
    if (type === 'exception') this.#fail(readException(frame.text(':exception-type'), payload))
    else this.#read(frame.text(':event-type'), payload)
  }

  #read(event: string | undefined, payload: unknown): void {
    const block = countAt(payload, 'contentBlockIndex') ?? 0
    switch (event) {
      case 'contentBlockDelta':
        return this.#delta(block, memberOf(payload, 'delta'))
      case 'contentBlockStart':
        return this.#begin(block, memberOf(memberOf(payload, 'start'), 'toolUse'))
      case 'contentBlockStop':
        if (this.#empty.has(block)) this.#arguments(block, '{}')
        return this.#sink.close(block)
      case 'messageStart':
        return this.#sink.start('', '')
      case 'messageStop':
        return readStop(payload, this.#sink)
      case 'metadata':
        return readUsage(payload, this.#sink)
    }
  }

  #begin(block: number, call: unknown): void {
    if (call === undefined) return
    // Of a tool that the provider runs itself: its arguments are those of no call, so that they are dropped (`AnswerEnd`).
    if (textAt(call, 'type') !== undefined) return this.#sink.close(block)
    this.#empty.add(block)
    this.#sink.call(block, textAt(call, 'toolUseId') ?? '', textAt(call, 'name') ?? '')
  }

  #delta(block: number, delta: unknown): void {
    const text = textAt(delta, 'text')
    if (text !== undefined) {
      if (text !== '') this.#sink.text(block, text)
      return
    }
    const input = textAt(memberOf(delta, 'toolUse'), 'input')
    if (input !== undefined) return this.#arguments(block, input)
    const reasoning = memberOf(delta, 'reasoningContent')
    if (reasoning !== undefined) return this.#reasoning(block, reasoning)
    const citation = memberOf(delta, 'citation')
    if (citation !== undefined) this.#sink.citation(block, readCitation(citation))
  }

  #arguments(block: number, text: string): void {
    if (text === '') return
    this.#empty.delete(block)
    this.#sink.arguments(block, text)
  }

  #reasoning(block: number, reasoning: unknown): void {
    const [text, signature] = [textAt(reasoning, 'text'), textAt(reasoning, 'signature')]
    if (text) this.#sink.thinking(block, text)
    if (signature) this.#sink.signature(block, signature)
    const redacted = textAt(reasoning, 'redactedContent')
    if (redacted !== undefined) this.#sink.redacted(block, redacted)
  }

  #fail(error: AnswerError): void {
    this.#isOver = true
    this.#sink.fail(error)
  }
}
