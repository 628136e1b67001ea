import { clock } from '#base/clock.ts'
import type { Steps } from '#base/in-slices.ts'
import { parseJson } from '#base/parse-json.ts'
import type { LlmFacts } from '#exchange/llm-facts.ts'
import type { Refusal } from '#exchange/outcome.ts'
import type { SentSecret } from '#exchange/sent-secret.ts'
import { asBuffer } from '#net/body/as-buffer.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import { ForwardingSink } from '#net/body/forwarding-sink.ts'
import { HeldBytes } from '#net/body/held-bytes.ts'
import type { Abort, BodySink } from '#net/stream.ts'
import type { AnswerFailure, AnswerFilter } from '../../backend-protocol.ts'
import { JsonValue, parseInSteps } from '../json/json-document.ts'
import { decodeText, encodeText } from '../json/native.ts'
import { runForBody } from '../json/run-for-body.ts'
import type { ClientFormat } from '../request/route-type.ts'
import { SseEvents } from '../sse/sse-events.ts'
import { readReportedError } from '../translation/read-error.ts'
import { refuseAnswer, refuseReported } from '../translation/whole-answer.ts'
import { type Collected, type FormChange, type StreamCollector, TOO_LARGE } from './form-change.ts'
import { brokenStream, classifyError, noteError, unusableAnswer } from './stream-error.ts'

export interface OtherFormOptions {
  readonly type: ClientFormat
  readonly forms: FormChange
  /** The client wants a last event with usage, where its API has one. */
  readonly includesUsage: boolean
  /** The client asked for a stream, and its provider sent a whole response; otherwise it is the reverse. */
  readonly streamed: boolean
  readonly claim: BodyClaim
  /** Of a whole response. */
  readonly maxBytes: number
  /** Reads what the client gets. */
  readonly inner: AnswerFilter
  /** The credential of the gateway, which errors must not show. */
  readonly secret: () => SentSecret | undefined
  /** Gets the type of an error. */
  readonly facts: LlmFacts
  /** Registers a function that is called when the request is over. */
  readonly whenOver: (stop: () => void) => void
}

/** A response in the form that the client asked for, if a provider with the same API sent the other one. Nothing of it is lost. */
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
    const { inner, streamed, forms, claim, maxBytes, whenOver } = this.#options
    const out = inner.into(sink)
    const results: Results = {
      found: (collected) => this.#take(collected, out),
      foundWhole: (response) => this.#sendStream(response, out),
      cancelled: () => {
        this.#isOver = true
      },
      cut: (why) => {
        this.#options.facts.errorType = why
        this.#refuse(CUT, { ...brokenStream(why), cut: undefined })
      },
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
    const limits = { claim, maxBytes }
    return streamed ? new WholeSink(out, limits, results) : new StreamSink(out, forms, limits, results)
  }

  #take(collected: Collected, out: BodySink): void {
    if (collected.kind === 'whole') send(collected.body, out)
    else if (collected.kind === 'error') this.#refuseReported(collected.error)
    else this.#refuseUnusable(collected.what)
  }

  #refuseUnusable(what: string): void {
    this.#options.facts.errorType = 'llm-response-invalid'
    this.#refuse(what, unusableAnswer(what))
  }

  /** Yields between pieces. */
  *#sendStream(response: JsonValue, out: BodySink): Steps<void> {
    const { forms, includesUsage } = this.#options
    if (response.get('error') !== undefined) return this.#refuseReported(parseJson(decodeText(response.json)))
    const fault = forms.faultOf(response)
    if (fault !== undefined) return this.#refuseUnusable(fault)
    for (const piece of forms.writeStream(response, includesUsage)) {
      if (this.#isOver) return
      send(typeof piece === 'string' ? encodeText(piece) : piece, out)
      yield
    }
  }

  /** @param reported an object with an error of the provider */
  #refuseReported(reported: unknown): void {
    const { facts, type, secret } = this.#options
    const { status, message } = readReportedError(reported)
    const error = classifyError((reported as { readonly error?: unknown }).error ?? reported)
    const failure = noteError({ type: error.type, status }, facts)
    const shown = secret()?.hideIn(message) ?? message
    this.#failure = failure
    this.refusal = refuseReported({ type }, { status, message: shown, failure }, facts)
  }

  #refuse(message: string, failure: AnswerFailure): void {
    this.#failure = failure
    this.refusal = refuseAnswer(this.#options, 502, message)
  }
}

function send(bytes: Uint8Array, out: BodySink): void {
  out.bytes(asBuffer(bytes), 0, bytes.length)
}

const CUT = "the provider's response ended before it was complete"

/** What a sink has found. `finish` follows. */
interface Results {
  /** In a stream. */
  found(collected: Collected): void
  /** Without one. */
  foundWhole(response: JsonValue): Steps<void>
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

interface Limits {
  readonly claim: BodyClaim
  readonly maxBytes: number
}

/** How long the end of a stream may follow its last event. Then the connection is not used again. */
const TAIL_MS = 1000

/** Reads a stream as a whole answer. */
class StreamSink extends FormSink {
  readonly #events: SseEvents
  readonly #collector: StreamCollector
  #kept = 0
  /** What the stream is, once it is known. */
  #found: Collected['kind'] | undefined
  #tail: { cancel(): void } | undefined

  constructor(sink: BodySink, forms: FormChange, { claim, maxBytes }: Limits, results: Results) {
    super(sink, results)
    this.#collector = forms.collector((length) => {
      this.#kept += length
      return this.#kept <= maxBytes && claim.take(length)
    })
    const receiver = {
      event: (name: string, data: Uint8Array) => this.#read(name, data),
      overlong: () => this.#refuseLong(),
    }
    this.#events = new SseEvents(receiver, { claim, maxBlockBytes: maxBytes })
  }

  protected push(buffer: Buffer, start: number, end: number): void {
    if (this.#found !== undefined) return
    this.#events.push(buffer, start, end)
    if (this.#found === undefined || this.results.isOver()) return
    if (this.#found === 'unusable') return this.results.finish(true)
    const tail = clock.after(TAIL_MS, () => this.results.finish(true))
    this.#tail = tail
    this.results.whenOver(() => tail.cancel())
  }

  protected close(why: Abort | 'incomplete'): undefined {
    this.#tail?.cancel()
    this.#events.end()
    // A complete answer is one, however its stream ends.
    if (this.#found === undefined) this.#take(this.#collector.end())
    if (this.#found === undefined) this.results.cut(why)
  }

  #read(name: string, data: Uint8Array): void {
    if (this.#found === undefined) this.#take(this.#collector.event(name, data))
  }

  #take(collected: Collected | undefined): void {
    if (collected === undefined) return
    this.#found = collected.kind
    this.results.found(collected)
  }

  #refuseLong(): void {
    if (this.#found === undefined) this.#take({ kind: 'unusable', what: 'an event of the stream is too large' })
  }
}

/** Reads a whole response at its end. */
class WholeSink extends FormSink {
  readonly #held: HeldBytes

  constructor(sink: BodySink, { claim, maxBytes }: Limits, results: Results) {
    super(sink, results)
    this.#held = new HeldBytes(claim, maxBytes)
  }

  protected push(buffer: Buffer, start: number, end: number): void {
    if (this.#held.appendWithin(buffer, start, end)) return
    this.results.found(TOO_LARGE)
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
    else yield* this.results.foundWhole(response)
    this.#held.drop()
  }
}
