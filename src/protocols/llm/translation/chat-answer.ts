import { clock } from '#base/clock.ts'
import { runAtOnce, runInSlices, type Steps } from '#base/in-slices.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { Refusal } from '#exchange/outcome.ts'
import { sentSecret } from '#exchange/sent-secret.ts'
import { asBuffer } from '#net/body/as-buffer.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import { ForwardingSink } from '#net/body/forwarding-sink.ts'
import { HeldBytes } from '#net/body/held-bytes.ts'
import type { Abort, BodySink } from '#net/stream.ts'
import type { AnswerFailure, AnswerFilter } from '../../backend-protocol.ts'
import { AnswerEnd } from '../chat/answer-end.ts'
import { AnswerRoom } from '../chat/answer-room.ts'
import { type AnswerError, type AnswerSink, isUnreadable, unreadableAnswer } from '../chat/answer-sink.ts'
import type { AnswerContext, StreamReader } from '../chat/dialect.ts'
import { Untranslatable } from '../chat/untranslatable.ts'
import { brokenStream, classifyError, noteError } from '../facts/stream-error.ts'
import type { JsonValue } from '../json/json-document.ts'
import { encodeText } from '../json/native.ts'
import { isLongBody } from '../json/run-for-body.ts'
import type { AnswerSurroundings } from './answer-surroundings.ts'
import { ObservedAnswer } from './observed-answer.ts'
import type { ChatTranslation } from './translate-request.ts'
import { parseAnswerInSteps, refuseAnswer, refuseReported } from './whole-answer.ts'

/** Of what a stream keeps, in UTF-16 units: streams have no limit of their own, but this takes memory. */
const MAX_STREAM = 16 * 1024 * 1024

/** An answer of the model. */
export class ChatAnswer implements AnswerFilter {
  readonly changesLength = true
  readonly mayRefuse = true
  readonly whole: boolean
  readonly #plan: ChatTranslation
  readonly #around: AnswerSurroundings
  readonly #isStream: boolean
  #begun: (() => void) | undefined
  #cancel: (() => void) | undefined
  #isOver = false
  refusal: Refusal | undefined
  failure: AnswerFilter['failure']

  constructor(plan: ChatTranslation, around: AnswerSurroundings, isStream: boolean) {
    this.#plan = plan
    this.#around = around
    this.#isStream = isStream
    // A whole answer that turns out to be unusable becomes a refusal with a status of its own.
    this.whole = !plan.streamed
  }

  /** A stream of a whole answer begins with the end of the answer. */
  get isJudging(): boolean {
    return !this.#isStream && !this.#isOver
  }

  whenBegun(begun: () => void): void {
    this.#begun = begun
  }

  whenOver(cancel: () => void): void {
    this.#cancel = cancel
  }

