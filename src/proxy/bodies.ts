import { clock } from '#base/clock.ts'
import type { Decision } from '#engine/request/decide.ts'
import type { BodyUse } from '#exchange/body-use.ts'
import type { BodyReader, Exchange } from '#exchange/exchange.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import { refuseLargeBody } from '#exchange/refuse-large-body.ts'
import { BodyClaim, type BodyMemory } from '#net/body/body-memory.ts'
import {
  type Collected,
  type CollectLimits,
  collectBody,
  collectStart,
  PartialBody,
  type WholeBody,
} from '#net/body/collect-body.ts'
import { FilteredBody } from '#net/body/filtered-body.ts'
import { FixedBody } from '#net/body/fixed-body.ts'
import { KeptBody } from '#net/body/kept-body.ts'
import { RecordingSink } from '#net/body/recording-sink.ts'
import { RESPONSE_DECODING } from '#net/body/response-decoding.ts'
import { TeedBody } from '#net/body/teed-body.ts'
import type { Head } from '#net/http/head.ts'
import {
  type Abort,
  BODY_NONE,
  type BodySink,
  type BodySource,
  type ClientStream,
  type SendableBody,
  type ServerStream,
  type TunnelEnd,
} from '#net/stream.ts'
import type { AnswerFailure, AnswerFilter } from '#protocols/backend-protocol.ts'
import { decodeRequestBody } from './decode-request-body.ts'

/** A larger body is not kept for a retry (decision A-93). */
const REPLAY_LIMIT = 65_536

/** How much of a response, and how long, is held until it has content. */
const HELD_BYTES = 65_536
const HELD_MS = 5000
/** How often it is asked whether somebody still judges the first content. */
const JUDGED_MS = 500

const EMPTY = new Uint8Array(0)

/** The request that bodies belong to. */
export interface BodyOwner {
  readonly exchange: Exchange
  readonly decision: Decision
  readonly stream: ServerStream
  readonly upstream: ClientStream | undefined
  readonly context: { readonly bodyMemory: BodyMemory; readonly recordBodyBytes: number }
  /** The request has no response yet, and its client is connected. */
  readonly isWaiting: boolean
  /** The backend ended its response early. */
  breakAttempt(): void
}

/**
 * The two bodies of a request on their way through the gateway:
 *
 *     client ── processed ── copied ── buffered (whole or its beginning), kept for a retry, replaced ── recorded ──► backend
 *     backend ── read and changed by its protocol ── buffered, replaced ── processed ── recorded ──► client
 *
 * Steps that no policy or protocol needs do not exist: then the body streams from one connection to the other. All memory for bodies is claimed
 * here.
 */
export class Bodies implements BodyReader {
  readonly #owner: BodyOwner
  #claim: BodyClaim | undefined
  /** The client's body, if it is copied for other backends. */
  #teed: TeedBody | undefined
  /** Replaces the client's body: what a server that a policy asks has made of it. */
  #processed: BodySource | undefined
  /** Replaces the client's body if its beginning was read, or if it is kept for another attempt. */
  #request: PartialBody | KeptBody | undefined
  /** The trailers of a request body that was buffered. */
  #requestTrailers: Head | undefined
  /** The response body after the protocol, and after its beginning was read. */
  #response: BodySource | undefined
  /** Replaces it: after all response policies, and after a server has processed it. */
  #outgoing: SendableBody | undefined
  #requestRecording: RecordingSink | undefined
  #responseRecording: RecordingSink | undefined
  /** Reports after the end whether the backend's stream was complete. */
  #filter: AnswerFilter | undefined
  #cutFailure: AnswerFailure | undefined

  constructor(owner: BodyOwner) {
    this.#owner = owner
  }

  /** Memory for bodies of this request, released at its end. */
  get claim(): BodyClaim {
    this.#claim ??= new BodyClaim(this.#owner.context.bodyMemory)
    return this.#claim
  }

  /** There is a body for the backend, and it has not been buffered. */
  get requestStreams(): boolean {
    return this.#owner.exchange.requestBody === undefined && this.#source.kind !== BODY_NONE
  }

