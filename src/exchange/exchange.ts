import type { Reason, RejectionCode } from '#base/rejections.ts'
import type { ReplayCause } from '#net/failure.ts'
import type { Head } from '#net/http/head.ts'
import type { Peer } from '#net/peer.ts'
import type { BodyUse } from './body-use.ts'
import { ExchangeSlots } from './exchange-slot.ts'
import { ExpressionBudgets } from './expression-budgets.ts'
import type { GatewayIdentity } from './gateway-identity.ts'
import type { LlmFacts } from './llm-facts.ts'
import type { McpFacts } from './mcp-facts.ts'
import type { Refusal } from './outcome.ts'
import { redactTarget } from './redact-target.ts'
import type { RunContext } from './run-context.ts'
import type { Trace } from './trace.ts'
import type { Workloads } from './workload.ts'

const NO_NAMES: readonly string[] = []

/** JSON values as policies and expressions see them. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export type JsonObject = { readonly [name: string]: Json }

/** Who validated what (specification 1, 5): set by authentication policies, read by later steps and expressions. */
export interface Identity {
  /** Claims of a validated token, and the token itself for `backend.auth.passthrough`. */
  jwt: { readonly claims: JsonObject; readonly token: string } | undefined
  apiKey: ApiKeyIdentity | undefined
  basicAuth: { readonly username: string; readonly credential: string } | undefined
}

export interface ApiKeyIdentity {
  readonly key: string
  /** `<namespace>/<Secret>/<entry>`: entries of one name in two Secrets are two callers. */
  readonly entry: string
  readonly metadata: JsonObject
}

/** Names of where a request is in the configuration; constant per listener and route rule. */
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

/** Stands for no place at all. */
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

/** One attempt to reach a backend, as kept for log, metrics and decision record. */
export interface Attempt {
  readonly endpoint: string
  /** 0: no response came. */
  readonly status: number
  /** Why none came: a `FailureCode` of the wire, or of the protocol spoken there. */
  readonly failure: string | undefined
  /** What the system said about it. */
  readonly detail?: string | undefined
  /** No response came, but the server may have acted on the request. */
  readonly maybeProcessed?: boolean
  /** It was sent again by the connections themselves, and why; without it by the retry policy, or not at all. */
  readonly replayed?: ReplayCause
}

/**
 * One request in flight: what every step reads and changes. It knows no socket; bodies are read
 * through `bodies`, which the caller of the engine provides.
 */
export class Exchange {
  /** The request as it will go on; policies edit it in place. */
  request: Head
  /** The response head, once there is one. */
  response: Head | undefined
  /** The fields behind the body of the response, when it has ended with some; HTTP/2 only. */
  trailers: Head | undefined
  readonly peer: Peer
  scheme: 'http' | 'https' = 'http'
  version: '1.0' | '1.1' | '2' = '1.1'
  /** Milliseconds on the monotonic clock. */
  startMonotonicMs = 0
  /** When the first attempt was sent, and when the last one was answered or failed; monotonic, 0: not yet. */
  sentMonotonicMs = 0
  answeredMonotonicMs = 0
  /** Set by whoever makes the exchange. */
  gateway: GatewayIdentity | undefined
  /** Asked only when an expression reads `source.unverifiedWorkload`; set like `gateway`. */
  workloads: Workloads | undefined

  /** What steps may ask for while they run; set like `gateway` wherever steps do. */
  context!: RunContext

  /** As received, before any policy: for logs, redirects, csrf and MCP metadata. */
  originalMethod = ''
  originalAuthority = ''
  originalTarget = ''

  /** Reads bodies when a policy needs them; set by whoever owns the message. */
  bodies!: BodyReader
  /**
   * The whole body where an expression or protocol needs it; null when it is larger than the limit; undefined when not buffered.
   * After the end, where log or metrics read it: its beginning, or null when nothing is known of it.
   */
  requestBody: Uint8Array | null | undefined
  responseBody: Uint8Array | null | undefined
  /** The first bytes of a body that is larger than the limit, where an expression reads only them. */
  requestBodyPrefix: Uint8Array | undefined
  responseBodyPrefix: Uint8Array | undefined
  /** A body that a step put in place of the one received; it replaces `requestBody` towards the backend. */
  newRequestBody: Uint8Array | undefined
  newResponseBody: Uint8Array | undefined

