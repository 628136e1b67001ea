import { clock } from '#base/clock.ts'
import type { LiveBackend, LiveEndpoint } from '#engine/backend/live-backend.ts'
import { Decision } from '#engine/request/decide.ts'
import { recordComplete } from '#engine/request/record-answer.ts'
import type { LiveSocket } from '#engine/route/live-listener.ts'
import type { AttemptStart } from '#exchange/attempt-start.ts'
import type { Call } from '#exchange/call.ts'
import { Exchange } from '#exchange/exchange.ts'
import type { GuardLoad } from '#exchange/guard-load.ts'
import type { LlmPrices } from '#exchange/llm-prices.ts'
import type { Outcome } from '#exchange/outcome.ts'
import { type RunContext, SYSTEM } from '#exchange/run-context.ts'
import { BodyClaim } from '#net/body/body-memory.ts'
import { ownText } from '#net/own-text.ts'
import type { ClientStream, ServerStream } from '#net/stream.ts'
import type { WheelTimer } from '#net/timer-wheel.ts'
import type { Observed, ObserveSettings } from '#observe/observer.ts'
import type { BodyOwner } from './message-body.ts'
import type { ProxyContext } from './proxy-context.ts'
import { RequestBody } from './request-body.ts'
import { ResponseBody } from './response-body.ts'

const NONE: readonly LiveEndpoint[] = Object.freeze([])

/** Ends a request with this outcome instead of what its backend sends. */
export type Interrupt = (flight: InFlight, why: NonNullable<Outcome> | Error) => void

/**
 * One request in the proxy: its exchange, its progress, and the streams on both sides. Every request has new objects, so that no data of a
 * request is visible to the next one on its connection (docs/decisions/0009).
 */
export class InFlight implements RunContext, BodyOwner, Observed {
  readonly context: ProxyContext
  readonly stream: ServerStream
  readonly socket: LiveSocket
  readonly exchange: Exchange
  readonly decision = new Decision()
  readonly bodies: { readonly request: RequestBody; readonly response: ResponseBody }
  readonly decisionNumber: number
  upstream: ClientStream | undefined
  /** Endpoints tried so far; filled only if a retry is possible. */
  tried: readonly LiveEndpoint[] = NONE
  /** Set if a retry is possible. */
  attemptStart: AttemptStart | undefined
  retriesLeft = 0
  /** The request counts as a retry in `Load`. */
  retried = false
  /** A response head has been passed to the stream. */
  responded = false
  /** The response has ended, or the client has disconnected: the stream may carry another request. */
  ended = false
  /** The request counts as in flight at its endpoint. */
  endpointOccupied = false
  /** Status of the endpoint's response if its head is healthy; whether the response is healthy shows at its end. 0: there is none. */
  healthyStatus = 0
  /** Fires at the end of `timeouts.request`. */
  deadline: WheelTimer | undefined
  /** The wait before a retry. */
  backoff: { cancel(): void } | undefined
  /** The time limit that a gRPC client set has passed. */
  clientDeadlinePassed = false
  /** Cancels calls that the gateway makes for this request. */
  abort: AbortController | undefined
  attemptStartMs = 0
  status = 0
  readonly #interrupt: Interrupt
  #claim: BodyClaim | undefined
  /** Called when no policy can act any more. */
  #whenOver: readonly (() => void)[] | undefined

  /** @param interrupt see `RunContext.interrupt` */
  constructor(context: ProxyContext, stream: ServerStream, socket: LiveSocket, interrupt: Interrupt) {
    this.#interrupt = interrupt
    const { head, peer } = stream
    context.load.begin()
    this.context = context
    this.stream = stream
    this.socket = socket
    this.bodies = { request: new RequestBody(this), response: new ResponseBody(this) }
    this.decisionNumber = context.decisionIds.next()
    const exchange = new Exchange(head, peer)
    exchange.context = this
    exchange.bodies = this.bodies
    exchange.gateway = context.gateway
    exchange.workloads = context.workloads
    exchange.scheme = peer.secure ? 'https' : 'http'
    exchange.version = stream.version
    exchange.startMonotonicMs = context.now()
    exchange.originalMethod = head.method
    exchange.originalAuthority = sharedAuthority(head.authority)
    exchange.originalTarget = head.target
    this.exchange = exchange
  }

  get backend(): LiveBackend {
    return this.decision.backend!
  }

  /** Reports that the backend handles a path of another LLM interface as a chat completion. */
  noteMisread(): void {
    const { backend } = this.decision
    const misread = this.exchange.llm?.misread
    if (backend === undefined || misread === undefined) return
    this.context.facts.note(backend.item.key, 'llm-path-not-completions', misread.end)
  }

  /** The id that a refusal shows to its client. */
  get decisionId(): string {
    return this.context.decisionIds.idOf(this.decisionNumber)
  }

