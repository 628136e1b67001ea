import type { RequestBodyAccess } from '#exchange/bodies.ts'
import type { BodyUse } from '#exchange/body-use.ts'
import { EMPTY_BODY, recordedBody, UNREAD_BODY, wholeBody } from '#exchange/known-body.ts'
import type { Refusal } from '#exchange/outcome.ts'
import { refuseLargeBody } from '#exchange/refuse-large-body.ts'
import { type CollectLimits, collectBody, collectStart, PartialBody } from '#net/body/collect-body.ts'
import { FixedBody } from '#net/body/fixed-body.ts'
import { KeptBody } from '#net/body/kept-body.ts'
import { RecordingSink } from '#net/body/recording-sink.ts'
import { TeedBody } from '#net/body/teed-body.ts'
import type { Head } from '#net/http/head.ts'
import { BODY_NONE, type BodySink, type BodySource, type SendableBody } from '#net/stream.ts'
import { contentOf, decodeRequestBody } from './decode-request-body.ts'
import { asKnown, type Buffered, type Collecting, finishSoon, isAbort, isWhole, MessageBody } from './message-body.ts'

/** A larger body is not kept for a retry (decision A-93). */
const REPLAY_LIMIT = 65_536

/** The body of a request, from the client to the backend. */
export class RequestBody extends MessageBody implements RequestBodyAccess {
  /** The client's body, if it is copied for other backends. */
  #teed: TeedBody | undefined
  /** Replaces the client's body: what a server that a policy asks has made of it. */
  #processed: BodySource | undefined
  /** Replaces the client's body if its beginning was read, or if it is kept for another attempt. */
  #partial: PartialBody | KeptBody | undefined
  /** What policies have judged, and the body that it was decoded from. */
  #content: { readonly body: Uint8Array; readonly content: Uint8Array } | undefined
  /** The trailers of a body that was buffered. */
  #trailers: Head | undefined
  #recording: RecordingSink | undefined

  protected get message(): 'request' {
    return 'request'
  }

  /** There is a body for the backend, and it has not been buffered. */
  get streams(): boolean {
    return this.owner.exchange.requestBody.kind === 'unread' && this.#source.kind !== BODY_NONE
  }

