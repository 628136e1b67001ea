import { clock } from '#base/clock.ts'
import type { BackendPlace, EndpointPlace } from '#engine/backend-place.ts'
import { Decision } from '#engine/decide.ts'
import type { SocketPlace } from '#engine/places.ts'
import type { BodyUse } from '#exchange/body-use.ts'
import type { Call } from '#exchange/call.ts'
import { type BodyReader, Exchange } from '#exchange/exchange.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import type { RunContext } from '#exchange/run-context.ts'
import { BodyClaim } from '#net/body/body-memory.ts'
import {
  type Collected,
  type CollectLimits,
  collectBody,
  collectStart,
  PartialBody,
  type WholeBody,
} from '#net/body/collect-body.ts'
import type { KeptBody } from '#net/body/kept-body.ts'
import type { RecordingSink } from '#net/body/recording-sink.ts'
import type { Head } from '#net/http/head.ts'
import {
  type Abort,
  BODY_NONE,
  type BodyKind,
  type BodySource,
  type ClientStream,
  type ServerStream,
  type TrailerGate,
} from '#net/stream.ts'
import type { WheelTimer } from '#net/timer-wheel.ts'
import type { Observed, ObserveSettings } from '#observe/observer.ts'
import { RequestTrailerGate } from './passing-fields.ts'
import type { ProxyContext } from './proxy-context.ts'

/** A larger body is not kept for a retry (decision A-93). */
export const REPLAY_LIMIT = 65_536

const EMPTY = new Uint8Array(0)

/**
 * One request at work in the proxy: the exchange that policies see, how far it came, and the streams on both sides. One object per
 * server stream, reused for the next request on it. What waits for a promise compares `turn`, since the client may have left and
 * another request taken the object over.
 */
export class InFlight implements BodyReader, RunContext, Observed {
  readonly context: ProxyContext
  readonly exchange = new Exchange()
  readonly decision = new Decision()
  readonly trailerGate: TrailerGate = new RequestTrailerGate(this.decision)
  stream!: ServerStream
  socket!: SocketPlace
  /** Rises with every request and when one is abandoned. */
  turn = 0

  upstream: ClientStream | undefined
  /** Bodies of which only the beginning was read. */
  partialRequest: PartialBody | undefined
  /** The request body, kept for another attempt while it streams. */
  keptRequest: KeptBody | undefined
  /** The fields behind a request body that was gathered. */
  requestTrailers: Head | undefined
  partialResponse: PartialBody | undefined
  /** Copies of bodies that stream, for expressions of log and metrics. */
  requestRecording: RecordingSink | undefined
  responseRecording: RecordingSink | undefined
  /** Endpoints tried so far; filled only when there may be another attempt. */
  readonly tried: EndpointPlace[] = []
  /** The request head before the first attempt changed it. */
  pristine: Head | undefined
  retriesLeft = 0
  /** It holds a place among the retries of the worker. */
  retried = false
  /** Set once a response head has been given to the stream. */
  responded = false
  /** An endpoint is counted as busy. */
  pending = false
  /** The head of the answer was healthy; how it ends, shows later. */
  healthy = false
  /** Fires when `timeouts.request` is over; made by the first request that has one. */
  deadline: WheelTimer | undefined
  /** Ends a retry's wait. */
  backoff: { cancel(): void } | undefined
  /** Stands between the answer and the client; tells afterwards whether a stream broke off. */
  filter: { readonly broken?: string | undefined } | undefined
  /** Stops calls that the gateway makes for this request. */
  abort: AbortController | undefined
  attemptStartMs = 0
  status = 0
  decisionNumber = 0
  /** What it holds of the worker's memory for bodies; made by the first body that stays. */
  #claim: BodyClaim | undefined
  readonly framing: {
    kind: BodyKind
    length: number
    upgrade: string
    trailers: TrailerGate | undefined
    patient: boolean
  } = {
    kind: BODY_NONE,
    length: -1,
    upgrade: '',
    trailers: undefined,
    patient: false,
  }

  constructor(context: ProxyContext) {
    this.context = context
    this.exchange.gateway = context.gateway
    this.exchange.workloads = context.workloads
    this.exchange.context = this
  }

  begin(stream: ServerStream, socket: SocketPlace): void {
    const { exchange, context } = this
    this.turn++
    context.load.begin()
    this.stream = stream
    this.socket = socket
    this.upstream = undefined
    if (this.tried.length > 0) this.tried.length = 0
    this.pristine = undefined
    this.retriesLeft = 0
    this.retried = false
    this.responded = false
    this.pending = false
    this.healthy = false
    this.backoff = undefined
    this.filter = undefined
    this.abort = undefined
    this.status = 0
    this.decisionNumber = context.decisionIds.next()
    this.decision.reset()

    const { head, peer } = stream
    exchange.reset(head, peer)
    exchange.bodies = this
    exchange.scheme = peer.secure ? 'https' : 'http'
    exchange.version = stream.version
    exchange.startMonotonicMs = context.now()
    exchange.originalMethod = head.method
    exchange.originalAuthority = head.authorityLike(exchange.originalAuthority)
    exchange.originalTarget = head.target
  }

