import { clock } from '#base/clock.ts'
import type { Steps } from '#base/in-slices.ts'
import { parseJson } from '#base/parse-json.ts'
import type { Refusal } from '#exchange/outcome.ts'
import { asBuffer } from '#net/body/as-buffer.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import { ForwardingSink } from '#net/body/forwarding-sink.ts'
import { HeldBytes } from '#net/body/held-bytes.ts'
import type { Abort, BodySink } from '#net/stream.ts'
import type { AnswerFailure, AnswerFilter } from '../../backend-protocol.ts'
import type { SentSecret } from '../answer/sent-secret.ts'
import { brokenStream, classifyError, reportedError, unusableAnswer } from '../answer/stream-error.ts'
import { JsonValue, parseDocument, parseInSteps } from '../json/json-document.ts'
import { decodeText, encodeText } from '../json/native.ts'
import { runForBody } from '../json/run-for-body.ts'
import { SseEvents } from '../sse/sse-events.ts'
import { readReportedError } from '../translation/read-error.ts'
import { refuseAnswer } from '../translation/whole-answer.ts'
import { writeResponseStream } from './response-stream.ts'

export interface OtherFormOptions {
  /** The client asked for a stream, and its provider sent a whole response; otherwise it is the reverse. */
  readonly streamed: boolean
  readonly claim: BodyClaim
  /** Of a whole response. */
  readonly maxBytes: number
  /** Reads what the client gets. */
  readonly inner: AnswerFilter
  /** The credential of the gateway, which errors must not show. */
  readonly secret: () => SentSecret | undefined
  /** Notes the type of an error for the log. */
  readonly failed: (type: string) => void
  /** Registers a function that is called when the request is over. */
  readonly whenOver: (stop: () => void) => void
}

/**
 * A response in the form that the client asked for, if a provider with the same API sent the other one. Nothing is lost: the last event of a
 * stream has the whole response.
 */
export class OtherForm implements AnswerFilter {
  readonly changesLength = true
  readonly mayRefuse = true
  readonly whole: boolean
  refusal: Refusal | undefined
  readonly #options: OtherFormOptions
  #isOver = false
  #failure: AnswerFailure | undefined
  #begun: (() => void) | undefined
  #cancel: (() => void) | undefined

  constructor(options: OtherFormOptions) {
    this.#options = options
    this.whole = !options.streamed
  }

  get failure(): AnswerFailure | undefined {
    return this.#failure ?? this.#options.inner.failure
  }

  /** Nothing can be sent before the end of a whole response. */
  get isJudging(): boolean {
    return !this.#isOver
  }

  whenBegun(begun: () => void): void {
    this.#begun = begun
  }

  whenOver(cancel: () => void): void {
    this.#cancel = cancel
  }

  into(sink: BodySink): BodySink {
    const { inner, streamed, claim, maxBytes, whenOver } = this.#options
    const out = inner.into(sink)
    const results: Results = {
      found: (response) => send(response.json, out),
      foundWhole: (response) => this.#sendStream(response, out),
      cancelled: () => {
        this.#isOver = true
      },
      reported: (error) => this.#refuseReported(error),
      unusable: (what) => this.#refuse(502, what, unusableAnswer(what), 'invalid_response'),
      cut: (why) => this.#refuse(502, CUT, { ...brokenStream(why), cut: undefined }, why),
      isOver: () => this.#isOver,
      whenOver,
      finish: (isEarly) => {
        this.#isOver = true
        this.#begun?.()
        // What is refused is no response that could be read.
        const to = this.refusal === undefined ? out : sink
        to.end()
        if (isEarly) this.#cancel?.()
      },
    }
    return streamed ? new WholeSink(out, claim, maxBytes, results) : new StreamSink(out, claim, maxBytes, results)
  }

  /** Yields between events. */
  *#sendStream(response: JsonValue, out: BodySink): Steps<void> {
    for (const event of writeResponseStream(response)) {
      if (this.#isOver) return
      send(encodeText(event), out)
      yield
    }
  }

  /** @param reported an object with an error of the provider */
  #refuseReported(reported: JsonValue): void {
    const error = parseJson(decodeText(reported.json))
    const { status, message } = readReportedError(error)
    const { type } = classifyError((error as { readonly error?: unknown }).error ?? error)
    this.#refuse(status, message, reportedError({ type, status }), type)
  }

  #refuse(status: number, message: string, failure: AnswerFailure, type: string): void {
    const { secret, failed } = this.#options
    this.#failure = failure
    this.refusal = refuseAnswer({ type: 'Responses' }, status, secret()?.hideIn(message) ?? message)
    failed(type)
  }
}

function send(bytes: Uint8Array, out: BodySink): void {
  out.bytes(asBuffer(bytes), 0, bytes.length)
}

const CUT = "the provider's response ended before it was complete"

