import { clock } from '#base/clock.ts'
import { cutText } from '#base/cut-text.ts'
import { consumerOf } from '#exchange/consumer.ts'
import { type Exchange, NO_PLAN_NAMES, type PlanNames } from '#exchange/exchange.ts'
import type { McpFacts } from '#exchange/mcp-facts.ts'
import { ownText } from '#net/own-text.ts'
import type { ConnectionFault, WireRefusal } from '#net/stream.ts'
import { type KeptDecision, NOTHING_RARE, type RareFacts } from './decision.ts'
import type { Ended } from './ended.ts'
import type { Unread } from './fields.ts'
import { keptBody } from './kept-body.ts'
import type { IncomingConnection } from './observer.ts'
import { causeOf, NOTHING_PASSED, type Passed } from './passage.ts'

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
    passed: NOTHING_PASSED,
    durationMs: 0,
    sentMs: undefined,
    answeredMs: undefined,
    rare: { ...NOTHING_RARE, code, detail },
  }
}

/**
 * The decision about a completed request or relayed connection. Its getters read the request when `DecisionColumns` copies them, so that no
 * object holds all the values.
 */
export class KeptRequest implements KeptDecision {
  readonly #ended: Ended
  readonly #bodyBytes: number

  /** @param bodyBytes so much of each body is kept */
  constructor(ended: Ended, bodyBytes: number) {
    this.#ended = ended
    this.#bodyBytes = bodyBytes
  }

  get number(): number {
    return this.#ended.request.decisionNumber
  }

  get timeMs(): number {
    return this.#ended.timeMs
  }

  get method(): string {
    return this.#ended.exchange.originalMethod
  }

  get authority(): string {
    const { originalAuthority, peer } = this.#ended.exchange
    return originalAuthority || (peer.serverName ?? '')
  }

  get target(): string {
    return ownText(this.#ended.exchange.originalTarget)
  }

  get redactedParameters(): readonly string[] {
    return this.#ended.exchange.redactedParameters
  }

  get clientAddress(): string {
    return this.#ended.exchange.peer.remoteAddress
  }

  get clientPort(): number {
    return this.#ended.exchange.peer.remotePort
  }

  get names(): PlanNames {
    return this.#ended.exchange.names ?? NO_PLAN_NAMES
  }

  get endpoint(): string {
    return this.#ended.request.endpointLabel ?? ''
  }

  get section(): string {
    return this.#ended.request.endpointSection ?? ''
  }

  get consumer(): string {
    return boundName(consumerOf(this.#ended.exchange.identity))
  }

  get status(): number {
    return this.#ended.status
  }

  get reason(): string {
    return this.#ended.reason
  }

  get startMonotonicMs(): number {
    return this.#ended.exchange.startMonotonicMs
  }

  get passed(): Passed {
    return this.#ended.request.decision ?? NOTHING_PASSED
  }

  get durationMs(): number {
    return this.#ended.durationMs
  }

  get sentMs(): number | undefined {
    const { sentMonotonicMs, startMonotonicMs } = this.#ended.exchange
    return sentMonotonicMs === 0 ? undefined : sentMonotonicMs - startMonotonicMs
  }

  get answeredMs(): number | undefined {
    const { answeredMonotonicMs, startMonotonicMs } = this.#ended.exchange
    return answeredMonotonicMs === 0 ? undefined : answeredMonotonicMs - startMonotonicMs
  }

  get rare(): RareFacts {
    return isOrdinary(this.#ended, this.#bodyBytes) ? NOTHING_RARE : rareFacts(this.#ended, this.#bodyBytes)
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
    misread: llm?.misread,
    errorType: llm?.errorType,
    mcp: mcp && keptMcp(mcp),
    a2a: exchange.a2a,
    requestBody: keptBody(recordedBody(exchange), bodyBytes),
    responseBody: keptBody(exchange.responseBody.start, bodyBytes, exchange),
  }
}

/** Not what prompt guards have masked or refused (decision B97). */
function recordedBody({ requestBody, recordedBody: recorded }: Exchange): Uint8Array | undefined {
  return recorded === 'withheld' ? undefined : (recorded ?? requestBody.start)
}

const NONE: readonly never[] = []

/** Of a model in a record, in characters. */
const MAX_NAME_LENGTH = 256

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
