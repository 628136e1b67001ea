import type { ResponseBodyAccess } from '#exchange/bodies.ts'
import type { BodyUse } from '#exchange/body-use.ts'
import { recordedBody, UNREAD_BODY, wholeBody } from '#exchange/known-body.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import { collectBody, collectStart, PartialBody } from '#net/body/collect-body.ts'
import { FilteredBody } from '#net/body/filtered-body.ts'
import { FixedBody } from '#net/body/fixed-body.ts'
import { KeepAliveSink } from '#net/body/keep-alive-sink.ts'
import { RecordingSink } from '#net/body/recording-sink.ts'
import { RESPONSE_DECODING } from '#net/body/response-decoding.ts'
import type { Head } from '#net/http/head.ts'
import { isEventStream } from '#net/http/response-rules.ts'
import type { Abort, BodySink, BodySource, ClientStream, SendableBody, TunnelEnd } from '#net/stream.ts'
import type { AnswerFailure, AnswerFilter } from '#protocols/backend-protocol.ts'
import { type ContentLimit, HELD_MS, waitForContent } from './content-wait.ts'
import { asKnown, type Buffered, type Collecting, finishSoon, isAbort, isWhole, MessageBody } from './message-body.ts'

/** How much of a response is held until it has content. */
const HELD_BYTES = 65_536

/** The body of a response, from the backend to the client. */
export class ResponseBody extends MessageBody implements ResponseBodyAccess {
  /** The body after the protocol, and after its beginning was read. */
  #received: BodySource | undefined
  /** Replaces it: after all response policies, and after a server has processed it. */
  #outgoing: SendableBody | undefined
  #recording: RecordingSink | undefined
  #keptAlive: KeepAliveSink | undefined
  /** Reports after the end whether the backend's stream was complete. */
  #filter: AnswerFilter | undefined
  #cutFailure: AnswerFailure | undefined

  protected get message(): 'response' {
    return 'response'
  }

  /** The response of a backend has begun. Its protocol reads and changes the body before policies and the client see it. */
  open(upstream: ClientStream): void {
    const { decision, exchange, claim } = this.owner
    const { body } = upstream
    const filter = decision.selectFilter?.(exchange, claim, RESPONSE_DECODING)
    this.#filter = filter
    this.#outgoing = undefined
    this.#cutFailure = undefined
    filter?.whenOver?.(() => {
      // Another attempt may have replaced it.
      if (this.owner.upstream === upstream) upstream.cancel()
    })
    this.#received = filter === undefined ? body : new FilteredBody(body, filter)
  }

  /** The connection was upgraded. @param charge see `SelectTunnelFilter` */
  openTunnel(upstream: ClientStream, charge: () => void): TunnelEnd {
    const { decision, exchange, claim } = this.owner
    const filter = decision.selectTunnelFilter?.(exchange, claim, charge)
    if (filter === undefined) return upstream
    this.#filter = filter
    const { body, request } = upstream
    return {
      body: new FilteredBody(body, filter),
      request: filter.fromClient?.(request) ?? request,
      cancel: () => upstream.cancel(),
    }
  }

  /** The body for the client. */
  outgoing(): SendableBody {
    return this.#outgoing ?? this.#received!
  }

  /** Sets the body that response policies have made of that of the backend. */
  offer(body: SendableBody): void {
    this.#outgoing = body
  }

  replace(body: BodySource | Uint8Array, trailers?: Head): undefined {
    const { exchange, claim } = this.owner
    const isBytes = body instanceof Uint8Array
    if (isBytes) claim.takeAnyway(body.length)
    this.#outgoing = isBytes ? new FixedBody(body, trailers) : body
    exchange.responseBody = isBytes ? wholeBody(body) : UNREAD_BODY
    exchange.newResponseBody = undefined
  }

  /** How the answer of a protocol broke off while it was read as a whole, so that nothing of it has been sent. */
  get cutFailure(): AnswerFailure | undefined {
    return this.#cutFailure
  }

