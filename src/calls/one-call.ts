import { clock } from '#base/clock.ts'
import { chooseDestination } from '#engine/backend/destinations.ts'
import type { LiveEndpoint } from '#engine/backend/live-backend.ts'
import { findPlace, isRefusal } from '#engine/backend/place.ts'
import { Progress, runChain } from '#engine/request/chain.ts'
import { judgeHead, recordComplete } from '#engine/request/record-answer.ts'
import {
  type Call,
  CallError,
  type CallFailure,
  type CallPurpose,
  type CallRequest,
  type CallResponse,
  type EndedCall,
} from '#exchange/call.ts'
import { Exchange } from '#exchange/exchange.ts'
import type { Outcome } from '#exchange/outcome.ts'
import type { ClientSpan } from '#exchange/request-span.ts'
import { NO_CLIENT, SYSTEM } from '#exchange/run-context.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import { FixedBody } from '#net/body/fixed-body.ts'
import { type Failure, type FailureCode, isOwnBound } from '#net/failure.ts'
import { grpcStatusName, grpcTimeout } from '#net/grpc/status-fields.ts'
import { Head } from '#net/http/head.ts'
import { isGrpcRequest } from '#net/http/request-rules.ts'
import { BODY_NONE, type ClientHandler, type ClientPool, type ClientStream } from '#net/stream.ts'
import { type TimerWheel, WheelTimer } from '#net/timer-wheel.ts'
import { CallAnswer } from './call-answer.ts'
import type { CallRoom } from './call-room.ts'
import type { Caller } from './caller.ts'

/** Maximum size of a part of a body that is signed by itself. */
const MAX_SIGNED_PART_BYTES = 1024 * 1024

/** Everything that one call needs. */
export interface CallWay {
  readonly endpoint: LiveEndpoint
  readonly caller: Caller
  /** Memory for parts of bodies. */
  readonly claim: BodyClaim
  readonly pool: ClientPool
  readonly wheel: TimerWheel
  readonly room: CallRoom
  /** Purpose and destination; calls with the same key share the bound. */
  readonly roomKey: string
  /** Maximum number of concurrent calls with that key. */
  readonly atOnce: number
  readonly random: () => number
  /** For steps of the destination's own policies. */
  readonly call: Call
  readonly failed: (failure: FailureCode) => void
  readonly ended: (end: CallEnd) => void
  /** Set if the request that caused the call is traced. */
  readonly span: ClientSpan | undefined
}

/** How a call ended. */
export type CallEnd = Partial<Pick<EndedCall, 'status' | 'grpcStatus' | 'failure'>>

/** One call, from the wait for room to the last byte of its answer. */
export class OneCall implements ClientHandler {
  readonly #way: CallWay
  readonly #request: CallRequest
  #exchange: Exchange | undefined
  readonly #answered = Promise.withResolvers<CallResponse>()
  #deadline: WheelTimer | undefined
  #hasRoom = false
  #sentMs = 0
  #upstream: ClientStream | undefined
  #answer: CallAnswer | undefined
  #healthy = false
  #over = false

  constructor(way: CallWay, request: CallRequest) {
    this.#way = way
    this.#request = request
  }

