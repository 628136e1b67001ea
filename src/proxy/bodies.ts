import type { Decision } from '#engine/request/decide.ts'
import type { BodyUse } from '#exchange/body-use.ts'
import type { BodyReader, Exchange } from '#exchange/exchange.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
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
import type { Head } from '#net/http/head.ts'
import {
  type Abort,
  BODY_NONE,
  type BodySink,
  type BodySource,
  type ClientStream,
  type ServerStream,
} from '#net/stream.ts'
import type { AnswerFilter } from '#protocols/backend-protocol.ts'

/** A larger body is not kept for a retry (decision A-93). */
const REPLAY_LIMIT = 65_536

const EMPTY = new Uint8Array(0)

/** The request that bodies belong to. */
export interface BodyOwner {
  readonly exchange: Exchange
  readonly decision: Decision
  readonly stream: ServerStream
  readonly context: { readonly bodyMemory: BodyMemory }
  /** Nobody has answered it, and its client is there. */
  readonly isWaiting: boolean
  /** The head of the backend's answer was healthy. */
  healthy: boolean
}

/** A body that can be given to a receiver. */
export type Given = Pick<BodySource, 'kind' | 'length' | 'trails' | 'pipe'>

/**
 * The two bodies of a request on their way through the gateway:
 *
 *     client ── gathered (whole or its beginning), kept for a retry, replaced ── recorded ──► backend
 *     backend ── read and changed by its protocol ── gathered, replaced ── recorded ──► client
 *
 * Where nobody asks for it, a station is not there: the body streams from one connection to the other. All memory for bodies is claimed here.
 */
export class Bodies implements BodyReader {
  readonly #owner: BodyOwner
  #claim: BodyClaim | undefined
  /** What stands for the body of the client: its beginning was read, or it is kept for another attempt. */
  #request: PartialBody | KeptBody | undefined
  /** The fields behind a request body that was gathered. */
  #requestTrailers: Head | undefined
  /** The body of the response as its protocol gives it on, and once its beginning was read. */
  #response: BodySource | undefined
  #requestRecording: RecordingSink | undefined
  #responseRecording: RecordingSink | undefined
  /** What the protocol says afterwards about the stream of the backend. */
  #filter: AnswerFilter | undefined

  constructor(owner: BodyOwner) {
    this.#owner = owner
  }

  /** Memory for bodies of this request, given back at its end. */
  get claim(): BodyClaim {
    this.#claim ??= new BodyClaim(this.#owner.context.bodyMemory)
    return this.#claim
  }

  /** The client's body is there and has not been gathered. */
  get requestStreams(): boolean {
    const { exchange, stream } = this.#owner
    return exchange.requestBody === undefined && stream.body.kind !== BODY_NONE
  }