  /** The request has no response yet, and its client is connected. */
  get isWaiting(): boolean {
    return !this.ended && !this.responded
  }

  get claim(): BodyClaim {
    this.#claim ??= new BodyClaim(this.context.bodyMemory)
    return this.#claim
  }

  now(): number {
    return clock.now()
  }

  monotonic(): number {
    return this.context.now()
  }

  uuid(): string {
    return SYSTEM.uuid()
  }

  random(): number {
    return this.context.random()
  }

  /** Aborted when the client disconnects, the request is over, or a response is sent while a step still waits. */
  get signal(): AbortSignal {
    this.abort ??= new AbortController()
    return this.abort.signal
  }

  get prices(): LlmPrices {
    return this.context.prices
  }

  get guardLoad(): GuardLoad {
    return this.context.guardLoad
  }

  get call(): Call {
    return this.context.calls.ofRequest(this.exchange, this.claim)
  }

  get callLater(): Call {
    return this.context.calls.ofRequest(this.exchange, undefined)
  }

  get callShared(): Call {
    return this.context.calls.ofGateway
  }

  get callSections(): Call {
    return this.context.calls.toSections(this.backend, undefined, undefined)
  }

  interrupt(why: NonNullable<Outcome> | Error): void {
    this.#interrupt(this, why)
  }

  whenOver(over: () => void): void {
    // A push would make room for 17, and the request may last.
    this.#whenOver = this.#whenOver === undefined ? [over] : this.#whenOver.concat(over)
  }

  /** No policy can act any more. */
  endPolicies(): void {
    const callbacks = this.#whenOver
    if (callbacks === undefined) return
    this.#whenOver = undefined
    for (const over of callbacks) over()
  }

  /** Cancels all waits; the request itself may continue. */
  stopWaiting(): void {
    this.backoff?.cancel()
    this.backoff = undefined
    this.abort?.abort()
  }

  /** Cancels all work for this request. */
  abandon(): void {
    this.ended = true
    this.stopWaiting()
    this.endPolicies()
    this.endDeadline()
    this.upstream?.cancel()
    this.upstream = undefined
    this.releaseEndpoint()
  }

  endDeadline(): void {
    if (this.deadline !== undefined) this.context.wheel.remove(this.deadline)
  }

  /** Sets what log, metrics and records show of the bodies. */
  recordBodies(): void {
    this.bodies.request.recordForLog()
    this.bodies.response.recordForLog()
  }

  /** Releases the memory for bodies at the end of the request. */
  releaseBodies(): void {
    this.bodies.request.close()
    this.bodies.response.close()
    this.#claim?.release()
  }

  get endpointLabel(): string | undefined {
    return this.decision.place?.label ?? this.decision.endpoint?.label
  }

  get endpointSection(): string | undefined {
    return this.decision.endpoint?.section
  }

  /** Log, metrics and trace settings of the listener. */
  get settings(): ObserveSettings | undefined {
    return this.decision.frontend
  }

  /** An attempt begins. It is in flight at its endpoint until one of the next three. */
  occupyEndpoint(): void {
    this.endpointOccupied = true
    this.decision.endpoint?.health.begin()
  }

  /** The response of the endpoint, or the tunnel, has ended. */
  completeAttempt(): void {
    const { failure } = this.bodies.response
    if (failure?.unhealthy === true) return this.breakAttempt(failure.status)
    this.recordHealthy()
    this.releaseEndpoint()
  }

  /**
   * The endpoint ended its response early (decision A-99), or with an error.
   * @param status of the error that the response reports
   */
  breakAttempt(status?: number): void {
    const attempt = this.exchange.span?.attempt
    if (attempt !== undefined) attempt.failure ??= 'incomplete'
    if (this.healthyStatus !== 0) this.decision.endpoint!.health.recordUnhealthy(status ?? 'incomplete response')
    this.releaseEndpoint()
  }

  /** The client or the gateway ended the attempt, which says nothing about its endpoint. */
  releaseEndpoint(): void {
    this.healthyStatus = 0
    if (!this.endpointOccupied) return
    this.endpointOccupied = false
    this.decision.endpoint?.health.end()
    this.#endSpan()
  }

  #endSpan(): void {
    const { span } = this.exchange
    if (span?.attempt === undefined) return
    this.context.observer.attemptEnded(span.attempt, this.exchange)
    span.attempt = undefined
  }

  /** Counts a response that was healthy by its head, once. */
  recordHealthy(): void {
    if (this.healthyStatus === 0) return
    recordComplete(this.decision.endpoint!, this.healthyStatus, this.attemptStartMs)
    this.healthyStatus = 0
  }
}

let lastAuthority = ''

/** The same authority, in a string that requests in a row share and that keeps no other text in memory. */
export function sharedAuthority(authority: string): string {
  if (authority !== lastAuthority) lastAuthority = ownText(authority)
  return lastAuthority
}
