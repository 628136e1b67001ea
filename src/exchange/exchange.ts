import { redactTarget } from '#base/credential-names.ts'
import type { Json, JsonObject } from '#base/json.ts'
import type { Reason, RejectionCode } from '#base/rejections.ts'
import type { CollectLimits } from '#net/body/collect-body.ts'
import type { ReplayCause } from '#net/failure.ts'
import type { Head } from '#net/http/head.ts'
import type { Peer } from '#net/peer.ts'
import type { SendableBody } from '#net/stream.ts'
import type { A2aFacts } from './a2a-facts.ts'
import type { Bodies } from './bodies.ts'
import type { DecidedBy } from './decided-by.ts'
import { ExchangeSlots } from './exchange-slot.ts'
import { ExpressionBudgets } from './expression-budgets.ts'
import type { GatewayIdentity } from './gateway-identity.ts'
import { type KnownBody, UNREAD_BODY } from './known-body.ts'
import type { LlmFacts } from './llm-facts.ts'
import type { McpFacts } from './mcp-facts.ts'
import { NO_BODIES } from './no-bodies.ts'
import type { Refusal } from './outcome.ts'
import type { RequestCalls } from './request-calls.ts'
import type { RequestSpan } from './request-span.ts'
import { NO_STEPS, type RunContext } from './run-context.ts'
import type { Session } from './session.ts'
import type { Trace } from './trace.ts'
import type { Workloads } from './workload.ts'

const NO_NAMES: readonly string[] = []

/** The authenticated identities (specification 1, 5): set by authentication policies, read by later steps and expressions. */
export interface Identity {
  /** Claims of a validated token, and the token itself for `backend.auth.passthrough`. */
  jwt: { readonly claims: JsonObject; readonly token: string } | undefined
  apiKey: ApiKeyIdentity | undefined
  basicAuth: { readonly username: string; readonly credential: string } | undefined
}

export interface ApiKeyIdentity {
  readonly key: string
  /** `<namespace>/<Secret>/<entry>`: entries with the same name in two Secrets are two clients. */
  readonly entry: string
  readonly metadata: JsonObject
}

/** Names of listener, route and backend of a request; constant per listener and route rule. */
export interface PlanNames {
  readonly gateway: string
  readonly listener: string
  readonly route: string
  readonly routeKind: string
  readonly rule: string
  readonly backend: string
  readonly backendType: string
  /** `http`, `llm`, `mcp`, `a2a`, `tcp`. */
  readonly protocol: string
}

/** Names of an exchange without a listener. */
export const NO_PLAN_NAMES: PlanNames = {
  gateway: '',
  listener: '',
  route: '',
  routeKind: '',
  rule: '',
  backend: '',
  backendType: '',
  protocol: '',
}

/** The path of a route match, as configured. */
export interface MatchedPath {
  readonly type: 'Exact' | 'PathPrefix' | 'RegularExpression'
  readonly value: string
}

/** One attempt to reach a backend, for log, metrics and decision record. */
export interface Attempt {
  readonly endpoint: string
  /** Name of the provider or MCP target; undefined for backends without sections. */
  readonly section?: string | undefined
  /** 0: no response. */
  readonly status: number
  /** Why there was no response: a `FailureCode` of the network code, or of the backend's protocol. */
  readonly failure: string | undefined
  /** Nothing was sent, because the endpoint cannot take the request: the code of the refusal. */
  readonly unfit?: RejectionCode
  /** The error of the system, or what the endpoint cannot take. */
  readonly detail?: string | undefined
  /** There was no response, but the server may have processed the request. */
  readonly maybeProcessed?: boolean
  /** Set if the connection itself resent the request, with the cause. Unset: the retry policy resent it, or nothing did. */
  readonly replayed?: ReplayCause
  /** When it was sent, and when the head of its response came or it failed; milliseconds after the request was received. Unset: nothing was sent. */
  readonly sentMs?: number
  readonly answeredMs?: number
  /** When the response message of an MCP target was complete; unset: it was not, or nobody waited for it. */
  endedMs?: number
}

/** A server that a policy asked about the request, for log and decision record. */
export interface Callout {
  readonly policy: 'extAuth' | 'extProc' | 'rateLimit'
  /** `<namespace>/<name>` of the backend. */
  readonly backend: string
  /** `answered`: the server responded to the client instead. `failed`: it gave no decision, and the failure mode of the policy decided. */
  readonly verdict: 'allowed' | 'denied' | 'answered' | 'failed'
  /** A cached decision was used. */
  readonly cached: boolean
  /** From the beginning of the request to the question. */
  readonly startMs: number
  readonly durationMs: number
  /** Status of the answer, or the name of its gRPC status; undefined: none arrived, or a cached decision was used. */
  readonly status: string | undefined
  /** For operators. */
  readonly detail: string | undefined
}