/** What a sink has found. `finish` follows. */
interface Results {
  /** In a stream. */
  found(response: JsonValue): void
  /** Without one. */
  foundWhole(response: JsonValue): Steps<void>
  reported(error: JsonValue): void
  unusable(what: string): void
  cut(why: Abort | 'incomplete'): void
  /** @param isEarly the provider has not ended its response */
  finish(isEarly: boolean): void
  /** The client has left. */
  cancelled(): void
  isOver(): boolean
  /** Registers a function that is called when the request is over. */
  whenOver(stop: () => void): void
}

/** Ends a response early, so that its rest is of no interest. */
abstract class FormSink extends ForwardingSink {
  protected readonly results: Results

  constructor(sink: BodySink, results: Results) {
    super(sink)
    this.results = results
  }

  override bytes(buffer: Buffer, start: number, end: number): void {
    if (!this.results.isOver()) this.push(buffer, start, end)
  }

  override end(): void {
    this.#close('incomplete')
  }

  override abort(why: Abort): void {
    if (why !== 'cancelled') return this.#close(why)
    this.results.cancelled()
    super.abort(why)
  }

  #close(why: Abort | 'incomplete'): void {
    if (this.results.isOver()) return
    const late = this.close(why)
    if (late === undefined) this.#finish()
    else void late.then(() => this.#finish())
  }

  #finish(): void {
    if (!this.results.isOver()) this.results.finish(false)
  }

  protected abstract push(buffer: Buffer, start: number, end: number): void
  /** Nothing more comes. @returns a promise if the response is long */
  protected abstract close(why: Abort | 'incomplete'): Promise<void> | undefined
}

const ERROR = /^(?:error|response\.failed)$/
const LAST = /^response\.(?:completed|incomplete|cancelled)$/

/** How long the end of a stream may follow its last event. Then the connection is not used again. */
const TAIL_MS = 1000

/** Finds the whole response in a stream. */
class StreamSink extends FormSink {
  readonly #events: SseEvents
  #isFound = false
  #tail: { cancel(): void } | undefined

  constructor(sink: BodySink, claim: BodyClaim, maxBytes: number, results: Results) {
    super(sink, results)
    const receiver = {
      event: (name: string, data: Uint8Array) => this.#read(name, data),
      overlong: () => this.#refuseLong(),
    }
    this.#events = new SseEvents(receiver, { claim, maxBlockBytes: maxBytes })
  }

  protected push(buffer: Buffer, start: number, end: number): void {
    if (this.#isFound) return
    this.#events.push(buffer, start, end)
    if (!this.#isFound || this.results.isOver()) return
    this.#tail = clock.after(TAIL_MS, () => this.results.finish(true))
    this.results.whenOver(() => this.#tail?.cancel())
  }

  protected close(why: Abort | 'incomplete'): undefined {
    this.#tail?.cancel()
    if (!this.#isFound) this.#events.end()
    if (!this.#isFound) this.results.cut(why)
  }

  #read(name: string, data: Uint8Array): void {
    if (this.#isFound || (name !== '' && !LAST.test(name) && !ERROR.test(name))) return
    const event = parseDocument(data)
    if (!(event instanceof JsonValue)) return
    const type = name === '' ? (event.get('type')?.text ?? '') : name
    const response = event.get('response')
    const isError = ERROR.test(type)
    this.#isFound = isError || (LAST.test(type) && response !== undefined)
    if (isError) this.results.reported(response ?? event)
    else if (this.#isFound) this.results.found(response!)
  }

  #refuseLong(): void {
    if (this.#isFound) return
    this.#isFound = true
    this.results.unusable('an event of the stream is too large')
    this.results.finish(true)
  }
}

/** Reads a whole response at its end. */
class WholeSink extends FormSink {
  readonly #held: HeldBytes

  constructor(sink: BodySink, claim: BodyClaim, maxBytes: number, results: Results) {
    super(sink, results)
    this.#held = new HeldBytes(claim, maxBytes)
  }

  protected push(buffer: Buffer, start: number, end: number): void {
    if (this.#held.appendWithin(buffer, start, end)) return
    this.results.unusable('the response is too large')
    this.#held.drop()
    this.results.finish(true)
  }

  protected close(why: Abort | 'incomplete'): Promise<void> | undefined {
    const { bytes } = this.#held
    return runForBody(bytes, this.#read(bytes, why)) as Promise<void> | undefined
  }

  *#read(bytes: Uint8Array, why: Abort | 'incomplete'): Steps<void> {
    const response = yield* parseInSteps(bytes)
    if (!(response instanceof JsonValue)) this.results.cut(why)
    else if (response.get('error') !== undefined) this.results.reported(response)
    else if (response.get('output')?.kind !== 'array') this.results.unusable('the response has no output')
    else yield* this.results.foundWhole(response)
    this.#held.drop()
  }
}