  make(): Promise<CallResponse> {
    const { signal, messageDeadline } = this.#request
    const deadlineMs = this.#deadlineMs
    const { room, roomKey, atOnce, endpoint, wheel } = this.#way
    if (signal.aborted) this.#fail('cancelled')
    else if (endpoint.refusal !== undefined) this.#fail('no-endpoint', endpoint.refusal.detail)
    else {
      signal.addEventListener('abort', this.#cancelled, { once: true })
      messageDeadline?.bind(endpoint.requestTimeoutMs, () => this.#stop('timeout'))
      if (deadlineMs !== undefined) {
        this.#deadline = new WheelTimer(() => this.#stop('timeout'))
        wheel.arm(this.#deadline, deadlineMs)
      }
      if (!room.enter(roomKey, atOnce, this.#go)) this.#fail('too-many-waiting')
    }
    return this.#answered.promise
  }

  get #deadlineMs(): number | undefined {
    const { deadlineMs, defaultDeadlineMs, maxDeadlineMs } = this.#request
    const wanted = deadlineMs ?? (defaultDeadlineMs && (this.#way.endpoint.requestTimeoutMs || defaultDeadlineMs))
    return maxDeadlineMs === undefined || (wanted !== undefined && wanted < maxDeadlineMs) ? wanted : maxDeadlineMs
  }

  readonly #cancelled = (): void => this.#stop('cancelled')

  /** The backend policies of the destination see the identity of the caller, but not its request. */
  readonly #go = (): void => {
    this.#hasRoom = true
    try {
      const exchange = this.#prepare()
      const refused = runChain(this.#way.endpoint.chain, exchange, new Progress())
      if (refused instanceof Promise) refused.then((settled) => this.#send(exchange, settled)).catch(this.#fault)
      else this.#send(exchange, refused)
    } catch (bug) {
      this.#fault(bug)
    }
  }

  readonly #fault = (bug: unknown): void => {
    this.#answered.reject(bug)
    this.#end({ failure: 'no-endpoint' })
  }

  #send(exchange: Exchange, refused: Outcome): void {
    if (this.#over) return
    const { endpoint } = this.#way
    if (endpoint.target !== undefined) exchange.request.target = endpoint.target
    if (refused === undefined) this.#request.finish?.(exchange.request)
    const outcome = refused ?? endpoint.chain.signature?.sign(exchange)
    if (outcome !== undefined) return this.#fail('backend-auth-failed', refusalDetail(outcome))
    const place = findPlace(endpoint.place, exchange.request.authority)
    if (isRefusal(place)) return this.#fail('no-endpoint', place.detail)
    const { protocol, body: given, messageDeadline, timeoutMs } = this.#request
    const unsigned = given === undefined || given instanceof Uint8Array ? new FixedBody(given ?? '') : given
    const limits = { claim: this.#way.claim, maxBytes: MAX_SIGNED_PART_BYTES }
    const body = exchange.signBody?.(unsigned, limits) ?? unsigned
    this.#sentMs = clock.monotonic()
    endpoint.health.begin()
    const destination =
      protocol === 'grpc' ? place.destinations.rpc : chooseDestination(place.destinations, exchange, '')
    this.#way.span?.sent(exchange.request, destination, this.#sentMs)
    this.#upstream = this.#way.pool.send(
      destination,
      exchange.request,
      body,
      messageDeadline === undefined ? endpoint.requestTimeoutMs || timeoutMs : 0,
      this,
      undefined,
    )
    if (body.kind !== BODY_NONE) body.pipe(this.#upstream.request)
  }

  #prepare(): Exchange {
    const { endpoint, caller, random, call } = this.#way
    const { method, path, host, headers, body, signal, protocol, isRepeatable } = this.#request
    const head = Head.request(method, path)
    head.set('host', hostFor(endpoint, host))
    for (const [name, value] of headers) if (name !== 'host') head.append(name, value)
    passTrace(head, this.#request.purpose, this.#way)
    if (protocol === 'grpc') prepareGrpc(head, this.#deadlineMs)
    head.takesTrailers ||= isGrpcRequest(head)
    head.isRepeatable = isRepeatable === true
    const exchange = new Exchange(head, caller.peer)
    this.#exchange = exchange
    exchange.context = {
      ...SYSTEM,
      ...NO_CLIENT,
      random,
      signal,
      call,
      callLater: call,
      callShared: call,
      callSections: call,
    }
    exchange.startMonotonicMs = clock.monotonic()
    exchange.names = caller.names
    exchange.gateway = caller.gateway
    exchange.workloads = caller.workloads
    Object.assign(exchange.identity, caller.identity)
    exchange.metadata = caller.metadata
    exchange.requestBody = body === undefined ? new Uint8Array(0) : body instanceof Uint8Array ? body : null
    return exchange
  }

  response(stream: ClientStream): void {
    const { status } = stream.head
    this.#exchange!.response = stream.head
    this.#healthy = this.#judge(status)
    this.#answer = new CallAnswer(stream, this.#way.endpoint.label, this.#way.claim, (failure) =>
      this.#end({ status, failure }),
    )
    this.#answered.resolve(this.#answer)
  }

  informed(): void {}

  replayed(): void {}

  upgraded(stream: ClientStream): void {
    stream.cancel()
    this.#fail('protocol-error', 'the server switched protocols')
  }

  failed(_: ClientStream, { code, detail, maybeProcessed }: Failure): void {
    this.#way.failed(code)
    if (!isOwnBound(code)) this.#judge(undefined)
    this.#fail(code, detail, maybeProcessed ? undefined : this.#way.endpoint.label)
  }

  /** The caller has given up, or the deadline has passed. */
  #stop(why: 'cancelled' | 'timeout'): void {
    if (this.#answer !== undefined) return this.#answer.abort(why)
    const upstream = this.#upstream
    if (upstream?.awaitsRoom === true) {
      upstream.cancel()
      return this.#fail(why === 'timeout' ? 'wait-timeout' : why)
    }
    upstream?.cancel()
    // An endpoint that did not answer in time is unhealthy (decision A-99).
    if (upstream !== undefined && why === 'timeout') this.#judge(undefined)
    this.#fail(why)
  }

  #judge(status: number | undefined): boolean {
    if (this.#request.leavesHealth === true) return false
    return judgeHead(this.#way.endpoint, this.#exchange!, status)
  }

  /**
   * Records the health of a response whose head was healthy. A caller that stops reading early has what it needs, so that counts as
   * complete.
   */
  #judgeEnd(status: number, failure: CallFailure | undefined): void {
    const { endpoint } = this.#way
    if (failure === 'reset' || failure === 'protocol-error') endpoint.health.recordUnhealthy('incomplete response')
    else if (failure === undefined || (failure === 'cancelled' && !this.#request.signal.aborted))
      recordComplete(endpoint, status, this.#sentMs)
  }

  #fail(failure: CallFailure, detail?: string, unreached?: string): void {
    this.#answered.reject(new CallError(failure, detail, unreached))
    this.#end({ failure })
  }

  #end({ status, failure }: CallEnd): void {
    if (this.#over) return
    this.#over = true
    if (this.#deadline !== undefined) this.#way.wheel.remove(this.#deadline)
    this.#request.signal.removeEventListener('abort', this.#cancelled)
    const { endpoint, room, roomKey, ended } = this.#way
    if (this.#upstream !== undefined) {
      endpoint.health.end()
      if (this.#healthy) this.#judgeEnd(status!, failure)
    }
    if (this.#hasRoom) room.leave(roomKey)
    else room.forget(roomKey, this.#go)
    ended({ status, failure, grpcStatus: this.#grpcStatus })
  }

  get #grpcStatus(): string | undefined {
    const value = this.#upstream?.trailers?.get('grpc-status') ?? this.#exchange?.response?.get('grpc-status')
    return value === undefined ? undefined : grpcStatusName(value)
  }
}

/** Passes the trace of the request on that caused the call. Copies of requests have its fields already. */
function passTrace(head: Head, purpose: CallPurpose, { caller, span }: CallWay): void {
  const { traceparent, tracestate, baggage } = caller
  if (traceparent !== undefined && !head.has('traceparent')) {
    head.set('traceparent', traceparent)
    if (tracestate !== undefined) head.set('tracestate', tracestate)
  }
  // Servers that a policy asks are not part of what the client does.
  if (purpose === 'mcp' && baggage !== undefined && !head.has('baggage')) head.set('baggage', baggage)
  if (span !== undefined && head.joined('traceparent') === span.of.header) head.set('traceparent', span.header)
}

/** A forwarded host is rewritten as for other forwarded requests (specification 2, 2.2.4). */
function hostFor({ hostname, label, rewritesHost }: LiveEndpoint, forwarded: string | undefined): string {
  if (forwarded !== undefined && !rewritesHost) return forwarded
  return hostname ?? forwarded ?? label
}

/** The fields of every gRPC request (gRPC over HTTP/2, "Requests"). */
function prepareGrpc(head: Head, deadlineMs: number | undefined): void {
  head.set('content-type', 'application/grpc')
  if (deadlineMs !== undefined) head.set('grpc-timeout', grpcTimeout(deadlineMs))
}

function refusalDetail(outcome: NonNullable<Outcome>): string | undefined {
  return outcome.kind === 'refusal' ? outcome.detail : undefined
}