/** One check of a prompt guard, for log, metrics and decision record. It has no part of the checked texts. */
export interface GuardCheck {
  readonly phase: 'request' | 'response'
  readonly kind: string
  /** Position in the list of the phase. */
  readonly index: number
  /** A stream is checked in parts: how many had this outcome. Durations and lengths are those of all of them. */
  readonly count: number
  readonly verdict: 'Allow' | 'Mask' | 'Reject' | 'Fail'
  /** The rules that matched: `matches[2], Ssn`. */
  readonly rule: string | undefined
  /** Their placeholders, in the same order: `<masked>, <SSN>`. */
  readonly placeholder: string | undefined
  /** From the beginning of the request to the check. */
  readonly startMs: number
  readonly durationMs: number
  /** Of the checked texts, in UTF-16 units. */
  readonly length: number
  /** The id under which a service knows the check. */
  readonly requestId: string | undefined
  /** The verdict of an earlier attempt about the same texts was used again. */
  readonly isReused: boolean
  /** For operators. */
  readonly detail: string | undefined
}

/** A header of the response; never changed. */
export type QueuedHeader = readonly [name: string, value: string]

/** Work for a request that goes on after its response. */
export interface WorkAfterResponse {
  /** The follow-up of the request, in which the work notes its facts. */
  readonly exchange: Exchange
  /** Never rejects. */
  readonly ended: Promise<void>
}

/**
 * One request in flight: the state that every step reads and changes. It has no socket; bodies are read through `bodies`, which the caller
 * of the engine provides.
 */
export class Exchange {
  /** The request that will be forwarded; policies edit it in place. */
  request: Head
  /** The request as it was before the policies of the backend, which write credentials; set if the protocol of the backend reads it. */
  clientHead: Head | undefined
  /** The response head, after it has arrived. */
  response: Head | undefined
  /** The trailers of a completed response, if any; HTTP/2 only. */
  trailers: Head | undefined
  readonly peer: Peer
  scheme: 'http' | 'https' = 'http'
  version: '1.0' | '1.1' | '2' = '1.1'
  /** Milliseconds on the monotonic clock. */
  startMonotonicMs = 0
  /** When the first attempt was sent, and when the last one got a response or failed; monotonic, 0: not yet. */
  sentMonotonicMs = 0
  answeredMonotonicMs = 0
  /** When the response head was sent to the client, if there was an attempt; monotonic, 0: not yet. */
  respondedMonotonicMs = 0
  /** Set by the creator of the exchange. */
  gateway: GatewayIdentity | undefined
  /** Used only if an expression reads `source.unverifiedWorkload`; set like `gateway`. */
  workloads: Workloads | undefined

  /** Set like `gateway` wherever steps run. */
  context: RunContext = NO_STEPS

  /** As received, before any policy: for logs, redirects, csrf and MCP metadata. */
  originalMethod = ''
  originalAuthority = ''
  originalTarget = ''

  /** The owner of the messages sets it. */
  bodies: Bodies = NO_BODIES
  /** What steps, expressions or the protocol have read of the bodies. */
  requestBody: KnownBody = UNREAD_BODY
  responseBody: KnownBody = UNREAD_BODY
  /** Replaces `requestBody` in records of a guarded backend: what prompt guards have let pass, `withheld` until they have. */
  recordedBody: Uint8Array | 'withheld' | undefined
  /** A body that a step set; it replaces `requestBody` for the backend. */
  newRequestBody: Uint8Array | undefined
  newResponseBody: Uint8Array | undefined
  /** Signs the request body of an attempt while it is sent; set by the signature of the request. */
  signBody: SignBody | undefined

  /** The credential of the gateway itself that the last attempt was sent with, as byte text: responses that are errors must not show it. */
  sentCredential: string | undefined
  readonly identity: Identity = { jwt: undefined, apiKey: undefined, basicAuth: undefined }
  /** Set with the token of a client that can sign in again with more scopes. */
  stepUp: StepUp | undefined
  metadata: Record<string, Json> | undefined
  extauthz: Record<string, Json> | undefined
  extproc: Record<string, Json> | undefined
  llm: LlmFacts | undefined
  mcp: McpFacts | undefined
  a2a: A2aFacts | undefined

  /** The names of the listener, then of the rule, then of the backend; undefined before the listener is selected. */
  names: PlanNames | undefined
  /** The path of the route match; undefined before the route is selected. */
  matchedPath: MatchedPath | undefined
  /** Set by traffic steps for the later forwarding. */
  hostRewrite: 'Auto' | 'None' | undefined
  /** A filter set the host: no automatic rewrite. */
  hostRewritten = false
  /** `timeouts.request`; 0: no limit, undefined: not set. */
  requestTimeoutMs: number | undefined
  /** `timeouts.backendRequest` of the route rule, for each attempt; 0: no limit, undefined: not set. */
  attemptTimeoutMs: number | undefined
  /** The retry policy in force; its details are in `policies/traffic/retry`. */
  retry: RetrySettings | undefined

