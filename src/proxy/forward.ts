import { clock } from '#base/clock.ts'
import { cutText } from '#base/cut-text.ts'
import { chooseDestination } from '#engine/backend/destinations.ts'
import type { LiveEndpoint } from '#engine/backend/live-backend.ts'
import { judgeHead } from '#engine/request/record-answer.ts'
import { responseTimeout } from '#engine/request/response-timeout.ts'
import { chooseForAttempt } from '#engine/route/session-endpoint.ts'
import {
  attemptPrepared,
  beginAttempt,
  beginScript,
  bodyCollected,
  bodyDecoded,
  type ScriptDriver,
} from '#engine/script/attempt.ts'
import type { Attempt, Exchange } from '#exchange/exchange.ts'
import { UNREAD_BODY } from '#exchange/known-body.ts'
import { type Outcome, type Refusal, reject } from '#exchange/outcome.ts'
import { rejectFailure } from '#exchange/reject-failure.ts'
import { LATE_WAITING } from '#net/connect/waiting-line.ts'
import { type ClientPart, countsForHealth, type Failure, type ReplayCause } from '#net/failure.ts'
import type { Head } from '#net/http/head.ts'
import { isGrpcRequest } from '#net/http/request-rules.ts'
import type { SendableBody } from '#net/stream.ts'
import { BODY_LENGTH, BODY_NONE, type ClientHandler, type ClientStream, type Framing } from '#net/stream.ts'
import type { AnswerFailure } from '#protocols/backend-protocol.ts'
import { chargeTokenLimits } from './charge-token-limits.ts'
import { startDeadline } from './deadline.ts'
import { lacksGrpcStatus } from './grpc-trailers.ts'
import type { InFlight } from './in-flight.ts'
import { passExpectation } from './pass-expectation.ts'
import { RequestTrailerGate, screenInterim, screenTrailers } from './passing-fields.ts'
import { fail, respondLocally, whenKnown, whenSettled } from './respond.ts'
import { respondFromUpstream } from './respond-upstream.ts'
import { serveRequest } from './serve-request.ts'

/** Characters of `Retry-After` that the log shows; a date is shorter. */
const MAX_WAIT_LENGTH = 40

/** Forwards a request to its backend, which is known and usable. */
export function forward(flight: InFlight): void {
  const { exchange } = flight
  const { serve, endsWithClient } = flight.backend.protocol
  if (endsWithClient === true) flight.stream.endWithClient?.()
  // The client had left already.
  if (flight.ended) return
  if (exchange.mirrors !== undefined) flight.context.mirrors.send(flight)
  if (serve !== undefined) return serveRequest(flight, serve)
  beginScript(SOCKETS, flight)
}

/** Runs the script of a request (`engine/script`) with its sockets. */
const SOCKETS: ScriptDriver<InFlight> = {
  hasUnreadBody: ({ bodies }) => bodies.request.streams,
  keepBody: ({ bodies: { request } }) => !request.streams || request.keepForRetry(),
  collectBody(flight, use) {
    const { decision, bodies } = flight
    const collected = whenKnown(flight, (refusal: Refusal | undefined) => bodyCollected(SOCKETS, flight, use, refusal))
    bodies.request.collect(decision.frontend!.maxBufferBytes, use, collected)
  },
  decodeBody(flight) {
    const { decision, bodies } = flight
    const decoded = bodies.request.decode(decision.frontend!.maxBufferBytes)
    whenSettled(flight, decoded, (refusal) => bodyDecoded(SOCKETS, flight, refusal))
  },
  chooseEndpoint: nextEndpoint,
  wait: (flight, outcome) => whenSettled(flight, outcome, (settled) => attemptPrepared(SOCKETS, flight, settled)),
  /** Other endpoints are tried after other requests have run, because preparing an attempt takes time. */
  leaveToOthers(flight, { code: unfit, detail }) {
    addAttempt(flight, { status: 0, failure: undefined, unfit, detail })
    flight.backoff = clock.after(0, () => attempt(flight))
  },
  refuse: respondLocally,
  finish: proceedWith,
}

function attempt(flight: InFlight): void {
  beginAttempt(SOCKETS, flight)
}

