import { clock } from '#base/clock.ts'
import { chooseDestination } from '#engine/backend/destinations.ts'
import type { LiveEndpoint } from '#engine/backend/live-backend.ts'
import { findPlace, isRefusal } from '#engine/backend/place.ts'
import { Progress, runChain } from '#engine/merge/chain.ts'
import { judgeHead, recordComplete } from '#engine/request/record-answer.ts'
import { CallError, type CallFailure, type CallRequest, type CallResponse } from '#exchange/call.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { Outcome } from '#exchange/outcome.ts'
import { FixedBody } from '#net/body/fixed-body.ts'
import { countsForHealth, type Failure } from '#net/failure.ts'
import { grpcStatusName } from '#net/grpc/status-fields.ts'
import { BODY_NONE, type ClientHandler, type ClientStream } from '#net/stream.ts'
import { type TimerWheel, WheelTimer } from '#net/timer-wheel.ts'
import { type AnswerOwner, CallAnswer } from './call-answer.ts'
import { callExchange } from './call-exchange.ts'
import type { CallRoom } from './call-room.ts'
import type { CallEnd, CallWay } from './call-way.ts'

/** Maximum size of a part of a body that is signed by itself. */
const MAX_SIGNED_PART_BYTES = 1024 * 1024

/** What a call needs until its answer begins, which may then last for hours. */
interface Unanswered {
  readonly way: CallWay
  readonly request: CallRequest
  exchange: Exchange | undefined
  readonly resolve: (response: CallResponse) => void
  readonly reject: (error: unknown) => void
}

/** One call, from the wait for room to the last byte of its answer. */
export class OneCall implements ClientHandler, AnswerOwner {
  readonly #endpoint: LiveEndpoint
  readonly #signal: AbortSignal
  readonly #wheel: TimerWheel
  readonly #room: CallRoom
  readonly #roomKey: string
  readonly #ended: (end: CallEnd) => void
  #unanswered: Unanswered | undefined
  #hasRoom = false
  /** Waits for its turn in the room; undefined: it does not wait. */
  #go: (() => void) | undefined
  #deadline: WheelTimer | undefined
  #sentMs = 0
  #upstream: ClientStream | undefined
  #answer: CallAnswer | undefined
  #healthy = false
  #over = false

  private constructor(unanswered: Unanswered) {
    const { endpoint, wheel, room, roomKey, ended } = unanswered.way
    this.#unanswered = unanswered
    this.#endpoint = endpoint
    this.#signal = unanswered.request.signal
    this.#wheel = wheel
    this.#room = room
    this.#roomKey = roomKey
    this.#ended = ended
  }

  static make(way: CallWay, request: CallRequest): Promise<CallResponse> {
    return new Promise((resolve, reject) => {
      const unanswered: Unanswered = { way, request, exchange: undefined, resolve, reject }
      new OneCall(unanswered).#begin(unanswered)
    })
  }