  get backend(): BackendPlace {
    return this.decision.backend!
  }

  /** What a refusal shows to its client. */
  get decisionId(): string {
    return this.context.decisionIds.idOf(this.decisionNumber)
  }

  /** A body is there and has not been gathered. */
  get hasStreamingBody(): boolean {
    return this.exchange.requestBody === undefined && this.stream.body.kind !== BODY_NONE
  }

  /** Memory for the bodies of this request, given back at its end. */
  get claim(): BodyClaim {
    this.#claim ??= new BodyClaim(this.context.bodyMemory)
    return this.#claim
  }

  readRequestBody(exchange: Exchange, maxBytes: number, use: Exclude<BodyUse, false>): Promise<Refusal | undefined> {
    if (this.stream.body.kind === BODY_NONE) {
      exchange.requestBody = EMPTY
      return Promise.resolve(undefined)
    }
    const turn = this.turn
    return new Promise((resolve) => {
      collect(this.stream.body, { maxBytes, claim: this.claim, givesWay: true }, use, (result) => {
        // When the client left, nobody waits any more.
        if (turn !== this.turn || isAbort(result)) return
        if (result === 'no-memory') return resolve(this.#noMemory('request'))
        exchange.requestBody = isWhole(result) ? result.bytes : null
        if (isWhole(result)) this.requestTrailers = result.trailers
        if (result instanceof PartialBody) {
          this.partialRequest = result
          exchange.requestBodyPrefix = result.prefix
        }
        resolve(undefined)
      })
    })
  }

  readResponseBody(exchange: Exchange, maxBytes: number, use: Exclude<BodyUse, false>): Promise<Refusal | undefined> {
    const turn = this.turn
    return new Promise((resolve) => {
      collect(this.upstream!.body, { maxBytes, claim: this.claim }, use, (result) => {
        if (turn !== this.turn) return
        if (isAbort(result)) return resolve(this.#brokenResponse(result))
        if (result === 'no-memory') return resolve(this.#noMemory('response'))
        exchange.responseBody = isWhole(result) ? result.bytes : null
        if (result instanceof PartialBody) {
          this.partialResponse = result
          exchange.responseBodyPrefix = result.prefix
        }
        resolve(undefined)
      })
    })
  }

  /** Who breaks off behind the head has not answered (decision A-99). */
  #brokenResponse(why: Abort): Refusal {
    this.healthy = false
    if (why !== 'cancelled') this.decision.endpoint?.health.recordUnhealthy()
    return reject('upstream-failed', { detail: `the response ended early: ${why}` })
  }

  #noMemory(message: 'request' | 'response'): Refusal {
    const { maxBytes } = this.context.bodyMemory
    const detail = `no memory is left for the body of the ${message}: requests of this worker hold the ${maxBytes} bytes that they may`
    return reject('body-memory-exhausted', { detail })
  }

  now(): number {
    return clock.now()
  }

  random(): number {
    return this.context.random()
  }

  /** A signal that is aborted when the client leaves, or the request is answered without what is waited for. */
  get signal(): AbortSignal {
    this.abort ??= new AbortController()
    return this.abort.signal
  }

  get call(): Call {
    return this.context.calls.ofRequest(this.exchange, this.claim)
  }

  /** What is waited for does not matter any more; the request itself may go on. */
  stopWaiting(): void {
    this.turn++
    this.backoff?.cancel()
    this.backoff = undefined
    this.abort?.abort()
  }

  /** Gives up everything that is under way for this request. */
  abandon(): void {
    this.stopWaiting()
    this.endDeadline()
    this.upstream?.cancel()
    this.upstream = undefined
    this.releaseEndpoint()
  }

  /** A connection may be idle for long: it does not hold on to what its last request brought. */
  dropBodies(): void {
    const { exchange } = this
    exchange.requestBody = undefined
    exchange.requestBodyPrefix = undefined
    exchange.newRequestBody = undefined
    exchange.responseBody = undefined
    exchange.responseBodyPrefix = undefined
    exchange.newResponseBody = undefined
    this.partialRequest = undefined
    this.keptRequest = undefined
    this.partialResponse = undefined
    this.requestRecording = undefined
    this.responseRecording = undefined
    this.requestTrailers = undefined
    this.#claim?.release()
    this.#claim = undefined
  }

  endDeadline(): void {
    if (this.deadline !== undefined) this.context.wheel.disarm(this.deadline)
  }

  get endpointLabel(): string | undefined {
    return this.decision.endpoint?.label
  }

  /** What is observed, as policies of the listener say. */
  get settings(): ObserveSettings | undefined {
    return this.decision.frontend
  }

  occupyEndpoint(): void {
    this.pending = true
    this.decision.endpoint?.health.begin()
  }

  releaseEndpoint(): void {
    if (!this.pending) return
    this.pending = false
    this.decision.endpoint?.health.end()
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
