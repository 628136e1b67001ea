import { REJECTIONS } from '#base/rejections.ts'
import { noteRefused, refuseForClient, runResponsePolicies } from '#engine/request/decide.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { wholeBody } from '#exchange/known-body.ts'
import { type Outcome, type Refusal, reject } from '#exchange/outcome.ts'
import { FixedBody } from '#net/body/fixed-body.ts'
import type { Head } from '#net/http/head.ts'
import type { BodyKind, SendableBody } from '#net/stream.ts'
import { takeGrpcStatus } from './grpc-trailers.ts'
import type { InFlight } from './in-flight.ts'
import { type Reply, replyToAnswer, replyToRefusal } from './reply.ts'

const NO_BYTES = new Uint8Array(0)

/** Sends a response of the gateway itself. Response policies that the request reached still run. */
export function respondLocally(flight: InFlight, outcome: NonNullable<Outcome>): void {
  const { exchange } = flight
  flight.endDeadline()
  flight.releaseEndpoint()
  let reply: Reply
  if (outcome.kind === 'refusal') {
    recordRefusal(exchange, outcome)
    noteRefused(flight.context.index, exchange, flight.decision)
    flight.noteMisread()
    const refusal = refuseForClient(outcome, flight.context.index, exchange, flight.decision)
    reply = replyToRefusal(refusal, exchange, flight.decisionId)
  } else {
    exchange.reason = 'DirectResponse'
    reply = replyToAnswer(outcome)
  }
  setResponse(exchange, reply)
  const replaced = runResponsePolicies(exchange, flight.decision)
  if (replaced?.kind === 'refusal') return respondLocally(flight, replaced)
  sendReply(flight, reply)
}

/** Log and decision record show the refusal that the client receives. */
function recordRefusal(exchange: Exchange, { code, detail, decidedBy }: Refusal): void {
  exchange.refusal = code
  exchange.responseIsRefusal = true
  exchange.refusalDetail = detail
  if (decidedBy !== undefined) exchange.decidedBy = decidedBy
  exchange.reason = REJECTIONS[code].reason
}

/** Makes this the response that policies see, without changes of an earlier response. */
function setResponse(exchange: Exchange, { head, body }: Reply): void {
  exchange.response = head
  exchange.responseBody = wholeBody(body)
  exchange.newResponseBody = undefined
}

/** Sends a complete response. */
function sendReply(flight: InFlight, reply: Reply): void {
  sendBody(flight, reply.head, replyBody(flight, reply))
}

/** The body of a complete response, after response policies. */
export function replyBody(flight: InFlight, { head, body, trailers }: Reply): FixedBody {
  const bytes = flight.exchange.newResponseBody ?? body ?? NO_BYTES
  return new FixedBody(bytes, trailers ?? (bytes.length > 0 ? takeGrpcStatus(flight, head) : undefined))
}

/**
 * Sends a response. All responses are sent here.
 * @returns false if the head is too large for the client's connection: the client got a refusal instead, and the body is not read
 */
export function sendBody(flight: InFlight, head: Head, body: SendableBody): boolean {
  writeQueuedHeaders(flight)
  flight.exchange.writeCors?.(head)
  if (!sendHead(flight, head, body.kind, body.length)) return false
  flight.bodies.response.send(body)
  return true
}

function sendHead(flight: InFlight, head: Head, kind: BodyKind, length: number): boolean {
  const isTaken = flight.stream.respond(head, kind, length)
  if (isTaken) recordHead(flight, head)
  else refuseHead(flight)
  return isTaken
}

function recordHead(flight: InFlight, head: Head): void {
  const { exchange, context } = flight
  if (exchange.answeredMonotonicMs !== 0) exchange.respondedMonotonicMs = context.now()
  flight.status = head.status
  flight.responded = true
}

/**
 * Sends a refusal because the head was too large. The head of the refusal may be too large as well, because response policies changed it;
 * then it is sent without them.
 */
function refuseHead(flight: InFlight): void {
  const { exchange, stream } = flight
  const refusal = reject('response-headers-too-large')
  if (exchange.refusal !== refusal.code) return respondLocally(flight, refusal)
  const { head, body } = replyToRefusal(refusal, exchange, flight.decisionId)
  const bytes = new FixedBody(body ?? NO_BYTES)
  recordHead(flight, head)
  if (stream.respond(head, bytes.kind, bytes.length)) bytes.pipe(stream.response)
  else stream.abort()
}

/** Writes the headers that policies queued; they replace existing ones. */
function writeQueuedHeaders(flight: InFlight): void {
  const { queuedHeaders, response } = flight.exchange
  if (queuedHeaders === undefined || response === undefined) return
  for (let i = 0; i < queuedHeaders.length; i++) {
    const [name, value] = queuedHeaders[i]!
    if (isNamedBefore(queuedHeaders, i, name)) response.append(name, value)
    else response.set(name, value)
  }
}

/** A linear search, because there are few of them. */
function isNamedBefore(
  headers: readonly (readonly [name: string, value: string])[],
  end: number,
  name: string,
): boolean {
  for (let i = 0; i < end; i++) if (headers[i]![0] === name) return true
  return false
}

/** Handles a bug: the client gets 500 and an id, the log the cause. */
export function fail(flight: InFlight, error: unknown): void {
  flight.context.observer.bug(flight.decisionId, error)
  if (flight.responded) flight.stream.abort()
  else respondLocally(flight, reject('internal-error'))
}

/** Continues with a result that comes at once or later, as `whenSettled` does, but without a promise. */
export function whenKnown<Value>(flight: InFlight, proceed: (value: Value) => void): (value: Value) => void {
  return (value) => {
    if (!flight.isWaiting) return
    try {
      proceed(value)
    } catch (error) {
      if (!flight.ended) fail(flight, error)
    }
  }
}

/** Continues with the result of a promise, unless the request has been answered meanwhile or its client has disconnected. */
export function whenSettled<Value>(flight: InFlight, pending: Promise<Value>, proceed: (value: Value) => void): void {
  pending
    .then(
      (value) => {
        if (flight.isWaiting) proceed(value)
      },
      (error: unknown) => {
        if (flight.isWaiting) throw error
      },
    )
    .catch((error: unknown) => {
      if (!flight.ended) fail(flight, error)
    })
}
