import { type Outcome, proceed, reject } from '#exchange/outcome.ts'
import { afterwards } from '#exchange/step.ts'
import type { Head } from '#net/http/head.ts'
import { type Abort, BODY_CHUNKED, BODY_NONE, type SendableBody } from '#net/stream.ts'
import { BodyInput, type InputOwner, type InputUse } from './body-input.ts'
import { BodyOutput, type BodyShape } from './body-output.ts'
import {
  type BodyMutation,
  CONTINUE_AND_REPLACE,
  type CommonResponse,
  type HeaderMutation,
  type ProcessingResponse,
} from './messages.ts'
import type { MessageModes, Modes } from './modes.ts'
import { editTrailers, mutateHead } from './mutate-head.ts'
import { bodyPart, headersPart, replacement, trailersPart } from './parts.ts'
import type { Processed, Talk } from './talk.ts'

/** Bytes of a body that are buffered for the processor (specification 2, 2.2.7; decision A-78). */
const MAX_BUFFERED_BYTES = 8192

const NOTHING = new Uint8Array(0)

/**
 * Where the processing of one message is. `head`, `body`, `trailers`: the part that the processor answers next. `collecting`: a body is being
 * buffered. `passing`: the rest is forwarded without the processor, but it gets the trailers.
 */
type Stage = 'ahead' | 'head' | 'collecting' | 'body' | 'passing' | 'trailers' | 'over'

/** The part of a conversation that is about one message: headers, then body, then trailers. */
export class Half implements InputOwner, Processed {
  readonly message: keyof Modes
  startMs = 0
  isAsked = false
  readonly #talk: Talk
  #stage: Stage = 'ahead'
  #body!: SendableBody
  #input: BodyInput | undefined
  #output: BodyOutput | undefined
  /** The body goes to the processor while it arrives. */
  #streams = false
  #sentBytes = false
  /** The processor knows that the message is complete. */
  #sentAll = false
  #sentTrailers = false
  #isReplaced = false
  /** Only the beginning of the body was buffered. */
  #isBeginning = false
  #inputOver = false
  #trailers: Head | undefined
  /** A body in memory, while the processor has the trailers. */
  #whole: Uint8Array | undefined
  /** The outgoing body is being buffered for later steps, which the decision waits for. */
  #isBuffering = false
  #outcome: { readonly outcome: Outcome } | undefined
  #waiting: PromiseWithResolvers<Outcome> | undefined

  constructor(talk: Talk, message: keyof Modes) {
    this.#talk = talk
    this.message = message
  }

  get isOver(): boolean {
    return this.#stage === 'over'
  }

  /** The processor has to answer something before this message is complete. */
  get awaits(): boolean {
    return this.#stage === 'head' || this.#stage === 'body' || this.#stage === 'trailers'
  }

  get isActive(): boolean {
    return this.#stage !== 'ahead' && this.#stage !== 'over'
  }

  /** The step of this message has no decision yet. */
  get isWaiting(): boolean {
    return this.isActive && this.#outcome === undefined
  }

  /** More of the body is queued than its receiver takes. */
  get full(): boolean {
    return this.#output?.full === true
  }

  get queuedBytes(): number {
    return this.#output?.queuedBytes ?? 0
  }

  /** It is the processor's turn. While a body streams, it may wait for all of it. */
  get due(): boolean {
    if (!this.awaits || this.full) return false
    return !this.#streams || this.#stage === 'trailers' || this.#sentAll || this.#talk.backed
  }