  readRequestBody(exchange: Exchange, maxBytes: number, use: Exclude<BodyUse, false>): Promise<Refusal | undefined> {
    const { stream } = this.#owner
    if (stream.body.kind === BODY_NONE) {
      exchange.requestBody = EMPTY
      return Promise.resolve(undefined)
    }
    // An attempt may have sent some of it.
    const body = this.#request instanceof KeptBody ? this.#request.letGo() : stream.body
    this.#request = undefined
    return new Promise((resolve) => {
      collect(body, { maxBytes, claim: this.claim, givesWay: true }, use, (result) => {
        // When the client left, nobody waits any more.
        if (!this.#owner.isWaiting || isAbort(result)) return
        if (result === 'no-memory') return resolve(this.#noMemory('request'))
        exchange.requestBody = isWhole(result) ? result.bytes : null
        if (isWhole(result)) this.#requestTrailers = result.trailers
        if (result instanceof PartialBody) {
          this.#request = result
          exchange.requestBodyPrefix = result.prefix
        }
        resolve(undefined)
      })
    })
  }

  /** Keeps the client's body while it streams, so that it can be sent again. @returns false when it is known to be too large */
  keepRequest(): boolean {
    const { body } = this.#owner.stream
    if (body.length > REPLAY_LIMIT) return false
    this.#request = new KeptBody(body, { maxBytes: REPLAY_LIMIT, claim: this.claim })
    return true
  }

  /** Whether the request body can be given once more. */
  get requestRepeats(): boolean {
    return !(this.#request instanceof KeptBody) || this.#request.isWhole
  }

  /** An attempt is over and another one may come. */
  restRequest(): void {
    if (this.#request instanceof KeptBody) this.#request.rest()
  }

  /**
   * The body for the backend. What is in memory goes with its length; fields behind the client's own say nothing about one that took its place.
   */
  requestToSend(): Given {
    const { exchange, stream } = this.#owner
    const { newRequestBody, requestBody } = exchange
    if (newRequestBody !== undefined) return new FixedBody(newRequestBody)
    if (requestBody) return new FixedBody(requestBody, this.#requestTrailers)
    return this.#request ?? stream.body
  }

  /** Gives a body to the backend, past a recording if an expression of log or metrics wants one (decision A-49). */
  sendRequest(body: Given, sink: BodySink): void {
    const { recordsRequestBody, maxBufferBytes } = this.#owner.decision.frontend!
    if (!recordsRequestBody || body instanceof FixedBody) return body.pipe(sink)
    this.#requestRecording = new RecordingSink(sink, { maxBytes: maxBufferBytes, claim: this.claim })
    body.pipe(this.#requestRecording)
  }

  /** The answer of a backend has begun; its protocol may read and change the body before anybody else sees it. */
  openResponse({ body }: ClientStream): void {
    const { decision, exchange } = this.#owner
    const filter = decision.selectFilter?.(exchange, this.claim)
    this.#filter = filter
    this.#response = filter === undefined ? body : new FilteredBody(body, filter)
  }

  /** The body of the backend's answer, for the client. */
  get response(): Given {
    return this.#response!
  }

  /** Why the backend's stream counts as failed although the client sees a clean end; undefined: it does not. */
  get responseBroken(): string | undefined {
    return this.#filter?.broken
  }

  readResponseBody(exchange: Exchange, maxBytes: number, use: Exclude<BodyUse, false>): Promise<Refusal | undefined> {
    const source = this.#response!
    return new Promise((resolve) => {
      collect(source, { maxBytes, claim: this.claim }, use, (result) => {
        if (!this.#owner.isWaiting) return
        const broken = isAbort(result) ? result : this.#filter?.broken
        // Nothing has been sent to the client yet: a stream that broke off is no answer.
        if (broken !== undefined && broken !== 'incomplete') return resolve(this.#brokenResponse(broken))
        if (result === 'no-memory') return resolve(this.#noMemory('response'))
        exchange.responseBody = isWhole(result) ? result.bytes : null
        if (result instanceof PartialBody) {
          this.#response = result
          exchange.responseBodyPrefix = result.prefix
        }
        resolve(undefined)
      })
    })
  }

  /** Gives a body to the client, past a recording if an expression of log or metrics wants one: what is recorded is what the client gets. */
  sendResponse(body: Given): void {
    const { decision, stream, exchange } = this.#owner
    const { response } = stream
    const isKnown = exchange.responseBody != null || exchange.newResponseBody !== undefined
    if (decision.frontend?.recordsResponseBody !== true || isKnown) return body.pipe(response)
    const { maxBufferBytes } = decision.frontend
    this.#responseRecording = new RecordingSink(response, { maxBytes: maxBufferBytes, claim: this.claim })
    body.pipe(this.#responseRecording)
  }

  /** After the end, and before anything is logged: what is known of the bodies stands for them. null: nothing of it was read. */
  recordForLog(): void {
    const { exchange, decision, stream } = this.#owner
    if (decision.frontend?.recordsRequestBody) {
      const known = exchange.requestBodyPrefix ?? this.#requestRecording?.recorded
      exchange.requestBody ??= known ?? (stream.body.kind === BODY_NONE ? EMPTY : null)
    }
    if (decision.frontend?.recordsResponseBody) {
      exchange.responseBody ??= exchange.responseBodyPrefix ?? this.#responseRecording?.recorded ?? null
    }
  }

  /** Nobody needs them any more. */
  release(): void {
    this.#claim?.release()
  }

  /** A backend that breaks off behind the head has not answered (decision A-99). */
  #brokenResponse(why: Abort): Refusal {
    const { decision } = this.#owner
    this.#owner.healthy = false
    if (why !== 'cancelled') decision.endpoint?.health.recordUnhealthy()
    return reject('upstream-failed', { detail: `the response ended early: ${why}` })
  }

  #noMemory(message: 'request' | 'response'): Refusal {
    const { maxBytes } = this.#owner.context.bodyMemory
    const detail = `no memory is left for the body of the ${message}: the requests of this worker use all ${maxBytes} bytes`
    return reject('body-memory-exhausted', { detail })
  }
}

type Gathered = Collected | PartialBody

function collect(
  source: BodySource,
  limits: CollectLimits,
  use: Exclude<BodyUse, false>,
  done: (result: Gathered) => void,
): void {
  if (use === true) collectBody(source, limits, done)
  else collectStart(source, limits, done)
}

function isWhole(result: Gathered): result is WholeBody {
  return typeof result === 'object' && !(result instanceof PartialBody)
}

function isAbort(result: Gathered): result is Abort {
  return typeof result === 'string' && result !== 'too-large' && result !== 'no-memory'
}