function nextEndpoint({ backend, exchange, tried, decision, context }: InFlight): LiveEndpoint | undefined {
  return chooseForAttempt(backend, exchange.session, { tried, unfit: decision.unfit }, context.random)
}

function proceedWith(flight: InFlight, outcome: Outcome): void {
  if (flight.attemptStart !== undefined) flight.tried = [...flight.tried, flight.decision.endpoint!]
  if (outcome?.kind === 'refusal' && outcome.endpointFault === 'unavailable') return failUnsent(flight, outcome)
  if (outcome !== undefined) return respondLocally(flight, outcome)
  flight.noteMisread()
  send(flight)
}

/** The attempt fails although nothing was sent: another endpoint may have another credential (decision A-104). */
function failUnsent(flight: InFlight, refusal: Refusal): void {
  flight.decision.endpoint!.health.recordUnhealthy('no response')
  const { code, detail } = refusal
  addAttempt(flight, { status: 0, failure: code, detail, maybeProcessed: false })
  if (mayRetry(flight)) return retry(flight)
  respondLocally(flight, refusal)
}

function send(flight: InFlight): void {
  const { exchange, context, stream, bodies } = flight
  const endpoint = flight.decision.endpoint!
  const { upgrade } = stream.head
  if (flight.tried.length > 1) {
    exchange.request.set('x-retry-attempt', String(flight.tried.length - 1))
  }
  flight.attemptStartMs = context.now()
  if (exchange.sentMonotonicMs === 0) {
    exchange.sentMonotonicMs = flight.attemptStartMs
    startDeadline(flight, endLateAttempt)
  }
  flight.occupyEndpoint()
  const body = bodies.request.outgoing()
  passExpectation(flight, body)
  const framing = frame(flight, body, endpoint)
  const destination = chooseDestination(flight.decision.place!.destinations, exchange, upgrade)
  exchange.span?.attempt?.sent(exchange.request, destination, flight.attemptStartMs)
  const upstream = context.pool.send(
    destination,
    exchange.request,
    framing,
    responseTimeout(endpoint, exchange),
    UPSTREAM,
    flight,
  )
  flight.upstream = upstream
  if (framing.kind !== BODY_NONE) bodies.request.send(body, upstream.request)
}

function frame(
  { exchange, decision, stream }: InFlight,
  body: SendableBody,
  { requestTimeoutMs }: LiveEndpoint,
): Framing {
  // If the client sent a body and its replacement is empty, the Content-Length is 0.
  const emptied = body.kind === BODY_NONE && stream.body.kind !== BODY_NONE
  const kind = emptied ? BODY_LENGTH : body.kind
  // Request trailers are forwarded only to gRPC backends: other servers do not announce that they accept trailers.
  const trails = body.trails === true && kind !== BODY_NONE && isGrpcRequest(exchange.request)
  return {
    kind,
    length: emptied ? 0 : body.length,
    upgrade: stream.head.upgrade,
    // The default timeout is for servers that do not respond, not for slow uploads.
    patient: requestTimeoutMs === 0 && !exchange.attemptTimeoutMs,
    trailers: trails ? new RequestTrailerGate(decision) : undefined,
  }
}