  get #isAnswer(): boolean {
    return this.#filter?.whenBegun !== undefined || this.isJudged
  }

  /** How the response of the backend failed although the client sees a clean end. */
  get failure(): AnswerFailure | undefined {
    return this.#filter?.failure
  }

  /** Until its first content has arrived, the response may become a refusal. */
  get mayRefuse(): boolean {
    return this.#filter?.mayRefuse === true
  }

  /** The protocol knows only at the end of the response whether it can be used. */
  get isJudged(): boolean {
    return this.#filter?.whole === true
  }

  /** Why the response cannot be used; known after its body was read. */
  get refusal(): Refusal | undefined {
    return this.#filter?.refusal
  }

  /**
   * Holds the response until its first content has arrived or it has failed, or it becomes too large or too late. Then `outgoing` delivers
   * all of it. What still decides about its first content is waited for.
   * @param limit how late that is; undefined: 5 seconds
   * @param done gets a refusal if the response cannot be read, and how it failed if it broke off
   * @returns false if its head decides
   */
  holdUntilContent(
    limit: ContentLimit | undefined,
    done: (unread: Refusal | undefined, cut?: AnswerFailure) => void,
  ): boolean {
    const filter = this.#filter
    if (filter?.whenBegun === undefined) return false
    let wait: { cancel(): void } | undefined
    const limits = { maxBytes: HELD_BYTES, claim: this.owner.claim }
    collectStart(
      this.#received!,
      limits,
      (result) => {
        wait?.cancel()
        if (this.#isOver(result)) return
        if (result === 'no-memory') return done(this.noMemory())
        if (isAbort(result)) {
          const refusal = this.broken(result)
          return done(refusal, failureOf(refusal, result))
        }
        if (result instanceof PartialBody) this.#received = result
        else if (isWhole(result)) this.#outgoing = new FixedBody(result.bytes, result.trailers)
        done(undefined)
      },
      (stop) => {
        wait = waitForContent(filter, limit?.ms ?? HELD_MS, () => {
          if (limit?.late() !== true) stop()
        })
        filter.whenBegun!(stop)
      },
    )
    return true
  }

  /** Buffers the body for response policies, as `RequestBody.collect`. */
  collect(maxBytes: number, use: Exclude<BodyUse, false>, done: Collecting, limit?: ContentLimit): void {
    const filter = this.#filter
    const wait = filter?.whenBegun && limit && waitForContent(filter, limit.ms, () => limit.late())
    if (wait !== undefined) filter!.whenBegun!(() => wait.cancel())
    const collectUse = use === true ? collectBody : collectStart
    collectUse(this.#received!, { maxBytes, claim: this.owner.claim }, (result) => {
      wait?.cancel()
      if (!this.#isOver(result)) this.#collected(result, done)
    })
  }

  #collected(result: Buffered, done: Collecting): void {
    const { exchange } = this.owner
    const cut = isAbort(result) ? result : this.#filter?.failure?.cut
    // Nothing has been sent to the client yet, so an aborted stream can still become a refusal.
    if (cut !== undefined) {
      const refusal = this.broken(cut)
      if (this.#isAnswer) this.#cutFailure = failureOf(refusal, cut)
      return finishSoon(done, refusal)
    }
    if (result === 'no-memory') return finishSoon(done, this.noMemory())
    exchange.responseBody = asKnown(result)
    if (result instanceof PartialBody) {
      this.#received = result
      return finishSoon(done, undefined)
    }
    done(undefined)
  }

  /** Sends a body to the client, and records it, as the client gets it but without comments, for the same reasons as `RequestBody.send`. */
  send(body: SendableBody): void {
    const { decision, stream, exchange, context, claim } = this.owner
    this.#keptAlive = keepAlive(this.#filter, exchange.response, body, stream.response)
    const response = this.#keptAlive ?? stream.response
    const isKnown = exchange.responseBody.kind === 'whole' || exchange.newResponseBody !== undefined
    const { frontend } = decision
    const maxBytes = frontend?.recordsResponseBody === true ? frontend.maxBufferBytes : context.recordBodyBytes
    if (maxBytes === 0 || isKnown) return body.pipe(response)
    this.#recording = new RecordingSink(response, { maxBytes, claim })
    body.pipe(this.#recording)
  }

  /** Sets the body that log, metrics and records read, at the end of the request. */
  recordForLog(): void {
    const { exchange, decision, context } = this.owner
    if (context.recordBodyBytes === 0 && decision.frontend?.recordsResponseBody !== true) return
    if (exchange.responseBody.kind === 'whole') return
    exchange.responseBody = recordedBody(exchange.responseBody.start ?? this.#recording?.recorded)
  }

  /** The request is over: its client gets nothing more. */
  close(): void {
    this.#keptAlive?.stop()
  }

  /** A backend that aborts after the head counts as failed (decision A-99). */
  broken(why: Abort): Refusal {
    this.owner.breakAttempt()
    return reject('upstream-failed', { detail: `the response ended early: ${why}` })
  }

  /** Whether somebody else has responded, or will: the gateway itself cancels a response only to send another one. */
  #isOver(result: Buffered): boolean {
    return !this.owner.isWaiting || result === 'cancelled'
  }
}

function failureOf({ detail }: Refusal, cut: Abort): AnswerFailure {
  return { detail: detail ?? cut, unhealthy: true, status: undefined, cut }
}

/** The receiver of a response, with comments in its silences, if it is a stream of events to which its protocol may add bytes. */
export function keepAlive(
  filter: AnswerFilter | undefined,
  head: Head | undefined,
  body: SendableBody,
  sink: BodySink,
): KeepAliveSink | undefined {
  if (filter?.changesLength !== true || body.length >= 0 || head === undefined) return undefined
  return isEventStream(head) && !head.has('content-encoding') ? new KeepAliveSink(sink) : undefined
}
