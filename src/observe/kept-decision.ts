import { clock } from '#base/clock.ts'
import { cutText } from '#base/cut-text.ts'
import { type Identity, NO_PLAN_NAMES } from '#exchange/exchange.ts'
import type { McpFacts } from '#exchange/mcp-facts.ts'
import { ownText } from '#net/own-text.ts'
import type { ConnectionFault, WireRefusal } from '#net/stream.ts'
import { type KeptDecision, NOTHING_RARE, type RareFacts } from './decision.ts'
import type { Ended } from './ended.ts'
import type { Unread } from './fields.ts'
import { keptBody } from './kept-body.ts'
import type { IncomingConnection } from './observer.ts'
import { causeOf, passedPolicies } from './passage.ts'

/** Why something ended before it became a request. */
export interface Cause extends Pick<Unread, 'status' | 'reason'> {
  readonly code: WireRefusal | ConnectionFault
  readonly error: string
  /** Additional detail for the record. */
  readonly detail: string | undefined
}

/** The decision about a message that never became a request. */
export function keptUnread({ peer, gateway, listener }: IncomingConnection, number: number, why: Cause): KeptDecision {
  const { status, code, reason, detail = '' } = why
  return {
    number,
    timeMs: clock.now(),
    method: '',
    authority: '',
    target: '',
    redactedParameters: NONE,
    clientAddress: peer.remoteAddress,
    clientPort: peer.remotePort,
    names: { ...NO_PLAN_NAMES, gateway, listener },
    endpoint: '',
    section: '',
    consumer: '',
    status,
    reason,
    startMonotonicMs: 0,
    passed: NONE,
    durationMs: 0,
    sentMs: undefined,
    answeredMs: undefined,
    rare: { ...NOTHING_RARE, code, detail },
  }
}

/** The decision about a completed request or relayed connection. */
export function keptRequest(ended: Ended, bodyBytes: number): KeptDecision {
  const { exchange, request } = ended
  const { decision } = request
  const { peer, startMonotonicMs, sentMonotonicMs, answeredMonotonicMs } = exchange
  return {
    number: request.decisionNumber,
    timeMs: ended.timeMs,
    method: exchange.originalMethod,
    authority: exchange.originalAuthority || (peer.serverName ?? ''),
    target: ownText(exchange.originalTarget),
    redactedParameters: exchange.redactedParameters,
    clientAddress: peer.remoteAddress,
    clientPort: peer.remotePort,
    names: exchange.names ?? NO_PLAN_NAMES,
    endpoint: request.endpointLabel ?? '',
    section: request.endpointSection ?? '',
    consumer: consumerOf(exchange.identity),
    status: ended.status,
    reason: ended.reason,
    startMonotonicMs,
    passed: decision === undefined ? NONE : passedPolicies(decision),
    durationMs: ended.durationMs,
    sentMs: sentMonotonicMs === 0 ? undefined : sentMonotonicMs - startMonotonicMs,
    answeredMs: answeredMonotonicMs === 0 ? undefined : answeredMonotonicMs - startMonotonicMs,
    rare: isOrdinary(ended, bodyBytes) ? NOTHING_RARE : rareFacts(ended, bodyBytes),
  }
}

/** Whether a request has nothing of `RareFacts`. */
function isOrdinary({ exchange, note }: Ended, bodyBytes: number): boolean {
  const { span, refusal, decidedBy, attempts, callouts, guardChecks, llm, mcp, a2a } = exchange
  const isServed = refusal === undefined && note === undefined && decidedBy === undefined && attempts === undefined
  const isPlain = llm === undefined && mcp === undefined && a2a === undefined && guardChecks === undefined
  return isServed && isPlain && span === undefined && callouts === undefined && bodyBytes === 0
}

function rareFacts(ended: Ended, bodyBytes: number): RareFacts {
  const { exchange, request } = ended
  const { decision } = request
  const { llm, mcp } = exchange
  return {
    traceId: exchange.span?.traceId ?? '',
    code: ended.code ?? '',
    detail: ended.detail ?? '',
    decidedBy: exchange.decidedBy ?? (decision && causeOf(decision, exchange)),
    attempts: exchange.attempts ?? NONE,
    callouts: exchange.callouts ?? NONE,
    provider: llm?.provider ?? '',
    requestModel: boundName(llm?.requestModel),
    responseModel: boundName(llm?.responseModel),
    guardChecks: exchange.guardChecks ?? NONE,
    inputTokens: llm?.inputTokens ?? 0,
    outputTokens: llm?.outputTokens ?? 0,
    translation: llm?.translation,
    removedFields: llm?.removedFields ?? NONE,
    errorType: llm?.errorType,
    mcp: mcp && keptMcp(mcp),
    a2a: exchange.a2a,
    requestBody: keptBody(exchange.requestBody, bodyBytes),
    responseBody: keptBody(exchange.responseBody, bodyBytes, exchange),
  }
}

const NONE: readonly never[] = []

/** Of a model in a record, in characters. */
const MAX_NAME_LENGTH = 256

function consumerOf({ jwt, apiKey, basicAuth }: Identity): string {
  const subject = jwt?.claims.sub
  return boundName(typeof subject === 'string' ? subject : (apiKey?.entry ?? basicAuth?.username))
}

/** Arguments and results may be large: they are not kept. */
function keptMcp({ method, target, resourceType, name, sessionId, sessionDigest, errorCode, errorMessage }: McpFacts) {
  return {
    method: method && boundName(method),
    target,
    resourceType,
    item: name && boundName(name),
    sessionId: sessionDigest === undefined ? sessionId : undefined,
    sessionDigest,
    errorCode,
    // A copy, because it may be a part of the whole response.
    errorMessage: errorMessage && Buffer.from(errorMessage).toString(),
  }
}

/** Clients and providers can invent long names, and records are kept. A slice would keep all of the text. */
function boundName(name = ''): string {
  return name.length > MAX_NAME_LENGTH ? Buffer.from(cutText(name, MAX_NAME_LENGTH)).toString() : name
}
