import type { Exchange } from '#exchange/exchange.ts'
import type { LlmFacts } from '#exchange/llm-facts.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import { ForwardingSink } from '#net/body/forwarding-sink.ts'
import { HeldBytes } from '#net/body/held-bytes.ts'
import type { Head } from '#net/http/head.ts'
import { isEventStream } from '#net/http/response-rules.ts'
import type { Abort, BodySink } from '#net/stream.ts'
import type { AnswerFilter } from '../backend-protocol.ts'
import { AnswerEnd } from './answer-end.ts'
import type { AnswerError, AnswerSink } from './answer-sink.ts'
import type { AnswerContext, StreamReader } from './dialect.ts'
import { JsonValue, parseDocument } from './json/json-document.ts'
import type { KeptAnswer } from './kept-answer.ts'
import { ObservedAnswer } from './observed-answer.ts'
import { formatRefusal } from './refuse.ts'
import { classifyError, reportedError } from './stream-error.ts'
import type { AnswerTranslation } from './translate-request.ts'
import { Untranslatable } from './untranslatable.ts'

/** Of an error body, the first bytes are read. */
const MAX_ERROR_BYTES = 64 * 1024

const FRAMES = 'application/vnd.amazon.eventstream'

export interface AnswerSurroundings {
  readonly exchange: Exchange
  readonly facts: LlmFacts
  readonly kept: KeptAnswer | undefined
  readonly claim: BodyClaim
  /** Of a whole answer, and of one event of a stream. */
  readonly maxBytes: number
}

/**
 * Selects the filter that translates the response in `exchange.response`, and changes its head to that of what the client gets. The client
 * gets a stream if it asked for one, whatever the provider sent, and a whole answer otherwise.
 */
export function translateAnswer(plan: AnswerTranslation, around: AnswerSurroundings): AnswerFilter {
  const { exchange, claim } = around
  const head = exchange.response!
  const coding = head.joined('content-encoding')
  const isStream = isEventStream(head) || mediaTypeOf(head) === FRAMES
  head.remove('content-encoding')
  if (head.status < 200 || head.status > 299) {
    head.set('content-type', 'application/json')
    return new ErrorTranslation(plan, head.status, claim)
  }
  head.set('content-type', plan.streamed ? 'text/event-stream' : 'application/json')
  if (coding !== undefined && coding !== 'identity') return new RefusedAnswer(plan, 'unsupported content encoding')
  return new Translation(plan, around, isStream)
}

function mediaTypeOf(head: Head): string {
  return (head.joined('content-type') ?? '').split(';', 1)[0]!.trim().toLowerCase()
}

/** An answer of the model. */
class Translation implements AnswerFilter {
  readonly changesLength = true
  readonly whole: boolean
  readonly #plan: AnswerTranslation
  readonly #around: AnswerSurroundings
  readonly #isStream: boolean
  refusal: Refusal | undefined
  failure: AnswerFilter['failure']

  constructor(plan: AnswerTranslation, around: AnswerSurroundings, isStream: boolean) {
    this.#plan = plan
    this.#around = around
    this.#isStream = isStream
    // A whole answer that turns out to be unusable becomes a refusal with a status of its own.
    this.whole = !plan.streamed
  }