  get #modes(): MessageModes {
    return this.#talk.modes[this.message]
  }

  get #head(): Head {
    const { request, response } = this.#talk.exchange
    return this.message === 'request' ? request : response!
  }

  /** @returns why it is invalid */
  #mutate(mutation: HeaderMutation | undefined): string | undefined {
    return mutateHead(this.#head, mutation, this.message === 'request' ? ':path' : ':status')
  }

  /** Whether the processor sees anything of the message, as far as its head tells. */
  get #isProcessed(): boolean {
    const { headers, body, trailers } = this.#modes
    const { kind, trails } = this.#body
    return headers || (kind !== BODY_NONE && (body !== 'None' || (trailers && trails === true)))
  }

  /** Processes the message until it may be forwarded. Its body may continue afterwards. */
  start(): Outcome | Promise<Outcome> {
    const { exchange, isOver, failure } = this.#talk
    this.#body = exchange.bodies[this.message].outgoing()
    if (isOver || !this.#isProcessed) {
      this.#finish()
      return proceed
    }
    if (failure !== undefined) return failure
    this.startMs = exchange.context.monotonic()
    this.isAsked = true
    if (this.#modes.headers) this.#sendHead()
    else this.#processBody()
    if (this.#outcome !== undefined) return this.#outcome.outcome
    this.#waiting = Promise.withResolvers()
    return afterwards(exchange, this.#waiting.promise, (outcome) => outcome)
  }

  #sendHead(): void {
    const { exchange } = this.#talk
    const hasBody = this.#body.kind !== BODY_NONE
    this.#stage = 'head'
    this.#talk.send(headersPart(this.message, exchange, !hasBody))
    // The processor may wait for the body before it answers.
    if (hasBody && this.#modes.body === 'FullDuplexStreamed') this.#stream()
  }

  #processBody(): void {
    const { kind, length, trails } = this.#body
    const { body: mode, trailers } = this.#modes
    if (kind === BODY_NONE) return this.#finish()
    if (mode === 'FullDuplexStreamed') return this.#stream()
    if (mode === 'None') return trailers && trails === true ? this.#pass(this.#body) : this.#finish()
    if (mode === 'Buffered' && length > MAX_BUFFERED_BYTES) return this.#refuseLarge()
    this.#stage = 'collecting'
    this.#read('hold')
  }

  #stream(): void {
    const { trails } = this.#body
    this.#streams = true
    this.#output = this.#outputOf({ kind: BODY_CHUNKED, length: -1, trails: trails === true })
    if (this.#stage !== 'head') this.#forwardStream()
    this.#read('send')
  }

  /** The outgoing body is what the processor sends, of any length. */
  #forwardStream(): void {
    this.#stage = 'body'
    this.#head.remove('content-length')
    this.#install(this.#output!)
  }

  #outputOf(shape: BodyShape): BodyOutput {
    return new BodyOutput(
      shape,
      (bytes) => this.hold(bytes),
      () => this.resume(),
    )
  }

  #read(use: InputUse): void {
    this.#input = new BodyInput(this, use, MAX_BUFFERED_BYTES)
    this.#body.pipe(this.#input)
  }

  /** There may be room again, in either direction. */
  resume(): void {
    this.#input?.resume()
    this.#talk.changed()
  }

  // Called by the input.

  receiverBacked(use: 'send' | 'pass'): boolean {
    return this.full || (use === 'send' && this.#talk.backed)
  }

  received(use: 'send' | 'pass', bytes: Uint8Array): void {
    if (use === 'pass') return this.#output!.write(bytes)
    this.#sentBytes = true
    this.#sendBody(bytes, false)
  }

  hold(bytes: number): void {
    this.#talk.exchange.bodies[this.message].hold(bytes)
  }

  overflowed(): void {
    if (this.#talk.isOver) return this.#bodyAnswered(undefined)
    if (this.#modes.body === 'Buffered') return this.#refuseLarge()
    this.#isBeginning = true
    this.#stage = 'body'
    this.#sendBody(this.#input!.beginning(MAX_BUFFERED_BYTES), false)
  }

  ended(trailers: Head | undefined): void {
    this.#inputOver = true
    this.#trailers = trailers
    const { use } = this.#input!
    if (use === 'drop') this.#output?.end(this.#sentTrailers ? undefined : trailers)
    else if (use === 'pass') this.#endPassed()
    else if (use === 'send') this.#endSent()
    else if (this.#stage === 'collecting') this.#sendCollected()
  }

  broken(why: Abort): void {
    // A client that has disconnected ends the whole request.
    if (this.message === 'request' || this.#outcome !== undefined) return this.#output?.abort(why)
    this.#settle(this.#talk.exchange.bodies.response.broken(why))
    this.#talk.abandon()
  }

  #sendCollected(): void {
    if (this.#talk.isOver) return this.#bodyAnswered(undefined)
    this.#stage = 'body'
    this.#sendBody(this.#input!.beginning(MAX_BUFFERED_BYTES), !this.#sendsTrailers)
  }

  #endSent(): void {
    this.#sentAll = true
    if (this.#sendsTrailers) this.#sendTrailers()
    else this.#sendBody(NOTHING, true)
  }

  #endPassed(): void {
    if (this.#stage !== 'passing' || !this.#sendsTrailers) {
      this.#output!.end(this.#trailers)
      return this.#finish()
    }
    this.#stage = 'trailers'
    this.#sendTrailers()
  }

  get #sendsTrailers(): boolean {
    return this.#trailers !== undefined && this.#modes.trailers && !this.#talk.isOver
  }

  #sendBody(body: Uint8Array, endOfStream: boolean): void {
    this.#talk.send(bodyPart(this.message, body, endOfStream))
  }

  #sendTrailers(): void {
    this.#sentTrailers = true
    this.#talk.send(trailersPart(this.message, this.#trailers!))
  }

  // Called for answers of the processor.

  answerHead(answer: ProcessingResponse, response: CommonResponse = {}): void {
    if (this.#stage !== 'head') return this.#unexpected('headers')
    const { headerMutation, status, bodyMutation } = response
    const bad = this.#talk.headersAnswered(this.message, answer) ?? this.#mutate(headerMutation)
    if (bad !== undefined) return this.#talk.fail(bad)
    if (status === CONTINUE_AND_REPLACE) return this.#replaceBody(bodyMutation)
    if (this.#streams) return this.#forwardStream()
    this.#processBody()
  }

  answerBody(response: CommonResponse = {}): void {
    if (this.#stage !== 'body') return this.#unexpected('a body')
    if (this.#streams) this.#streamAnswered(response.bodyMutation)
    else this.#bodyAnswered(response)
  }

  answerTrailers(mutation: HeaderMutation | undefined): void {
    const isExpected = this.#stage === 'trailers' || (this.#stage === 'body' && this.#streams && this.#sentTrailers)
    if (!isExpected) return this.#unexpected('trailers')
    editTrailers(this.#trailers!, mutation)
    this.#endWithTrailers()
  }

  #unexpected(what: string): void {
    // The processor has replaced the body, but it had a part of the old one before.
    if (this.#isReplaced && this.#streams) return
    this.#talk.fail(`an answer to ${what} of the ${this.message} that it was not asked for`)
  }

  /** The processor replaces the body, and sees nothing more of this message. */
  #replaceBody(mutation: BodyMutation | undefined): void {
    const bytes = replacement(mutation)
    const drains = this.#streams || (this.message === 'response' && this.#body.kind !== BODY_NONE)
    if (bytes === undefined) {
      if (!this.#streams) return this.#finish()
      if (!this.#restoreStream()) this.#talk.fail('it kept a body after it had received a part of it')
      return
    }
    this.#isReplaced = true
    if (this.message === 'request' || !drains) {
      this.#input?.change('drop')
      this.#talk.exchange.bodies[this.message].replace(bytes)
      return this.#finish()
    }
    // The backend's body is read to its end, because its content may count and its connection is reused.
    const output = this.#outputOf({ kind: BODY_CHUNKED, length: -1, trails: this.#body.trails === true })
    this.#output = output
    output.write(bytes)
    this.#head.remove('content-length')
    this.#install(output)
    if (this.#input === undefined) this.#read('drop')
    else if (this.#inputOver) output.end(this.#trailers)
    else this.#input.change('drop')
    this.#finish()
  }

  #streamAnswered(mutation: BodyMutation | undefined): void {
    const streamed = mutation?.streamedResponse
    if (streamed === undefined) return this.#talk.fail('an answer to a streamed body without streamed_response')
    const { body = NOTHING, endOfStream = false } = streamed
    this.#output!.write(body)
    if (!endOfStream) return
    if (this.#sentTrailers) {
      this.#stage = 'trailers'
      return
    }
    // The rest of the body of a backend is read to its end.
    if (this.#inputOver || this.message === 'request') this.#output!.end(this.#trailers)
    if (!this.#inputOver) this.#input!.change('drop')
    this.#finish()
  }

  /** @param response undefined: the processor leaves the body as it is */
  #bodyAnswered(response: CommonResponse | undefined): void {
    const { headers, body: mode } = this.#modes
    if (headers && mode === 'Buffered') {
      const bad = this.#mutate(response?.headerMutation)
      if (bad !== undefined) return this.#talk.fail(bad)
    }
    const replaced = replacement(response?.bodyMutation)
    const held = this.#input!.take()
    if (this.#inputOver && !this.#isBeginning) {
      this.#whole = replaced ?? held
      if (!this.#sendsTrailers) return this.#endWithTrailers()
      this.#stage = 'trailers'
      return this.#sendTrailers()
    }
    const begun = Math.min(held.length, MAX_BUFFERED_BYTES)
    const beginning = replaced ?? held.subarray(0, begun)
    const { kind, length, trails } = this.#body
    const all = { kind, length: length < 0 ? -1 : length - begun + beginning.length, trails: trails === true }
    this.#pass(all, beginning, held.subarray(begun))
  }

  /** Forwards the rest of the body as it is, after these bytes. */
  #pass(shape: BodyShape, ...bytes: readonly Uint8Array[]): void {
    const output = this.#outputOf(shape)
    this.#output = output
    for (const piece of bytes) output.write(piece)
    this.#stage = this.#modes.trailers && shape.trails === true ? 'passing' : 'over'
    this.#install(output)
    if (this.#input === undefined) this.#read('pass')
    else if (this.#inputOver) this.#endPassed()
    else this.#input.change('pass')
    if (this.#stage === 'over') this.#finish()
  }

  #endWithTrailers(): void {
    const { exchange } = this.#talk
    if (this.message === 'response' && this.#trailers !== undefined) exchange.trailers = this.#trailers
    if (this.#whole === undefined) this.#output!.end(this.#trailers)
    else exchange.bodies[this.message].replace(this.#whole, this.#trailers)
    this.#finish()
  }

  // How it ends.

  /**
   * The processor has ended the conversation normally.
   * @returns false if it keeps a part of the message
   */
  release(): boolean {
    switch (this.#stage) {
      case 'head':
        if (this.#streams) return this.#restoreStream()
        this.#finish()
        return true
      case 'body':
        if (this.#streams) return this.#restoreStream()
        this.#bodyAnswered(undefined)
        return true
      case 'trailers':
        this.#endWithTrailers()
        return true
      default:
        return true
    }
  }

  /** Forwards a body that was to be streamed as it is. @returns false if the processor has a part of it */
  #restoreStream(): boolean {
    if (this.#sentBytes) return false
    if (this.#stage === 'head') this.#install(this.#output!)
    this.#stage = 'over'
    if (this.#inputOver) this.#output!.end(this.#trailers)
    else this.#input!.change('pass')
    this.#finish()
    return true
  }

  /** Ends the message with this outcome, now. */
  end(outcome: NonNullable<Outcome> | Error): void {
    const isSettled = this.#outcome !== undefined
    this.#stage = 'over'
    if (isSettled) this.#talk.exchange.context.interrupt(outcome)
    else if (!(outcome instanceof Error)) this.#settle(outcome)
    else this.#waiting?.reject(outcome)
  }

  /** Leaves the message as it is: another message, or the end of the request, decides. */
  drop(): void {
    this.#stage = 'over'
  }

  /** Continues without the processor, which was not asked (`explain`). */
  skip(): void {
    if (!this.isActive) return
    this.#stage = 'over'
    this.isAsked = false
    this.#settle(proceed)
  }

  #refuseLarge(): void {
    const field = `extProc.processingOptions.${this.message}BodyMode: Buffered`
    const limit = `the limit of the body is ${MAX_BUFFERED_BYTES} bytes (${field})`
    const more = this.message === 'request' ? { status: 413, limit } : {}
    this.#stage = 'over'
    this.#settle(reject('ext-proc-failed', { detail: limit, ...more }))
    this.#talk.abandon()
  }

  #install(output: BodyOutput): void {
    const again = this.#talk.exchange.bodies[this.message].replace(output)
    if (again === undefined) return this.#settle(proceed)
    this.#isBuffering = true
    again.then(
      (refusal) => this.#settle(refusal),
      (error: unknown) => this.#waiting?.reject(error),
    )
  }

  #finish(): void {
    this.#stage = 'over'
    if (!this.#isBuffering) this.#settle(proceed)
    this.#talk.finished()
  }

  #settle(outcome: Outcome): void {
    if (this.#outcome !== undefined) return
    this.#outcome = { outcome }
    this.#talk.settled(this, outcome)
    this.#waiting?.resolve(outcome)
  }
}