/** Events of upstream connections; the context of a stream is its request. */
const UPSTREAM: ClientHandler = {
  response(stream: ClientStream): void {
    const flight = stream.context as InFlight
    if (flight.upstream !== stream) return stream.cancel()
    try {
      const { status } = stream.head
      flight.exchange.response = stream.head
      recordAttempt(flight, status)
      if (flight.exchange.retry?.codes.has(status) && mayRetry(flight)) {
        stream.cancel()
        flight.completeAttempt()
        return retry(flight)
      }
      respondFromUpstream(flight, stream, retryAnswer)
    } catch (error) {
      stream.cancel()
      fail(flight, error)
    }
  },

  informed(stream: ClientStream, head: Head): void {
    const flight = stream.context as InFlight
    if (flight.upstream !== stream) return
    screenInterim(flight.decision, head)
    flight.stream.inform(head)
  },

  trailed(stream: ClientStream, trailers: Head): void {
    const flight = stream.context as InFlight
    if (flight.upstream === stream) screenTrailers(flight.decision, flight.exchange, trailers)
  },

  isComplete(stream: ClientStream): boolean {
    return !lacksGrpcStatus(stream.context as InFlight, stream)
  },

  upgraded(stream: ClientStream): void {
    const flight = stream.context as InFlight
    if (flight.upstream !== stream) return stream.cancel()
    const { upgrade } = stream.head
    if (upgrade.toLowerCase() !== flight.stream.head.upgrade.toLowerCase()) {
      stream.cancel()
      const detail = `backend switched to ${upgrade}`
      recordAttempt(flight, undefined, { code: 'protocol-error', detail, maybeProcessed: true })
      return mayRetry(flight) ? retry(flight) : respondLocally(flight, reject('upgrade-failed', { detail }))
    }
    flight.exchange.response = stream.head
    recordAttempt(flight, 101)
    // An upgrade is complete with its 101; how the tunnel ends does not count.
    flight.recordHealthy()
    // `timeouts.request` ends at a 101 (decision A-92).
    flight.endDeadline()
    flight.endPolicies()
    screenInterim(flight.decision, stream.head)
    flight.status = 101
    flight.responded = true
    flight.stream.tunnel(
      stream.head,
      flight.bodies.response.openTunnel(stream, () => chargeTokenLimits(flight.exchange)),
    )
  },

  resends(stream: ClientStream): boolean {
    const flight = stream.context as InFlight
    return flight.upstream !== stream || !mayMoveOn(flight)
  },

  replayed(stream: ClientStream, cause: ReplayCause): void {
    const flight = stream.context as InFlight
    if (flight.upstream === stream) recordReplay(flight, cause)
  },

  failed(stream: ClientStream, failure: Failure): void {
    const flight = stream.context as InFlight
    if (flight.upstream !== stream) return
    const { endpoint, place } = flight.decision
    // A destination that a client chose says nothing about the configuration.
    if (endpoint!.place === place) flight.context.facts.record(flight.backend.item.key, endpoint!.label, failure.code)
    recordAttempt(flight, undefined, failure)
    // Another attempt would have the same destination.
    if (failure.code !== 'address-not-allowed' && mayRetry(flight)) return retry(flight)
    respondLocally(flight, rejectFailure(failure, place!.label))
  },
}

/** Records the response head of an attempt, or its failure, for the health of its endpoint, the log and the decision record. */
function recordAttempt(flight: InFlight, status: number | undefined, failure?: Failure): void {
  const { exchange, context } = flight
  const endpoint = flight.decision.endpoint!
  exchange.answeredMonotonicMs = context.now()
  const span = exchange.span?.attempt
  if (span !== undefined) {
    span.status = status
    span.failure = failure?.code
  }
  if (failure === undefined || countsForHealth(failure, clientPart(flight))) {
    flight.healthyStatus = judgeHead(endpoint, exchange, status) ? status! : 0
  }
  if (failure !== undefined) flight.releaseEndpoint()
  if (failure !== undefined) {
    const { code, detail, maybeProcessed } = failure
    addAttempt(flight, { status: 0, failure: code, detail, maybeProcessed, ...timesOf(flight) })
    return
  }
  const detail = askedWait(exchange)
  // The record itself describes an only attempt.
  const isOnly = flight.tried.length === 0 && exchange.attempts === undefined
  if (!isOnly || detail !== undefined) {
    addAttempt(flight, { status: status!, failure: undefined, detail, ...timesOf(flight) })
  }
}

/** When the attempt was sent, and when its response head came or it failed. */
function timesOf({ exchange, attemptStartMs }: InFlight): Pick<Attempt, 'sentMs' | 'answeredMs'> {
  const { startMonotonicMs, answeredMonotonicMs } = exchange
  return { sentMs: attemptStartMs - startMonotonicMs, answeredMs: answeredMonotonicMs - startMonotonicMs }
}

/** How long an overloaded server asks its clients to wait (RFC 9110, 10.2.3). */
function askedWait({ response }: Exchange): string | undefined {
  const wait = response !== undefined && response.status >= 400 ? response.joined('retry-after') : undefined
  return wait && `retry-after: ${cutText(wait, MAX_WAIT_LENGTH)}`
}