  /** The client's body, or what policies have made of it. */
  get #source(): BodySource {
    return this.#teed ?? this.#processed ?? this.owner.stream.body
  }

  replace(body: BodySource | Uint8Array, trailers?: Head): Promise<Refusal | undefined> | undefined {
    const { exchange, decision } = this.owner
    const { kind: before } = exchange.requestBody
    this.#partial = undefined
    this.#trailers = trailers
    exchange.newRequestBody = undefined
    if (body instanceof Uint8Array) {
      this.owner.claim.takeAnyway(body.length)
      exchange.requestBody = wholeBody(body)
      return undefined
    }
    exchange.requestBody = UNREAD_BODY
    this.#processed = body
    if (before === 'unread') return undefined
    const { maxBufferBytes } = decision.frontend!
    return this.read(maxBufferBytes, before === 'large' ? 'prefix' : true).then((unread) => {
      const large = exchange.requestBody.kind === 'large' && before !== 'large'
      return unread ?? (large ? refuseLargeBody('body-too-large', maxBufferBytes) : undefined)
    })
  }

  /**
   * A copy of the body for another backend than that of the request; before `outgoing`. Undefined: the request has none.
   * @param givenUp called when the copy will not be complete
   */
  copy(limits: CollectLimits, givenUp: () => void): Uint8Array | BodySource | undefined {
    const { newRequestBody, requestBody } = this.owner.exchange
    const known = newRequestBody ?? requestBody.whole
    if (known !== undefined) {
      if (!limits.claim.take(known.length)) givenUp()
      return known
    }
    const source = this.#partial ?? this.#source
    if (source.kind === BODY_NONE) return undefined
    this.#teed ??= new TeedBody(source)
    this.#partial = undefined
    return this.#teed.copy(limits, givenUp)
  }

  read(maxBytes: number, use: Exclude<BodyUse, false>): Promise<Refusal | undefined> {
    return new Promise((resolve) => this.collect(maxBytes, use, resolve))
  }

  /**
   * The same without a promise: most bodies have arrived with their head. `done` may be called before this returns, or never. A refusal comes
   * later, and so does the beginning of a body whose rest follows.
   */
  collect(maxBytes: number, use: Exclude<BodyUse, false>, done: Collecting): void {
    if (this.#source.kind === BODY_NONE) {
      this.owner.exchange.requestBody = EMPTY_BODY
      return done(undefined)
    }
    // An earlier attempt may have sent a part of it.
    const body = this.#partial instanceof KeptBody ? this.#partial.detach() : this.#source
    this.#partial = undefined
    const limits = { maxBytes, claim: this.owner.claim, givesWay: true }
    const collectUse = use === true ? collectBody : collectStart
    collectUse(body, limits, (result) => this.#collected(result, done))
  }

  #collected(result: Buffered, done: Collecting): void {
    const { exchange, isWaiting } = this.owner
    // Without a waiting request, a promise stays pending and is garbage.
    if (!isWaiting || isAbort(result)) return
    if (result === 'no-memory') return finishSoon(done, this.noMemory())
    exchange.requestBody = asKnown(result)
    if (isWhole(result)) this.#trailers = result.trailers
    if (result instanceof PartialBody) {
      this.#partial = result
      return finishSoon(done, undefined)
    }
    done(undefined)
  }

  async decode(maxBytes: number): Promise<Refusal | undefined> {
    const { exchange } = this.owner
    const refusal = await decodeRequestBody(exchange, maxBytes)
    return refusal ?? this.keep((exchange.newRequestBody ?? exchange.requestBody.whole)!.length)
  }

  /** Decoded once for all policies. */
  async content(): Promise<Uint8Array | Refusal> {
    const { exchange, decision } = this.owner
    const { maxBufferBytes } = decision.frontend!
    const body = exchange.newRequestBody ?? exchange.requestBody.whole
    if (body === undefined) return refuseLargeBody('body-too-large', maxBufferBytes)
    if (this.#content?.body === body) return this.#content.content
    const content = await contentOf(exchange, body, maxBufferBytes)
    if (!(content instanceof Uint8Array) || content === body) return content
    const refusal = this.keep(content.length)
    if (refusal !== undefined) return refusal
    this.#content = { body, content }
    return content
  }

  /** Keeps the client's body while it streams, so that it can be sent again. @returns false when it is known to be too large */
  keepForRetry(): boolean {
    if (this.#source.length > REPLAY_LIMIT) return false
    this.#partial = new KeptBody(this.#source, { maxBytes: REPLAY_LIMIT, claim: this.owner.claim })
    return true
  }

  /** Whether the body can be sent again. */
  get repeats(): boolean {
    return !(this.#partial instanceof KeptBody) || this.#partial.isWhole
  }

  /** An attempt has ended, and another one may follow. */
  endAttempt(): void {
    if (this.#partial instanceof KeptBody) this.#partial.rest()
  }

  /** Signed if the signature of the request covers parts of the body. */
  outgoing(): SendableBody {
    const body = this.#unsigned()
    const { exchange, decision, claim } = this.owner
    if (exchange.signBody === undefined) return body
    return exchange.signBody(body, { claim, maxBytes: decision.frontend!.maxBufferBytes })
  }

  /** A body in memory has a Content-Length. Trailers of the client do not apply to a replaced body. */
  #unsigned(): SendableBody {
    const { newRequestBody, requestBody } = this.owner.exchange
    if (newRequestBody !== undefined) return new FixedBody(newRequestBody)
    if (requestBody.whole !== undefined) return new FixedBody(requestBody.whole, this.#trailers)
    return this.#partial ?? this.#source
  }

  /** Sends a body to the backend, and records it if an expression of log or metrics reads it (decision A-49), or if decision records have bodies. */
  send(body: SendableBody, sink: BodySink): void {
    const { decision, context, claim } = this.owner
    const { recordsRequestBody, maxBufferBytes } = decision.frontend!
    const maxBytes = recordsRequestBody ? maxBufferBytes : context.recordBodyBytes
    if (maxBytes === 0 || body instanceof FixedBody) return body.pipe(sink)
    this.#recording = new RecordingSink(sink, { maxBytes, claim })
    body.pipe(this.#recording)
  }

  /** Sets the body that log, metrics and records read, at the end of the request. */
  recordForLog(): void {
    const { exchange, decision, stream, context } = this.owner
    if (context.recordBodyBytes === 0 && decision.frontend?.recordsRequestBody !== true) return
    if (exchange.requestBody.kind === 'whole') return
    const start = exchange.requestBody.start ?? this.#recording?.recorded
    exchange.requestBody = start === undefined && stream.body.kind === BODY_NONE ? EMPTY_BODY : recordedBody(start)
  }

  /** Ends the copies at the end of the request. */
  close(): void {
    this.#teed?.close()
  }
}