  into(sink: BodySink): BodySink {
    const { from, to, streamed, names } = this.#plan
    const { exchange, facts, kept, claim, maxBytes } = this.#around
    const out = new Outgoing(sink)
    const isKept = !streamed || to.keepsStream
    const room = isKept ? undefined : new AnswerRoom(claim, MAX_STREAM, () => end.overflow())
    const context = { ...answerContext(this.#plan, exchange), room }
    const stream = streamed ? to.writeStream(context, (events) => out.write(events)) : undefined
    const writer = stream ?? to.writeAnswer(context, (body) => out.bytes(body))
    const { startMonotonicMs, response } = exchange
    const id = from.idHeader && response?.joined(from.idHeader)
    const begun = () => {
      if (this.#isStream) this.#begin()
    }
    const observed = new ObservedAnswer(writer, { facts, kept, names, id, startMonotonicMs, begun })
    const end = new AnswerEnd(observed, {
      claim: isKept ? claim : undefined,
      maxKept: streamed ? MAX_STREAM : maxBytes,
      clean: (error) => withoutSecret(error, exchange),
    })
    const reader = this.#isStream
      ? from.readStream(end, { maxEventBytes: maxBytes, claim })
      : new WholeAnswer((body) => from.readAnswer(body, end), end, claim, maxBytes)
    const failed = (error: AnswerError, why: Abort | 'incomplete') => this.#fail(error, end, why)
    const cancel = () => this.#cancel?.()
    const over = (stop: () => void) => exchange.context.whenOver(stop)
    const finished = () => {
      this.#isOver = true
      this.#begin()
    }
    return new TranslatingSink(sink, { reader, end, out, failed, finished, cancel, over })
  }

  #fail(error: AnswerError, { isCut, isFinished }: AnswerEnd, why: Abort | 'incomplete'): void {
    const { facts } = this.#around
    if (isCut) facts.errorType = why
    // The refusal is that of the translation, also if the connection broke.
    const failure = isCut
      ? { ...brokenStream(why), cut: undefined }
      : noteError({ type: classifyError(error).type, status: error.status }, facts)
    this.failure = failure
    const isUnsent = this.whole || !this.#isStream || this.#begun !== undefined
    if (isUnsent && !isFinished) this.refusal = this.#refuse(error, failure)
    this.#begin()
  }

  #refuse(error: AnswerError, failure: AnswerFailure): Refusal {
    const { status, message } = error
    if (isUnreadable(error)) return refuseAnswer(this.#plan, status, message)
    return refuseReported(this.#plan, { status, message, failure }, this.#around.facts)
  }

  #begin(): void {
    this.#begun?.()
    this.#begun = undefined
  }
}

function withoutSecret(error: AnswerError, exchange: Exchange): AnswerError {
  const secret = sentSecret(exchange)
  if (secret === undefined) return error
  const hide = (text: string | undefined) => text && secret.hideIn(text)
  const { type, message, code, param } = error
  return { ...error, type: hide(type), message: secret.hideIn(message), code: hide(code), param: hide(param) }
}

function answerContext({ request, model, provider }: ChatTranslation, { context }: Exchange): AnswerContext {
  return {
    request,
    model,
    provider,
    createdSeconds: Math.floor(context.now() / 1000),
    newId: (prefix) => prefix + digitsOf(context.uuid()),
  }
}

/** The first 24 digits of a UUID: pieces of fixed length take a third of the time of a search for hyphens. */
function digitsOf(uuid: string): string {
  return uuid.slice(0, 8) + uuid.slice(9, 13) + uuid.slice(14, 18) + uuid.slice(19, 23) + uuid.slice(24, 28)
}

/** What one call brings leaves in one piece. */
class Outgoing {
  readonly #sink: BodySink
  #events = ''

  constructor(sink: BodySink) {
    this.#sink = sink
  }

  end(): void {
    this.flush()
    this.#sink.end()
  }

  write(events: string): void {
    this.#events += events
  }

  bytes(body: Uint8Array): void {
    this.#sink.bytes(asBuffer(body), 0, body.length)
  }

  flush(): void {
    if (this.#events === '') return
    const bytes = asBuffer(encodeText(this.#events))
    this.#events = ''
    this.#sink.bytes(bytes, 0, bytes.length)
  }
}

interface TranslatingOptions {
  readonly reader: StreamReader
  readonly end: AnswerEnd
  readonly out: Outgoing
  /** Called when the answer has failed, before its end; `why`: how its stream ended. */
  readonly failed: (error: AnswerError, why: Abort | 'incomplete') => void
  /** Called at the end of the answer, before that of the body. */
  readonly finished: () => void
  /** Cancels the rest of the provider's response. */
  readonly cancel: () => void
  /** Registers a function that is called when the request is over. */
  readonly over: (stop: () => void) => void
}

/** How long the end of a response may follow the end of its answer. Then the connection is not used again. */
const TAIL_MS = 1000

/** Pushes what arrives into the reader, and sends what the writer has made of it. */
class TranslatingSink extends ForwardingSink {
  readonly #options: TranslatingOptions
  #isOver = false
  #tail: { cancel(): void } | undefined

  constructor(sink: BodySink, options: TranslatingOptions) {
    super(sink)
    this.#options = options
  }

  override bytes(buffer: Buffer, start: number, end: number): void {
    if (this.#isOver) return
    const { reader, end: answer, out, cancel } = this.#options
    reader.push(buffer.subarray(start, end))
    if (answer.failure !== undefined) {
      this.#finish()
      return cancel()
    }
    out.flush()
    if (answer.isEnded) this.#awaitEnd()
  }

  /** The answer is complete, and its response should end at once. Some never do, or go on with something else. */
  #awaitEnd(): void {
    // What was written may have ended the request: a guard has rejected it.
    if (this.#tail !== undefined || this.#isOver) return
    const { over, cancel } = this.#options
    this.#tail = clock.after(TAIL_MS, () => {
      this.#finish()
      cancel()
    })
    over(() => this.#tail?.cancel())
  }

  override end(): void {
    if (this.#isOver) return
    const { reader } = this.#options
    const steps = reader.finishInSteps?.()
    const late = steps === undefined ? reader.finish() : runInSlices(this.#flushing(steps))
    if (late instanceof Promise) void late.then(() => this.#conclude())
    else this.#conclude()
  }

  /** What each step has written leaves with it. */
  *#flushing(steps: Steps<void>): Steps<void> {
    while (steps.next().done !== true) {
      this.#options.out.flush()
      yield
    }
  }

  #conclude(): void {
    if (this.#isOver) return
    this.#options.end.end()
    this.#finish()
  }

  override abort(why: Abort): void {
    if (this.#isOver) return
    if (why === 'cancelled') {
      this.#isOver = true
      this.#tail?.cancel()
      return this.sink.abort(why)
    }
    this.#options.reader.finish()
    this.#options.end.break()
    this.#finish(why)
  }

  #finish(why: Abort | 'incomplete' = 'incomplete'): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#tail?.cancel()
    const { failure } = this.#options.end
    if (failure !== undefined) this.#options.failed(failure, why)
    this.#options.finished()
    this.#options.out.end()
  }
}

/** Collects a whole answer and reads it at its end. */
class WholeAnswer implements StreamReader {
  readonly #read: (body: JsonValue) => Steps<void>
  readonly #sink: AnswerSink
  readonly #held: HeldBytes

  constructor(read: (body: JsonValue) => Steps<void>, sink: AnswerSink, claim: BodyClaim, maxBytes: number) {
    this.#read = read
    this.#sink = sink
    this.#held = new HeldBytes(claim, maxBytes)
  }

  push(piece: Buffer): void {
    if (this.#held.appendWithin(piece, 0, piece.length)) return
    this.#held.drop()
    this.#sink.fail(unreadableAnswer('the response is too large'))
  }

  finish(): void {
    runAtOnce(this.#finish())
  }

  finishInSteps(): Steps<void> | undefined {
    return isLongBody(this.#held.bytes) ? this.#finish() : undefined
  }

  *#finish(): Steps<void> {
    // Nothing of the answer has arrived, as in a stream without events.
    if (this.#held.length === 0) return
    try {
      yield* this.#read(yield* parseAnswerInSteps(this.#held.bytes))
    } catch (error) {
      if (!(error instanceof Untranslatable)) throw error
      this.#sink.fail(unreadableAnswer(error.message))
    }
    this.#held.drop()
  }
}