  /** Set if the rule has persistent sessions. */
  session: Session | undefined
  /** Keys of the backends that get a copy of the request; set if there are any. */
  mirrors: string[] | undefined

  /** Token limits that are charged when the number of tokens is known. */
  tokenLimits: readonly TokenLimit[] | undefined
  /** Tokens that they were charged. */
  chargedTokens = 0
  /** Tokens of attempts that failed, as their providers reported them. */
  failedTokens = 0
  /** Number of descriptors of global rate limits that were left out, because an expression failed. */
  unsentDescriptors = 0
  /** Number of costs of tokens in global rate limits that failed, so that the tokens were counted instead. */
  failedCosts = 0

  /** Remaining budgets of expressions. */
  #budgets: ExpressionBudgets | undefined
  /** A limit ended an expression of the current step; for operators. The caller of the step refuses the request. */
  exceeded: string | undefined

  /** Response headers queued by policies; written last, and they replace existing ones. */
  queuedHeaders: QueuedHeader[] | undefined
  /** Set if a CORS policy applies: replaces the CORS fields of the response, after the queued headers. */
  writeCors: ((response: Head) => void) | undefined
  attempts: Attempt[] | undefined
  /** Set if work for the request goes on after its response; the request is observed at the end of that work. */
  workAfterResponse: WorkAfterResponse | undefined
  /** In the order in which they ended. */
  callouts: Callout[] | undefined
  /** Checks of prompt guards, in order. */
  guardChecks: GuardCheck[] | undefined
  /** Attempts after the first one, by the retry policy or by the connection itself. */
  retries = 0
  /** The code of the refusal; undefined without a refusal. */
  refusal: RejectionCode | undefined
  refusalDetail: string | undefined
  decidedBy: DecidedBy | undefined
  /** The response refuses the whole request: response policies keep its status and body. */
  responseIsRefusal = false
  reason: Reason = 'Upstream'
  /** Set if the request has custom labels of metrics. */
  calls: RequestCalls | undefined
  /** Set if the request is traced. */
  span: RequestSpan | undefined
  /** Set only for `explain`. */
  trace: Trace | undefined
  #slots: ExchangeSlots | undefined
  #redactedParameters = NO_NAMES

  constructor(request: Head, peer: Peer) {
    this.request = request
    this.peer = peer
  }

  /** For prefix rewrites; undefined for other matches. */
  get matchedPrefix(): string | undefined {
    return this.matchedPath?.type === 'PathPrefix' ? this.matchedPath.value : undefined
  }

  /** Created by the first expression, because most requests evaluate none. */
  get budgets(): ExpressionBudgets {
    this.#budgets ??= new ExpressionBudgets()
    return this.#budgets
  }

  /** State of policies between their steps. */
  get slots(): ExchangeSlots {
    this.#slots ??= new ExchangeSlots()
    return this.#slots
  }

  /** A credential was read from this query parameter, so its value must not be shown (decision A-111). */
  redactQueryParameter(name: string): void {
    if (this.#redactedParameters.includes(name)) return
    this.#redactedParameters = [...this.#redactedParameters, name]
    if (this.span !== undefined) this.span.redactedParameters = this.#redactedParameters
  }

  /** Query parameters that a credential was read from, besides those with conventional names. */
  get redactedParameters(): readonly string[] {
    return this.#redactedParameters
  }

  /** The target as received, with redacted credentials. */
  get loggedTarget(): string {
    return redactTarget(this.originalTarget, this.#redactedParameters)
  }

  /** Queues a response header that takes precedence over backend and transformations. */
  queueHeader(name: string, value: string): void {
    this.queueHeaders([[name, value]])
  }

  /** Queues several, in a list of exactly their number: one that grows would have room for 16 more. */
  queueHeaders(headers: QueuedHeader[]): void {
    this.queuedHeaders = this.queuedHeaders === undefined ? headers : this.queuedHeaders.concat(headers)
  }
}

/** @param limits of a part of the body that must be in memory */
export type SignBody = (body: SendableBody, limits: CollectLimits) => SendableBody

/** Tells a client whose token is valid, but lacks scopes, which ones it needs. */
export interface StepUp {
  /**
   * @param allows whether the step that refused would let the request through, with the identity that the exchange has at that time
   * @returns the fields of the refusal; undefined: no scope would help
   */
  challengeScopes(exchange: Exchange, allows: () => boolean): Refusal['headers'] | undefined
}

/** A limit that is charged afterwards (specification 2, 2.2.8). */
export interface TokenLimit {
  /** Takes `count`, or less if less is available. Called again when there are more tokens. */
  drain(count: number): void
}

export interface RetrySettings {
  /** Retries after the first attempt. */
  readonly attempts: number
  readonly codes: ReadonlySet<number>
  readonly backoffMs: number
}
