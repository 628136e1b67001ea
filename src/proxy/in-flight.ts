import { clock } from '#base/clock.ts'
import type { LiveBackend, LiveEndpoint } from '#engine/backend/live-backend.ts'
import { Decision } from '#engine/request/decide.ts'
import type { LiveSocket } from '#engine/route/live-listener.ts'
import type { Call } from '#exchange/call.ts'
import { Exchange } from '#exchange/exchange.ts'
import type { RunContext } from '#exchange/run-context.ts'
import type { Head } from '#net/http/head.ts'
import type { ClientStream, ServerStream } from '#net/stream.ts'
import type { WheelTimer } from '#net/timer-wheel.ts'
import type { Observed, ObserveSettings } from '#observe/observer.ts'
import { Bodies, type BodyOwner } from './bodies.ts'
import type { ProxyContext } from './proxy-context.ts'

const NONE: readonly LiveEndpoint[] = Object.freeze([])

/**
 * One request at work in the proxy: the exchange that policies see, how far it came, and the streams on both sides. Every request has its
 * own: nothing of a request can be seen by the next one on its connection (docs/decisions/0009).
 */
export class InFlight implements RunContext, BodyOwner, Observed {
  readonly context: ProxyContext
  readonly stream: ServerStream
  readonly socket: LiveSocket
  readonly exchange: Exchange
  readonly decision = new Decision()
  readonly bodies: Bodies
  readonly decisionNumber: number
  upstream: ClientStream | undefined
  /** Endpoints tried so far; filled only when there may be another attempt. */
  tried: readonly LiveEndpoint[] = NONE
  /** The request head before the first attempt changed it. */
  pristine: Head | undefined
  retriesLeft = 0
  /** It holds a place among the retries of the worker. */
  retried = false
  /** Set once a response head has been given to the stream. */
  responded = false
  /** The response has ended, or the client has left: the stream may carry another request. */
  over = false
  /** An endpoint is counted as busy. */
  pending = false
  /** The head of the answer was healthy; how it ends, shows later. */
  healthy = false
  /** Fires when `timeouts.request` is over. */
  deadline: WheelTimer | undefined
  /** Ends a retry's wait. */
  backoff: { cancel(): void } | undefined
  /** Stops calls that the gateway makes for this request. */
  abort: AbortController | undefined
  attemptStartMs = 0
  status = 0

  constructor(context: ProxyContext, stream: ServerStream, socket: LiveSocket) {
    const { head, peer } = stream
    context.load.begin()
    this.context = context
    this.stream = stream
    this.socket = socket
    this.bodies = new Bodies(this)
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
    exchange.originalAuthority = head.authority
    exchange.originalTarget = head.target
    this.exchange = exchange
  }

  get backend(): LiveBackend {
    return this.decision.backend!
  }

  /** What a refusal shows to its client. */
  get decisionId(): string {
    return this.context.decisionIds.idOf(this.decisionNumber)
  }

  /** What is waited for on its way still matters: nobody has answered it, and its client is there. */
  get isWaiting(): boolean {
    return !this.over && !this.responded
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
    return this.context.calls.ofRequest(this.exchange, this.bodies.claim)
  }

  /** What is waited for does not matter any more; the request itself may go on. */
  stopWaiting(): void {
    this.backoff?.cancel()
    this.backoff = undefined
    this.abort?.abort()
  }

  /** Gives up everything that is under way for this request. */
  abandon(): void {
    this.over = true
    this.stopWaiting()
    this.endDeadline()
    this.upstream?.cancel()
    this.upstream = undefined
    this.releaseEndpoint()
  }

  endDeadline(): void {
    if (this.deadline !== undefined) this.context.wheel.remove(this.deadline)
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