  #begin(unanswered: Unanswered): void {
    const { way, request } = unanswered
    const { endpoint, room, roomKey, atOnce } = way
    const { signal, messageDeadline } = request
    if (signal.aborted) return this.#fail('cancelled')
    if (endpoint.refusal !== undefined) return this.#fail('no-endpoint', endpoint.refusal.detail)
    signal.addEventListener('abort', this.#cancelled, { once: true })
    messageDeadline?.bind(endpoint.requestTimeoutMs, () => this.#stop('timeout'))
    const deadlineMs = deadlineOf(way, request)
    if (deadlineMs !== undefined) this.#limit(deadlineMs)
    this.#go = () => this.#enter(unanswered)
    if (!room.enter(roomKey, atOnce, this.#go)) this.#fail('too-many-waiting')
  }

  /** A wheel that lags behind the clock fires early, and callers compare the end of a call with their own limits. */
  #limit(deadlineMs: number): void {
    const dueMs = clock.monotonic() + deadlineMs
    const timer = new WheelTimer(() => {
      const leftMs = dueMs - clock.monotonic()
      if (leftMs > 0) this.#wheel.arm(timer, leftMs)
      else this.#stop('timeout')
    })
    this.#deadline = timer
    this.#wheel.arm(timer, deadlineMs)
  }

  readonly #cancelled = (): void => this.#stop('cancelled')

  /** The backend policies of the destination see the identity of the caller, but not its request. */
  #enter(unanswered: Unanswered): void {
    this.#go = undefined
    this.#hasRoom = true
    const { way, request } = unanswered
    try {
      const exchange = callExchange(way, request, deadlineOf(way, request))
      unanswered.exchange = exchange
      const refused = runChain(way.endpoint.chain, exchange, new Progress())
      if (refused instanceof Promise) {
        refused.then((settled) => this.#send(unanswered, settled)).catch((bug: unknown) => this.#fault(bug))
      } else this.#send(unanswered, refused)
    } catch (bug) {
      this.#fault(bug)
    }
  }

  #fault(bug: unknown): void {
    this.#unanswered?.reject(bug)
    this.#end({ failure: 'no-endpoint' })
  }

  #send({ way, request, exchange: prepared }: Unanswered, refused: Outcome): void {
    if (this.#over) return
    const exchange = prepared!
    const { endpoint, claim, pool, span } = way
    if (endpoint.target !== undefined) exchange.request.target = endpoint.target
    if (refused === undefined) request.finish?.(exchange.request)
    const outcome = refused ?? endpoint.chain.signature?.sign(exchange)
    if (outcome !== undefined) return this.#fail('backend-auth-failed', refusalDetail(outcome))
    const place = findPlace(endpoint.place, exchange.request.authority)
    if (isRefusal(place)) return this.#fail('no-endpoint', place.detail)
    const { protocol, body: given, messageDeadline, timeoutMs } = request
    const unsigned = given === undefined || given instanceof Uint8Array ? new FixedBody(given ?? '') : given
    const body = exchange.signBody?.(unsigned, { claim, maxBytes: MAX_SIGNED_PART_BYTES }) ?? unsigned
    this.#sentMs = clock.monotonic()
    endpoint.health.begin()
    const destination =
      protocol === 'grpc' ? place.destinations.rpc : chooseDestination(place.destinations, exchange, '')
    span?.sent(exchange.request, destination, this.#sentMs)
    const limitMs = messageDeadline === undefined ? endpoint.requestTimeoutMs || timeoutMs : 0
    this.#upstream = pool.send(destination, exchange.request, body, limitMs, this, undefined)
    if (body.kind !== BODY_NONE) body.pipe(this.#upstream.request)
  }

  response(stream: ClientStream): void {
    const { status } = stream.head
    const { way, exchange, resolve } = this.#unanswered!
    exchange!.response = stream.head
    this.#healthy = this.#judge(status)
    this.#unanswered = undefined
    this.#answer = new CallAnswer(stream, this.#endpoint.label, way.claim, this)
    resolve(this.#answer)
  }

  answerEnded(status: number, failure: CallFailure | undefined): void {
    this.#end({ status, failure })
  }

  informed(): void {}

  replayed(): void {}

  upgraded(stream: ClientStream): void {
    stream.cancel()
    this.#fail('protocol-error', 'the server switched protocols')
  }

  failed(_: ClientStream, failure: Failure): void {
    const { code, detail, maybeProcessed } = failure
    this.#unanswered!.way.failed(code)
    if (countsForHealth(failure)) this.#judge(undefined)
    this.#fail(code, detail, maybeProcessed ? undefined : this.#endpoint.label)
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
    const { request, exchange } = this.#unanswered!
    if (request.leavesHealth === true) return false
    return judgeHead(this.#endpoint, exchange!, status)
  }

  /**
   * Records the health of a response whose head was healthy. A caller that stops reading early has what it needs, so that counts as
   * complete.
   */
  #judgeEnd(status: number, failure: CallFailure | undefined): void {
    if (failure === 'reset' || failure === 'protocol-error')
      this.#endpoint.health.recordUnhealthy('incomplete response')
    else if (failure === undefined || (failure === 'cancelled' && !this.#signal.aborted))
      recordComplete(this.#endpoint, status, this.#sentMs)
  }

  #fail(failure: CallFailure, detail?: string, unreached?: string): void {
    this.#unanswered?.reject(new CallError(failure, detail, unreached))
    this.#end({ failure })
  }

  #end({ status, failure }: CallEnd): void {
    if (this.#over) return
    this.#over = true
    if (this.#deadline !== undefined) this.#wheel.remove(this.#deadline)
    this.#signal.removeEventListener('abort', this.#cancelled)
    if (this.#upstream !== undefined) {
      this.#endpoint.health.end()
      if (this.#healthy) this.#judgeEnd(status!, failure)
    }
    if (this.#hasRoom) this.#room.leave(this.#roomKey)
    else if (this.#go !== undefined) this.#room.forget(this.#roomKey, this.#go)
    const grpcStatus = status === undefined ? undefined : grpcStatusOf(this.#upstream!)
    this.#ended({ status, failure, grpcStatus })
  }
}

function deadlineOf({ endpoint }: CallWay, request: CallRequest): number | undefined {
  const { deadlineMs, defaultDeadlineMs, maxDeadlineMs } = request
  const wanted = deadlineMs ?? (defaultDeadlineMs && (endpoint.requestTimeoutMs || defaultDeadlineMs))
  return maxDeadlineMs === undefined || (wanted !== undefined && wanted < maxDeadlineMs) ? wanted : maxDeadlineMs
}

/** It is in the head of a response without messages. */
function grpcStatusOf({ head, trailers }: ClientStream): string | undefined {
  const value = trailers?.get('grpc-status') ?? head.get('grpc-status')
  return value === undefined ? undefined : grpcStatusName(value)
}

function refusalDetail(outcome: NonNullable<Outcome>): string | undefined {
  return outcome.kind === 'refusal' ? outcome.detail : undefined
}