  into(sink: BodySink): BodySink {
    const { from, to, streamed, names } = this.#plan
    const { exchange, facts, kept, claim, maxBytes } = this.#around
    const out = new Outgoing(sink)
    const context = answerContext(this.#plan, exchange)
    const writer = streamed
      ? to.writeStream(context, (events) => out.write(events))
      : to.writeAnswer(context, (body) => out.bytes(body))
    const observed = new ObservedAnswer(writer, { facts, kept, names, startMonotonicMs: exchange.startMonotonicMs })
    const isKept = !streamed || to.keepsStream
    const end = new AnswerEnd(observed, { claim: isKept ? claim : undefined, maxKept: maxBytes })
    const reader = this.#isStream
      ? from.readStream(end, { maxEventBytes: maxBytes })
      : new WholeAnswer((body) => from.readAnswer(body, end), end, claim, maxBytes)
    return new TranslatingSink(sink, { reader, end, out, failed: (error) => this.#fail(error) })
  }

  #fail(error: AnswerError): void {
    const known = classifyError(error)
    this.#around.facts.errorType = known.type
    this.failure = reportedError(known)
    if (!this.#plan.streamed) this.refusal = refuseAnswer(this.#plan, error.status, error.message)
  }
}

function answerContext({ request, model }: AnswerTranslation, { context }: Exchange): AnswerContext {
  return {
    request,
    model,
    createdSeconds: Math.floor(context.now() / 1000),
    includesUsage: request.get('stream_options')?.get('include_usage')?.isTrue === true,
    newId: (prefix) => prefix + context.uuid().replaceAll('-', '').slice(0, 24),
  }
}

function refuseAnswer({ type }: AnswerTranslation, status: number, detail: string): Refusal {
  return formatRefusal(type, reject('llm-response-invalid', { status, detail }), detail)
}

/** What one call brings leaves in one piece. */
class Outgoing {
  readonly #sink: BodySink
  #events = ''

  constructor(sink: BodySink) {
    this.#sink = sink
  }

  write(events: string): void {
    this.#events += events
  }

  bytes(body: Uint8Array): void {
    this.#sink.bytes(Buffer.from(body.buffer, body.byteOffset, body.length), 0, body.length)
  }

  flush(): void {
    if (this.#events === '') return
    const bytes = Buffer.from(this.#events)
    this.#events = ''
    this.#sink.bytes(bytes, 0, bytes.length)
  }
}

interface TranslatingOptions {
  readonly reader: StreamReader
  readonly end: AnswerEnd
  readonly out: Outgoing
  /** Called when the answer has failed, before its end. */
  readonly failed: (error: AnswerError) => void
}

/** Pushes what arrives into the reader, and sends what the writer has made of it. */
class TranslatingSink extends ForwardingSink {
  readonly #options: TranslatingOptions
  #isOver = false

  constructor(sink: BodySink, options: TranslatingOptions) {
    super(sink)
    this.#options = options
  }

  override bytes(buffer: Buffer, start: number, end: number): void {
    if (this.#isOver) return
    this.#options.reader.push(buffer.subarray(start, end))
    this.#options.out.flush()
  }

  override end(): void {
    this.#options.reader.finish()
    this.#options.end.end()
    this.#finish()
  }

  override abort(why: Abort): void {
    if (why === 'cancelled') return this.sink.abort(why)
    this.#options.reader.finish()
    this.#options.end.break()
    this.#finish()
  }

  #finish(): void {
    if (this.#isOver) return
    this.#isOver = true
    const { failure } = this.#options.end
    if (failure !== undefined) this.#options.failed(failure)
    this.#options.out.flush()
    this.sink.end()
  }
}

/** Collects a whole answer and reads it at its end. */
class WholeAnswer implements StreamReader {
  readonly #read: (body: JsonValue) => void
  readonly #sink: AnswerSink
  readonly #held: HeldBytes

  constructor(read: (body: JsonValue) => void, sink: AnswerSink, claim: BodyClaim, maxBytes: number) {
    this.#read = read
    this.#sink = sink
    this.#held = new HeldBytes(claim, maxBytes)
  }

  push(piece: Buffer): void {
    if (this.#held.appendWithin(piece, 0, piece.length)) return
    this.#held.drop()
    this.#sink.fail(invalid('the response is too large'))
  }

  finish(): void {
    const body = parseDocument(this.#held.bytes)
    try {
      if (body instanceof JsonValue) this.#read(body)
      else this.#sink.fail(invalid(`the response is not JSON at byte ${body.at}`))
    } catch (error) {
      if (!(error instanceof Untranslatable)) throw error
      this.#sink.fail(invalid(error.message))
    }
    this.#held.drop()
  }
}

function invalid(message: string): AnswerError {
  return { status: 502, type: undefined, message, code: undefined, param: undefined }
}

/** An error response: the status stays, the body becomes one in the dialect of the client (decision B34). */
class ErrorTranslation implements AnswerFilter {
  readonly changesLength = true
  readonly #plan: AnswerTranslation
  readonly #status: number
  readonly #claim: BodyClaim

  constructor(plan: AnswerTranslation, status: number, claim: BodyClaim) {
    this.#plan = plan
    this.#status = status
    this.#claim = claim
  }

  into(sink: BodySink): BodySink {
    const { from, to } = this.#plan
    return new CollectingSink(sink, this.#claim, (body) => to.formatError(from.readError(this.#status, body)))
  }
}

/** Sends at the end what is made of the beginning of a body. */
class CollectingSink extends ForwardingSink {
  readonly #held: HeldBytes
  readonly #format: (body: Uint8Array) => string

  constructor(sink: BodySink, claim: BodyClaim, format: (body: Uint8Array) => string) {
    super(sink)
    this.#held = new HeldBytes(claim, MAX_ERROR_BYTES)
    this.#format = format
  }

  override bytes(buffer: Buffer, start: number, end: number): void {
    const room = MAX_ERROR_BYTES - this.#held.length
    this.#held.appendWithin(buffer, start, Math.min(end, start + room))
  }

  override end(): void {
    const body = Buffer.from(this.#format(this.#held.bytes))
    this.#held.drop()
    this.sink.bytes(body, 0, body.length)
    this.sink.end()
  }
}

/** An answer that cannot be read at all. */
class RefusedAnswer implements AnswerFilter {
  readonly changesLength = true
  readonly whole = true
  readonly refusal: Refusal

  constructor(plan: AnswerTranslation, detail: string) {
    this.refusal = refuseAnswer(plan, 502, detail)
  }

  into(sink: BodySink): BodySink {
    return new DroppingSink(sink)
  }
}

class DroppingSink extends ForwardingSink {
  override bytes(): void {}
}