/** What the client chose of the attempt that failed. */
function clientPart({ stream, exchange, decision, clientDeadlinePassed }: InFlight): ClientPart {
  const { destinations } = decision.place!
  const usual = destinations.usual.http
  const { http } = chooseDestination(destinations, exchange, stream.head.upgrade)
  const isDerived = http !== usual && (http === 'http2' || usual === 'http2')
  return {
    version: isDerived && http !== 'negotiated' ? http : undefined,
    slow: clientDeadlinePassed || (!stream.body.done && stream.body.flowing),
  }
}

/** The connection resent a request. The previous attempt counts like any other, also for the retry policy. */
function recordReplay(flight: InFlight, cause: ReplayCause): void {
  const { exchange } = flight
  const maybeProcessed = cause === 'stale-connection'
  addAttempt(flight, { status: 0, failure: 'reset', maybeProcessed, replayed: cause })
  exchange.retries++
  if (flight.retriesLeft > 0) flight.retriesLeft--
}

function addAttempt({ exchange, decision }: InFlight, attempt: Omit<Attempt, 'endpoint' | 'section'>): void {
  const { label, section } = decision.endpoint!
  exchange.attempts ??= []
  exchange.attempts.push({ endpoint: decision.place?.label ?? label, section, ...attempt })
}

/** Whether another attempt is allowed and would have an endpoint that the request has not tried. */
function mayMoveOn(flight: InFlight): boolean {
  if (flight.retriesLeft === 0) return false
  const next = nextEndpoint(flight)
  return next !== undefined && !flight.tried.includes(next) && mayRetry(flight)
}

/** Whether attempts are left, and the instance has capacity for another retry. */
function mayRetry(flight: InFlight): boolean {
  if (flight.retriesLeft === 0 || !flight.bodies.request.repeats) return false
  flight.retried ||= flight.context.load.takeRetry()
  return flight.retried
}

/**
 * A failed answer counts like the status that it reports, and an empty or incomplete one like a failed connection, as long as nothing of it
 * has been sent (docs/behaviour/llm.md, "Failover").
 */
function retryAnswer(flight: InFlight, stream: ClientStream, failure: AnswerFailure): boolean {
  const { status, detail, unhealthy } = failure
  const { attempts, retry: policy } = flight.exchange
  if (status !== undefined && policy?.codes.has(status) !== true) return false
  if (!mayRetry(flight)) return false
  const last = attempts?.pop()
  if (last !== undefined) attempts!.push({ ...last, failure: 'answer-failed', detail })
  flight.exchange.failedTokens += flight.exchange.llm?.totalTokens ?? 0
  stream.cancel()
  if (flight.exchange.span?.attempt !== undefined) flight.exchange.span.attempt.failure = 'answer-failed'
  if (unhealthy) flight.breakAttempt(status)
  else flight.completeAttempt()
  retry(flight)
  return true
}

function retry(flight: InFlight): void {
  const { exchange } = flight
  flight.retriesLeft--
  exchange.retries++
  flight.upstream = undefined
  flight.bodies.request.endAttempt()
  exchange.response = undefined
  exchange.responseBody = UNREAD_BODY
  const backoffMs = exchange.retry?.backoffMs ?? 0
  if (backoffMs === 0) return attempt(flight)
  flight.backoff = clock.after(backoffMs, () => attempt(flight))
}

/** Ends the attempt in flight when the time of the request is up before the response head. */
function endLateAttempt(flight: InFlight): void {
  const { exchange, upstream } = flight
  const failure = upstream?.awaitsRoom === true ? DEADLINE_EXCEEDED_UNSENT : DEADLINE_EXCEEDED
  flight.upstream = undefined
  // An endpoint that does not respond in time is unhealthy (decision A-99). After the response head, a policy may be what takes long.
  if (upstream !== undefined && exchange.response === undefined) recordAttempt(flight, undefined, failure)
  upstream?.cancel()
}

/** The failure of an attempt that the deadline ended. The server may have processed the request. */
const DEADLINE_EXCEEDED: Failure = { code: 'timeout', detail: undefined, maybeProcessed: true }
const DEADLINE_EXCEEDED_UNSENT: Failure = { ...LATE_WAITING, maybeProcessed: false }
