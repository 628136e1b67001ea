import { type AttemptStart, restoreAttemptStart, saveAttemptStart } from '#exchange/attempt-start.ts'
import type { BodyUse } from '#exchange/body-use.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { type Outcome, type Refusal, reject } from '#exchange/outcome.ts'
import { refuseLargeBody } from '#exchange/refuse-large-body.ts'
import type { LiveEndpoint } from '../backend/live-backend.ts'
import type { Decision } from '../request/decide.ts'
import { attemptBodyUse, neededBody, needsDecodedBody, prepareAttempt } from '../request/prepare-attempt.ts'

/** A request whose backend is chosen. */
export interface ScriptedRequest {
  readonly exchange: Exchange
  readonly decision: Decision
  /** The state that each attempt begins with; set if there may be several. */
  attemptStart: AttemptStart | undefined
  retriesLeft: number
}

/**
 * What the script leaves to those who run it: the proxy has sockets, `explain` has values. One object serves all requests, so that a request
 * allocates nothing for it.
 */
export interface ScriptDriver<R extends ScriptedRequest> {
  /** There is a body, and it has not been read. */
  hasUnreadBody(request: R): boolean
  /** Keeps the body for retries while it is sent. @returns false if it is too large for that */
  keepBody(request: R): boolean
  /** Reads the body, then calls `bodyCollected`. */
  collectBody(request: R, use: Exclude<BodyUse, false>): void
  /** Decodes the body, which was read, then calls `bodyDecoded`. */
  decodeBody(request: R): void
  /** Undefined: no endpoint can take the request. */
  chooseEndpoint(request: R): LiveEndpoint | undefined
  /** Waits for policies or protocol, then calls `attemptPrepared`. */
  wait(request: R, outcome: Promise<Outcome>): void
  /** `decision.endpoint` cannot take the request: calls `beginAttempt` for the others. */
  leaveToOthers(request: R, refusal: Refusal): void
  /** Ends the request before it was sent. */
  refuse(request: R, refusal: Refusal): void
  /** Sends the request, unless there is an outcome. */
  finish(request: R, outcome: Outcome): void
}

/** Reads what the protocol of the backend needs of the body, then begins the first attempt. */
export function beginScript<R extends ScriptedRequest>(driver: ScriptDriver<R>, request: R): void {
  const { exchange, decision } = request
  request.retriesLeft = exchange.retry?.attempts ?? 0
  if (exchange.requestBody.kind === 'large') return beginLarge(driver, request)
  const use = driver.hasUnreadBody(request) && neededBody(decision, exchange)
  if (use !== false) return driver.collectBody(request, use)
  if (request.retriesLeft > 0 && !driver.keepBody(request)) request.retriesLeft = 0
  beginAttempt(driver, request)
}

/** A body that exceeds the buffer limit streams, and cannot be sent twice. */
function beginLarge<R extends ScriptedRequest>(driver: ScriptDriver<R>, request: R): void {
  if (neededBody(request.decision, request.exchange) === true) return driver.refuse(request, tooLarge(request))
  request.retriesLeft = 0
  beginAttempt(driver, request)
}

function tooLarge({ decision }: ScriptedRequest): Refusal {
  return refuseLargeBody('body-too-large', decision.frontend!.maxBufferBytes)
}

export function bodyCollected<R extends ScriptedRequest>(
  driver: ScriptDriver<R>,
  request: R,
  use: BodyUse,
  refusal: Refusal | undefined,
): void {
  if (refusal !== undefined) return driver.refuse(request, refusal)
  if (request.exchange.requestBody.kind !== 'large') return beginAttempt(driver, request)
  if (use === true) return driver.refuse(request, tooLarge(request))
  beginLarge(driver, request)
}

export function bodyDecoded<R extends ScriptedRequest>(
  driver: ScriptDriver<R>,
  request: R,
  refusal: Refusal | undefined,
): void {
  if (refusal !== undefined) return driver.refuse(request, refusal)
  beginAttempt(driver, request)
}

/** Chooses an endpoint, reads what its policies need of the body, and runs them. After a body was read, it is called again. */
export function beginAttempt<R extends ScriptedRequest>(driver: ScriptDriver<R>, request: R): void {
  const { exchange, decision, attemptStart } = request
  if (needsDecodedBody(decision, exchange)) return driver.decodeBody(request)
  const endpoint = driver.chooseEndpoint(request)
  if (endpoint === undefined) return driver.refuse(request, refuseAll(decision))
  const use = attemptBodyUse(endpoint, (attemptStart ?? exchange).request)
  // Policies read the missing body of a request as an empty one.
  if (use !== false && exchange.requestBody.kind === 'unread') return driver.collectBody(request, use)
  if (use === true && exchange.requestBody.kind === 'large') return driver.refuse(request, tooLarge(request))
  if (attemptStart !== undefined) restoreAttemptStart(exchange, attemptStart)
  else if (request.retriesLeft > 0) request.attemptStart = saveAttemptStart(exchange)
  const outcome = prepareAttempt(endpoint, exchange, decision)
  if (outcome instanceof Promise) driver.wait(request, outcome)
  else attemptPrepared(driver, request, outcome)
}

/** The reason of the first endpoint, which is the preferred one, if none can take the request. */
function refuseAll({ unfit }: Decision): Refusal {
  return unfit[0]?.refusal ?? reject('no-healthy-backends')
}

/** An endpoint that cannot take the request leaves it to the others. As nothing was sent, that is not a retry (decision B94). */
export function attemptPrepared<R extends ScriptedRequest>(
  driver: ScriptDriver<R>,
  request: R,
  outcome: Outcome,
): void {
  if (outcome?.kind !== 'refusal' || outcome.endpointFault !== 'unfit') return driver.finish(request, outcome)
  const { decision, attemptStart } = request
  decision.unfit = [...decision.unfit, { endpoint: decision.endpoint!, refusal: outcome }]
  if (attemptStart === undefined) driver.refuse(request, outcome)
  else driver.leaveToOthers(request, outcome)
}