  readonly identity: Identity = { jwt: undefined, apiKey: undefined, basicAuth: undefined }
  metadata: Record<string, Json> | undefined
  extauthz: Record<string, Json> | undefined
  extproc: Record<string, Json> | undefined
  llm: LlmFacts | undefined
  mcp: McpFacts | undefined
  a2aMethod: string | undefined

  /** Of the listener, then of the rule, then of the backend; undefined before there is a listener. */
  names: PlanNames | undefined
  /** The PathPrefix of the route match, for prefix rewrites; undefined when the match was of another type. */
  matchedPrefix: string | undefined
  /** Set by traffic steps for the forwarding that follows. */
  hostRewrite: 'Auto' | 'None' | undefined
  /** A filter set the host: no automatic rewrite. */
  hostRewritten = false
  /** `timeouts.request`; 0: there is to be no limit, undefined: nobody says. */
  requestTimeoutMs: number | undefined
  /** The retry policy in force; shape known to `policies/traffic/retry`. */
  retry: RetrySettings | undefined

  /** Token limits that this request counts against, once its number of tokens is known. */
  tokenLimits: readonly TokenLimit[] | undefined

  /** What expressions may still take of the worker's time. */
  #budgets: ExpressionBudgets | undefined
  /** A limit ended an expression of the step that runs, in words for operators: whoever runs the step refuses. */
  exceeded: string | undefined

  /** Response fields queued by policies; written last, with replace semantics. */
  queuedHeaders: [name: string, value: string][] | undefined
  attempts: Attempt[] | undefined
  /** Attempts after the first one, by the retry policy or by the connections themselves. */
  retries = 0
  /** Why the gateway refused; undefined when it did not. */
  refusal: RejectionCode | undefined
  refusalDetail: string | undefined
  reason: Reason = 'Upstream'
  /** Only `explain` and sampled requests carry one. */
  trace: Trace | undefined
  #slots: ExchangeSlots | undefined
  #redacted: string[] | undefined
  /** Made when it is first asked for. */
  #loggedTarget: string | undefined

  constructor(request: Head, peer: Peer) {
    this.request = request
    this.peer = peer
  }

  /** Made by the first expression: most requests meet none. */
  get budgets(): ExpressionBudgets {
    this.#budgets ??= new ExpressionBudgets()
    return this.#budgets
  }

  /** What policies keep between their steps. */
  get slots(): ExchangeSlots {
    this.#slots ??= new ExchangeSlots()
    return this.#slots
  }

  /** A credential was read from this query parameter: its value must not be logged (decision A-111). */
  redactQueryParameter(name: string): void {
    this.#loggedTarget = undefined
    if (this.#redacted === undefined) this.#redacted = [name]
    else if (!this.#redacted.includes(name)) this.#redacted.push(name)
  }

  /** The target as received, without credentials. */
  get loggedTarget(): string {
    this.#loggedTarget ??= redactTarget(this.originalTarget, this.#redacted ?? NO_NAMES)
    return this.#loggedTarget
  }

  /** Queues a response field that beats whatever backend and transformations say. */
  queueHeader(name: string, value: string): void {
    if (this.queuedHeaders === undefined) this.queuedHeaders = [[name, value]]
    else this.queuedHeaders.push([name, value])
  }
}

/** Gathers a body for policies that need it as a whole. The body still goes on to its receiver unless a policy replaced it. */
export interface BodyReader {
  /**
   * Sets `exchange.requestBody`: null when larger than `maxBytes`. With `prefix` its first bytes are then in
   * `requestBodyPrefix`, and it can still go on to its receiver. Never settles when the client stops sending.
   * @returns why it could not be read at all
   */
  readRequestBody(exchange: Exchange, maxBytes: number, use: Exclude<BodyUse, false>): Promise<Refusal | undefined>
  /** The same of a response; rejects when it ends early. */
  readResponseBody(exchange: Exchange, maxBytes: number, use: Exclude<BodyUse, false>): Promise<Refusal | undefined>
}

/** A limit that is charged afterwards (specification 2, 2.2.8). */
export interface TokenLimit {
  /** Takes what is there, at most `count`. */
  drain(count: number): void
}

export interface RetrySettings {
  /** Retries besides the first attempt. */
  readonly attempts: number
  readonly codes: ReadonlySet<number>
  readonly backoffMs: number
}
