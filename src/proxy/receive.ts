import { REJECTIONS } from '#base/rejections.ts'
import { decide, noteRefused } from '#engine/request/decide.ts'
import type { LiveSocket } from '#engine/route/live-listener.ts'
import { type Outcome, reject } from '#exchange/outcome.ts'
import type { Peer } from '#net/peer.ts'
import type { Abort, ConnectionFault, ResponseField, ServerStream, StreamHandler, WireRefusal } from '#net/stream.ts'
import type { UnreadRequest } from '#observe/observer.ts'
import { chargeTokenLimits } from './charge-token-limits.ts'
import type { CutOff } from './cut-off.ts'
import { forward } from './forward.ts'
import { InFlight, type Interrupt } from './in-flight.ts'
import { incomingConnection } from './incoming-connection.ts'
import type { ProxyContext } from './proxy-context.ts'
import { DECISION } from './reply.ts'
import { fail, respondLocally, whenSettled } from './respond.ts'

const HEAP_IS_FULL = {
  detail:
    'the heap of this worker is nearly full; give it more memory (NODE_OPTIONS=--max-old-space-size=MB) or lower GATEWRIGHT_BODY_MEMORY',
}

/** Serves the requests of one socket. A request enters the proxy here (docs/architecture.md). */
export class Receiver implements StreamHandler {
  readonly #context: ProxyContext
  /** Replaced when the listeners of the socket change; requests in flight keep theirs. */
  socket: LiveSocket

  constructor(context: ProxyContext, socket: LiveSocket) {
    this.#context = context
    this.socket = socket
  }

  request(stream: ServerStream): void {
    const flight = new InFlight(this.#context, stream, this.socket, interrupt)
    stream.context = flight
    try {
      const { index, random, heapIsFull } = this.#context
      if (heapIsFull) return respondLocally(flight, reject('gateway-overloaded', HEAP_IS_FULL))
      const outcome = decide({ index, socket: this.socket, random }, flight.exchange, flight.decision)
      if (outcome instanceof Promise) whenSettled(flight, outcome, (settled) => proceed(flight, settled))
      else proceed(flight, outcome)
    } catch (error) {
      fail(flight, error)
    }
  }

  finished(stream: ServerStream, sentBytes: number): void {
    const flight = stream.context as InFlight
    flight.endDeadline()
    flight.endPolicies()
    flight.context.load.end(flight.retried)
    flight.recordBodies()
    flight.exchange.trailers ??= flight.upstream?.trailers
    flight.decision.settle?.(false)
    chargeTokenLimits(flight.exchange)
    flight.completeAttempt()
    this.#context.observer.ended(flight, sentBytes, noteOnFailure(flight))
    flight.releaseBodies()
    // Otherwise a late filter would cancel the next request on the connection.
    if (flight.upstream?.release() === true) flight.upstream = undefined
    flight.ended = true
    // Questions about bytes of a tunnel that has ended are not needed.
    flight.stopWaiting()
    // An idle connection must not keep the objects of its last request.
    stream.context = undefined
  }

  aborted(stream: ServerStream, why: Abort, cut: boolean): void {
    const flight = stream.context as InFlight | undefined
    if (flight === undefined) return
    if (cut && why !== 'cancelled') flight.breakAttempt()
    // The client disconnected after an event that reported the failure.
    else if (!cut && flight.bodies.response.failure !== undefined) flight.completeAttempt()
    const isUnanswered = !cut && flight.upstream !== undefined && flight.exchange.response === undefined
    flight.abandon()
    flight.context.load.end(flight.retried)
    flight.recordBodies()
    flight.decision.settle?.(isUnanswered)
    chargeTokenLimits(flight.exchange)
    const { observer, cutOff } = this.#context
    observer.ended(flight, 0, cut ? noteOnCut(flight, why) : (noteOnFailure(flight) ?? whyDisconnected(cutOff, why)))
    flight.releaseBodies()
  }

  refused(peer: Peer, code: WireRefusal, stream: ServerStream | undefined): ResponseField | undefined {
    const { observer } = this.#context
    const flight = stream?.context as InFlight | undefined
    if (flight !== undefined) {
      observer.refusedByWire(code)
      return recordWireRefusal(flight, code)
    }
    const decisionId = observer.refusedByWire(code, this.#unread(peer))
    return decisionId === undefined ? undefined : [DECISION, decisionId]
  }

  broken(peer: Peer, fault: ConnectionFault, detail: string): void {
    this.#context.observer.connectionBroken(this.#unread(peer), fault, detail)
  }

  #unread(peer: Peer): UnreadRequest {
    const connection = incomingConnection(this.socket, peer, peer.secure ? 'https' : 'http')
    return { connection, decisionNumber: this.#context.decisionIds.next() }
  }
}

function whyDisconnected(cutOff: CutOff, why: Abort): string {
  return cutOff.take() ?? `client connection ended: ${why}`
}

/** Records the refusal of a request that has begun; `aborted` follows. If the response has begun, its status is kept. */
function recordWireRefusal(flight: InFlight, code: WireRefusal): ResponseField {
  const { exchange } = flight
  if (!flight.responded) {
    const { status, reason } = REJECTIONS[code]
    exchange.refusal = code
    exchange.reason = reason
    flight.status = status
    noteRefused(flight.context.index, exchange, flight.decision)
  }
  return [DECISION, flight.decisionId]
}

/** A response that failed after its head, although the client got a complete one: an LLM stream with an error event. */
function noteOnFailure({ bodies, exchange }: InFlight): string | undefined {
  const { failure } = bodies.response
  if (failure?.unhealthy === true && exchange.refusal === undefined) exchange.reason = 'UpstreamFailure'
  return failure?.detail
}

/** The backend broke off its response. */
function noteOnCut({ exchange, status }: InFlight, why: Abort): string {
  if (why !== 'cancelled' && status !== 101) exchange.reason = 'UpstreamFailure'
  return `response of the backend ended: ${why}`
}

function proceed(flight: InFlight, outcome: Outcome): void {
  if (outcome === undefined) forward(flight)
  else respondLocally(flight, outcome)
}

/** If the response has begun, it is reset (`RunContext.interrupt`). */
export const interrupt: Interrupt = (flight, why) => {
  if (flight.ended) return
  const { exchange, upstream } = flight
  if (flight.responded) {
    if (why instanceof Error) return fail(flight, why)
    const isRefusal = why.kind === 'refusal'
    if (isRefusal) exchange.reason = REJECTIONS[why.code].reason
    exchange.refusalDetail = isRefusal ? why.detail : 'a policy responded after the response had begun'
    return flight.stream.abort()
  }
  flight.stopWaiting()
  flight.upstream = undefined
  upstream?.cancel()
  if (why instanceof Error) fail(flight, why)
  else respondLocally(flight, why)
}