  /** The client's body, or what policies have made of it. */
  get #source(): BodySource {
    return this.#teed ?? this.#processed ?? this.#owner.stream.body
  }

  outgoing(message: 'request' | 'response'): SendableBody {
    return message === 'request' ? this.requestToSend() : this.response
  }

  hold(bytes: number): void {
    if (bytes > 0) this.claim.takeAnyway(bytes)
    else this.claim.give(-bytes)
  }

  replace(
    message: 'request' | 'response',
    body: BodySource | Uint8Array,
    trailers?: Head,
  ): Promise<Refusal | undefined> | undefined {
    if (body instanceof Uint8Array) this.claim.takeAnyway(body.length)
    if (message === 'request') return this.#replaceRequest(body, trailers)
    const { exchange } = this.#owner
    const isBytes = body instanceof Uint8Array
    this.#outgoing = isBytes ? new FixedBody(body, trailers) : body
    exchange.responseBody = isBytes ? body : undefined
    exchange.newResponseBody = undefined
    return undefined
  }

  #replaceRequest(body: BodySource | Uint8Array, trailers: Head | undefined): Promise<Refusal | undefined> | undefined {
    const { exchange, decision } = this.#owner
    const { requestBody: before } = exchange
    this.#request = undefined
    this.#requestTrailers = trailers
    exchange.newRequestBody = undefined
    exchange.requestBodyPrefix = undefined
    if (body instanceof Uint8Array) {
      exchange.requestBody = body
      return undefined
    }
    exchange.requestBody = undefined
    this.#processed = body
    if (before === undefined) return undefined
    const { maxBufferBytes } = decision.frontend!
    return this.readRequestBody(exchange, maxBufferBytes, before === null ? 'prefix' : true).then((unread) => {
      const large = exchange.requestBody === null && before !== null
      return unread ?? (large ? refuseLargeBody('body-too-large', maxBufferBytes) : undefined)
    })
  }

  /**
   * A copy of the body for another backend than that of the request; before `requestToSend`. Undefined: the request has none.
   * @param givenUp called when the copy will not be complete
   */
  copyRequest(limits: CollectLimits, givenUp: () => void): Uint8Array | BodySource | undefined {
    const { newRequestBody, requestBody } = this.#owner.exchange
    const known = newRequestBody ?? requestBody
    if (known != null) {
      if (!limits.claim.take(known.length)) givenUp()
      return known
    }
    const source = this.#request ?? this.#source
    if (source.kind === BODY_NONE) return undefined
    this.#teed ??= new TeedBody(source)
    this.#request = undefined
    return this.#teed.copy(limits, givenUp)
  }

  readRequestBody(exchange: Exchange, maxBytes: number, use: Exclude<BodyUse, false>): Promise<Refusal | undefined> {
    return new Promise((resolve) => this.collectRequestBody(exchange, maxBytes, use, resolve))
  }

  /**
   * The same without a promise: most bodies have arrived with their head. `done` may be called before this returns, or never. A refusal comes
   * later, and so does the beginning of a body whose rest follows.
   */
  collectRequestBody(exchange: Exchange, maxBytes: number, use: Exclude<BodyUse, false>, done: Collecting): void {
    if (this.#source.kind === BODY_NONE) {
      exchange.requestBody = EMPTY
      return done(undefined)
    }
    // An earlier attempt may have sent a part of it.
    const body = this.#request instanceof KeptBody ? this.#request.detach() : this.#source
    this.#request = undefined
    collect(body, { maxBytes, claim: this.claim, givesWay: true }, use, (result) => {
      // Without a waiting request, a promise stays pending and is garbage.
      if (!this.#owner.isWaiting || isAbort(result)) return
      if (result === 'no-memory') return finishSoon(done, this.#noMemory('request'))
      exchange.requestBody = isWhole(result) ? result.bytes : null
      if (isWhole(result)) this.#requestTrailers = result.trailers
      if (result instanceof PartialBody) {
        this.#request = result
        exchange.requestBodyPrefix = result.prefix
        return finishSoon(done, undefined)
      }
      done(undefined)
    })
  }

  async decodeRequestBody(exchange: Exchange, maxBytes: number): Promise<Refusal | undefined> {
    const refusal = await decodeRequestBody(exchange, maxBytes)
    if (refusal !== undefined) return refusal
    const { length } = (exchange.newRequestBody ?? exchange.requestBody)!
    return this.claim.take(length) ? undefined : this.#noMemory('request')
  }

  /** Keeps the client's body while it streams, so that it can be sent again. @returns false when it is known to be too large */
  keepRequest(): boolean {
    if (this.#source.length > REPLAY_LIMIT) return false
    this.#request = new KeptBody(this.#source, { maxBytes: REPLAY_LIMIT, claim: this.claim })
    return true
  }

  /** Whether the request body can be sent again. */
  get requestRepeats(): boolean {
    return !(this.#request instanceof KeptBody) || this.#request.isWhole
  }

  /** An attempt has ended, and another one may follow. */
  endAttempt(): void {
    if (this.#request instanceof KeptBody) this.#request.rest()
  }

  /**
   * The body for the backend, signed if its signature covers parts of it.
   */
  requestToSend(): SendableBody {
    const body = this.#unsignedRequest()
    const { exchange, decision } = this.#owner
    if (exchange.signBody === undefined) return body
    return exchange.signBody(body, { claim: this.claim, maxBytes: decision.frontend!.maxBufferBytes })
  }

  /** A body in memory has a Content-Length. Trailers of the client do not apply to a replaced body. */
  #unsignedRequest(): SendableBody {
    const { newRequestBody, requestBody } = this.#owner.exchange
    if (newRequestBody !== undefined) return new FixedBody(newRequestBody)
    if (requestBody) return new FixedBody(requestBody, this.#requestTrailers)
    return this.#request ?? this.#source
  }

  /** Sends a body to the backend, and records it if an expression of log or metrics reads it (decision A-49), or if decision records have bodies. */
  sendRequest(body: SendableBody, sink: BodySink): void {
    const { decision, context } = this.#owner
    const { recordsRequestBody, maxBufferBytes } = decision.frontend!
    const maxBytes = recordsRequestBody ? maxBufferBytes : context.recordBodyBytes
    if (maxBytes === 0 || body instanceof FixedBody) return body.pipe(sink)
    this.#requestRecording = new RecordingSink(sink, { maxBytes, claim: this.claim })
    body.pipe(this.#requestRecording)
  }

  /** The response of a backend has begun. Its protocol reads and changes the body before policies and the client see it. */
  openResponse(upstream: ClientStream): void {
    const { decision, exchange } = this.#owner
    const { body } = upstream
    const filter = decision.selectFilter?.(exchange, this.claim, RESPONSE_DECODING)
    this.#filter = filter
    this.#outgoing = undefined
    this.#cutFailure = undefined
    filter?.whenOver?.(() => {
      // Another attempt may have replaced it.
      if (this.#owner.upstream === upstream) upstream.cancel()
    })
    this.#response = filter === undefined ? body : new FilteredBody(body, filter)
  }

  /** The connection was upgraded. @param charge see `SelectTunnelFilter` */
  openTunnel(upstream: ClientStream, charge: () => void): TunnelEnd {
    const { decision, exchange } = this.#owner
    const filter = decision.selectTunnelFilter?.(exchange, this.claim, charge)
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
  get response(): SendableBody {
    return this.#outgoing ?? this.#response!
  }

  /** Sets the body that response policies have made of that of the backend. */
  offerResponse(body: SendableBody): void {
    this.#outgoing = body
  }

  /** How the answer of a protocol broke off while it was read as a whole, so that nothing of it has been sent. */
  get cutFailure(): AnswerFailure | undefined {
    return this.#cutFailure
  }

  get #isAnswer(): boolean {
    return this.#filter?.whenBegun !== undefined || this.responseIsJudged
  }

  /** How the response of the backend failed although the client sees a clean end. */
  get responseFailure(): AnswerFailure | undefined {
    return this.#filter?.failure
  }

  /**
   * Holds the response until its first content has arrived or it has failed, or it becomes too large or too late. Then `response` delivers
   * all of it. What still decides about its first content is waited for.
   * @param done gets a refusal if the response cannot be read, and how it failed if it broke off
   * @returns false if its head decides
   */
  holdResponse(done: (unread: Refusal | undefined, cut?: AnswerFailure) => void): boolean {
    const filter = this.#filter
    if (filter?.whenBegun === undefined) return false
    let timer: { cancel(): void } | undefined
    const limits = { maxBytes: HELD_BYTES, claim: this.claim }
    collectStart(
      this.#response as BodySource,
      limits,
      (result) => {
        timer?.cancel()
        if (this.#isOver(result)) return
        if (result === 'no-memory') return done(this.#noMemory('response'))
        if (isAbort(result)) {
          const refusal = this.brokenResponse(result)
          return done(refusal, failureOf(refusal, result))
        }
        if (result instanceof PartialBody) this.#response = result
        else if (isWhole(result)) this.#outgoing = new FixedBody(result.bytes, result.trailers)
        done(undefined)
      },
      (stop) => {
        const late = () => {
          if (filter.isJudging) timer = clock.after(JUDGED_MS, late)
          else stop()
        }
        timer = clock.after(HELD_MS, late)
        filter.whenBegun!(stop)
      },
    )
    return true
  }

  /** Until its first content has arrived, the response may become a refusal. */
  get responseMayRefuse(): boolean {
    return this.#filter?.mayRefuse === true
  }

  /** The protocol knows only at the end of the response whether it can be used. */
  get responseIsJudged(): boolean {
    return this.#filter?.whole === true
  }

  /** Why the response cannot be used; known after its body was read. */
  get responseRefusal(): Refusal | undefined {
    return this.#filter?.refusal
  }

  readResponseBody(exchange: Exchange, maxBytes: number, use: Exclude<BodyUse, false>): Promise<Refusal | undefined> {
    return new Promise((resolve) => this.collectResponseBody(exchange, maxBytes, use, resolve))
  }

  /** The same without a promise, as `collectRequestBody`. */
  collectResponseBody(exchange: Exchange, maxBytes: number, use: Exclude<BodyUse, false>, done: Collecting): void {
    collect(this.#response!, { maxBytes, claim: this.claim }, use, (result) => {
      if (this.#isOver(result)) return
      const cut = isAbort(result) ? result : this.#filter?.failure?.cut
      // Nothing has been sent to the client yet, so an aborted stream can still become a refusal.
      if (cut !== undefined) {
        const refusal = this.brokenResponse(cut)
        if (this.#isAnswer) this.#cutFailure = failureOf(refusal, cut)
        return finishSoon(done, refusal)
      }
      if (result === 'no-memory') return finishSoon(done, this.#noMemory('response'))
      exchange.responseBody = isWhole(result) ? result.bytes : null
      if (result instanceof PartialBody) {
        this.#response = result
        exchange.responseBodyPrefix = result.prefix
        return finishSoon(done, undefined)
      }
      done(undefined)
    })
  }

  /** Sends a body to the client, and records it, as the client gets it, for the same reasons. */
  sendResponse(body: SendableBody): void {
    const { decision, stream, exchange, context } = this.#owner
    const { response } = stream
    const isKnown = exchange.responseBody != null || exchange.newResponseBody !== undefined
    const { frontend } = decision
    const maxBytes = frontend?.recordsResponseBody === true ? frontend.maxBufferBytes : context.recordBodyBytes
    if (maxBytes === 0 || isKnown) return body.pipe(response)
    this.#responseRecording = new RecordingSink(response, { maxBytes, claim: this.claim })
    body.pipe(this.#responseRecording)
  }

  /** Sets the bodies that log, metrics and records read, at the end of the request. null: nothing of the body was read. */
  recordForLog(): void {
    const { exchange, decision, stream, context } = this.#owner
    const isRecorded = context.recordBodyBytes > 0
    if (isRecorded || decision.frontend?.recordsRequestBody) {
      const known = exchange.requestBodyPrefix ?? this.#requestRecording?.recorded
      exchange.requestBody ??= known ?? (stream.body.kind === BODY_NONE ? EMPTY : null)
    }
    if (isRecorded || decision.frontend?.recordsResponseBody) {
      exchange.responseBody ??= exchange.responseBodyPrefix ?? this.#responseRecording?.recorded ?? null
    }
  }

  /** Releases the memory at the end of the request. */
  release(): void {
    this.#teed?.close()
    this.#claim?.release()
  }

  /** Whether somebody else has responded, or will: the gateway itself cancels a response only to send another one. */
  #isOver(result: Buffered): boolean {
    return !this.#owner.isWaiting || result === 'cancelled'
  }

  /** A backend that aborts after the head counts as failed (decision A-99). */
  brokenResponse(why: Abort): Refusal {
    this.#owner.breakAttempt()
    return reject('upstream-failed', { detail: `the response ended early: ${why}` })
  }

  #noMemory(message: 'request' | 'response'): Refusal {
    const { maxBytes } = this.#owner.context.bodyMemory
    const detail = `no memory is left for the body of the ${message}: the requests of this worker use all ${maxBytes} bytes (GATEWRIGHT_BODY_MEMORY)`
    return reject('body-memory-exhausted', { detail })
  }
}

function failureOf({ detail }: Refusal, cut: Abort): AnswerFailure {
  return { detail: detail ?? cut, unhealthy: true, status: undefined, cut }
}

/** Gets the reason if a body could not be collected. */
type Collecting = (unread: Refusal | undefined) => void

/** Whoever cancels or drops a body may be about to answer the request, and one whose rest follows is still being delivered. */
function finishSoon(done: Collecting, unread: Refusal | undefined): void {
  queueMicrotask(() => done(unread))
}

type Buffered = Collected | PartialBody

function collect(
  source: BodySource,
  limits: CollectLimits,
  use: Exclude<BodyUse, false>,
  done: (result: Buffered) => void,
): void {
  if (use === true) collectBody(source, limits, done)
  else collectStart(source, limits, done)
}

function isWhole(result: Buffered): result is WholeBody {
  return typeof result === 'object' && !(result instanceof PartialBody)
}

function isAbort(result: Buffered): result is Abort {
  return typeof result === 'string' && result !== 'too-large' && result !== 'no-memory'
}
