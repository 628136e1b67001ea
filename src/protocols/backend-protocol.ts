import type { Sealer } from '#base/sealer.ts'
import type { Call, PipedBody } from '#exchange/call.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { LlmInterface } from '#exchange/llm-facts.ts'
import type { LlmReads } from '#exchange/llm-reads.ts'
import type { Outcome, Refusal } from '#exchange/outcome.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import type { BodyFilter } from '#net/body/filtered-body.ts'
import type { ResponseDecoding } from '#net/body/response-decoding.ts'
import type { Abort, BodySink } from '#net/stream.ts'
import type { McpSessionReport } from '#observe/mcp-session-report.ts'
import type { CompileContext, PolicyDefinition, PolicySource, SettingDefinition } from '#policies/policy.ts'
import type { SignIn } from '#policies/shared/sign-in/sign-in.ts'
import type { Channels } from '#state/channels.ts'
import type { SharedTable } from '#state/shared-table.ts'
import type { Address, EndpointPlace } from './address.ts'

/**
 * The interface of the protocols that backends speak. Engine and proxy use only this interface; `backend-protocols.ts` is the only table of
 * its implementations.
 */
export interface BackendProtocol<Spec> {
  /** Name in log, metrics and expressions. */
  readonly name: 'http' | 'llm' | 'mcp' | 'a2a'
  /** Time limit from sending a request to the head of its response if no policy sets one, in milliseconds; 0: no limit. */
  readonly responseTimeoutMs: number
  /** The host of a request becomes that of the backend unless a policy says otherwise (specification 2, 2.2.4). */
  readonly rewritesHost: boolean
  /** Addresses by priority. */
  addresses(backend: ProtocolBackend<Spec>, endpointsOf: FindEndpoints): readonly (readonly Address[])[]
  /** Other names of a section under which policies can target it; unset: a section has only its own name. */
  sectionNames?(spec: Spec, section: string): SectionNames
  /** The interface that a path belongs to if the settings select another one for it; unset: every path has the same meaning. */
  misread?(spec: Spec, settings: BackendSettings, path: string): LlmInterface | undefined
  /**
   * A worker has taken over another version of a backend, for what outlasts requests, such as streams of notifications.
   * @param worker as in `ServeServices`
   */
  replaced?(backend: ProtocolBackend<Spec>, worker: object): void
  /**
   * The sessions of clients that a worker knows, for operators; unset: the protocol has none.
   * @param worker as in `ServeServices`
   */
  sessions?(worker: object, table: SharedTable): readonly McpSessionReport[]
  /** Prepares a backend; unset: requests and responses pass unchanged. Reports bad configuration and never throws for it. */
  compile?(backend: ProtocolBackend<Spec>, settings: BackendSettings, context: CompileContext): ProtocolRun
}

/** A backend as input of its protocol. `target` is the key of the backend. */
export interface ProtocolBackend<Spec> extends PolicySource<Spec> {
  readonly namespace: string
  readonly name: string
}

/** Ready addresses of a port of a Service, by `<namespace>/<name>/<port>`. */
export type FindEndpoints = (service: string) => readonly EndpointPlace[] | undefined

export interface SectionNames {
  /** In order of precedence within a level. */
  readonly names: readonly string[]
  /** The port of the Service behind the section, as `<namespace>/<name>/<port>`. Its policies apply too, with lower precedence. */
  readonly service?: string
}

/** The fields of section `backend` that apply to a backend or to one of its sections. */
export interface BackendSettings {
  /** The sources in force, in order of precedence. */
  of<Spec>(field: BackendField<Spec>, section?: string): readonly PolicySource<Spec>[]
  /** The same, followed by those that were overridden. */
  everyOf<Spec>(field: BackendField<Spec>, section?: string): readonly PolicySource<Spec>[]
}

/** The definition of a field of section `backend`. */
export type BackendField<Spec> = PolicyDefinition<Spec> | SettingDefinition<Spec>

/**
 * The part of a request body that must be buffered before the request is sent: all of it, all of it unless it is large or of unknown length,
 * its beginning or all of it if that fits, or nothing.
 */
export type BodyNeed = 'whole' | 'whole-if-small' | 'start' | 'none'

/** A prepared backend. Members that are unset cost nothing. */
export interface ProtocolRun {
  /**
   * The work of a backend is expensive, or its streams can be silent for long, so it ends at once when the client ends its direction of the
   * connection. Clients of other protocols may do that and wait for the response.
   */
  readonly endsWithClient?: true
  /** The protocol reads `Exchange.clientHead`. */
  readonly readsClientHead?: boolean
  /** Prompt guards check requests in `prepare`, so copies and relayed connections, which skip it, are refused. */
  readonly isGuarded?: boolean
  bodyNeed?(exchange: Exchange): BodyNeed
  /**
   * How a server could understand the request differently if it read its path as `reading`; for example `of type Messages, not
   * Completions`.
   */
  otherMeaning?(exchange: Exchange, reading: string): string | undefined
  /**
   * Changes `exchange.request` (and `newRequestBody`) into the request for one endpoint. Runs for every attempt, after the backend
   * policies, because they may set a credential that the protocol moves to another field.
   * @returns what the protocol responds with itself; undefined: the request is to be sent
   */
  prepare?(exchange: Exchange, endpoint: EndpointName, attempt: ProtocolAttempt): Outcome | Promise<Outcome>
  /** Identifies the client, after all policies for requests and before the request is sent or served. */
  authenticate?(exchange: Exchange): Outcome | Promise<Outcome>
  /** How clients of MCP sign in; its endpoints are served ahead of all policies of the route. */
  readonly signIn?: SignIn
  /** Serves a request with calls of the protocol itself. The gateway terminates the protocol and forwards nothing. */
  readonly serve?: Serve
  /**
   * Adds what is known about a refused request to the exchange, for the log. It may have been sent.
   * @param endpoint undefined: it was refused before one was chosen
   */
  noteRefused?(exchange: Exchange, endpoint: EndpointName | undefined): void
  /** Formats a refusal for clients of the protocol. Not called for a refusal with a configured body. */
  refuse?(exchange: Exchange, refusal: Refusal): Refusal
  /** How the protocol handles a request. @param endpoint undefined where the protocol serves the request itself */
  explain?(
    exchange: Exchange,
    endpoint: EndpointName | undefined,
    boundToLoopback: boolean,
  ): ProtocolExplanation | undefined
}

export type Serve = (
  exchange: Exchange,
  body: Uint8Array | undefined,
  services: ServeServices,
) => ServedAnswer | Promise<ServedAnswer>

export interface EndpointName {
  /** `host:port`, or the path of a socket. */
  readonly label: string
  /** Provider or MCP target; undefined for backends without sections. */
  readonly section: string | undefined
}

/** One attempt, as seen by a protocol. */
export interface ProtocolAttempt {
  /** Limit of bodies in memory, in bytes. */
  readonly maxBufferBytes: number
  /**
   * Asks the authorization rules in force that read bodies about another request of the client.
   * @returns whether they would let it through with a body; undefined: no rule reads bodies
   */
  askRules(exchange: Exchange, method: string, target: string): ((body: Uint8Array) => boolean) | undefined
  /** The parts of an LLM call that limits and expressions in force read. */
  llmReads(exchange: Exchange): LlmReads
  /** Set by `prepare` if the protocol reads or changes the response. */
  selectFilter: SelectFilter | undefined
  /** Set by `prepare` if the protocol reads or changes what the two sides send after an upgrade. */
  selectTunnelFilter?: SelectTunnelFilter | undefined
  /**
   * Set by `prepare`. Called once when the last attempt is over, before limits and log read its facts.
   * @param isUnanswered the client left while the backend had the request and had not responded
   */
  settle?: ((isUnanswered: boolean) => void) | undefined
}

/**
 * Selects the filter that the body of the response passes through; undefined: none. The head of the response is `exchange.response`.
 * @param claim memory for bytes that the filter holds
 */
export type SelectFilter = (
  exchange: Exchange,
  claim: BodyClaim,
  decoding: ResponseDecoding,
) => AnswerFilter | undefined

/**
 * Selects the filter of an upgraded connection.
 * @param claim memory for bytes that the filter holds
 * @param charge charges the tokens in `exchange.llm` that have not been charged; without it, they are charged at the end
 */
export type SelectTunnelFilter = (exchange: Exchange, claim: BodyClaim, charge: () => void) => TunnelFilter

/** Stands between the backend and the client of an upgraded connection. `failure` is what the filter could not do. */
export interface TunnelFilter extends BodyFilter, Pick<AnswerFilter, 'failure'> {
  /** The sink for what the client sends; its output goes to `sink`. Called once. Unset: it passes unread. */
  fromClient?(sink: BodySink): BodySink
}

/**
 * Decodes a body as it arrives. @param coding the value of `Content-Encoding`; '': none
 * @returns undefined if the coding is unknown
 */
export type DecodeStream = (coding: string, body: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array> | undefined

/** Stands between the response of a backend and its receiver: the client, or response policies that buffer the body. */
export interface AnswerFilter extends BodyFilter {
  /** The body must have been read to its end before the head is sent, because `refusal` is known only then. */
  readonly whole?: boolean
  /** `refusal` may be set until the first content, even if `whole` is not: the response is held as long. */
  readonly mayRefuse?: boolean
  /**
   * What decides about the first content is being asked, or known only at the end of the backend's response: the response is held for longer. It
   * ends by itself, or with the request.
   */
  readonly isJudging?: boolean
  /** The response cannot be used, and the client gets this instead. */
  readonly refusal?: Refusal | undefined
  /** Set if the response failed although its receiver sees a clean end. */
  readonly failure?: AnswerFailure | undefined
  /**
   * Registers a function that is called once, when the first content has arrived or the response has failed. As long as nothing has been sent
   * to the client, a failed response can be replaced by another attempt. Unset: the head decides.
   */
  whenBegun?(begun: () => void): void
  /** Registers how the rest of the backend's response is cancelled when the answer is over before its end. */
  whenOver?(cancel: () => void): void
}

/** How a response failed after its head. */
export interface AnswerFailure {
  /** For log and decision record; without text of the backend. */
  readonly detail: string
  /** The backend is the cause: it counts as failed. */
  readonly unhealthy: boolean
  /** What the backend reported, as the status that its vendor documents for it; undefined: the response is empty or incomplete. */
  readonly status: number | undefined
  /** The connection broke off: as long as nothing has been sent, the client gets a refusal. */
  readonly cut: Abort | undefined
}

/** Services for a protocol that serves requests itself. */
export interface ServeServices {
  readonly call: Call
  /** For work that goes on after the request. */
  readonly lasting: () => LastingServices
  readonly sealer: Sealer
  /** Values that the workers share. */
  readonly table: SharedTable
  /** Channels between requests of all workers. */
  readonly channels: Channels
  /** The worker that serves; the same object for all its requests. Key for `PerWorker`. */
  readonly worker: object
  /** Memory for buffered data; released when the request ends. */
  readonly claim: BodyClaim
  /** Reads compressed responses. */
  readonly decode: DecodeStream
  /** Hears of changed tools of MCP targets. */
  readonly toolsChanged?: (changes: ToolChanges) => void
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal
  /** Registers a function that is called once when the request has ended, however it ended. */
  readonly whenOver: (over: () => void) => void
  /** How much of a response is kept for the log, in characters; undefined: no expression reads it. */
  readonly maxKept?: number | undefined
  /** Only clients on this machine can reach the listener. */
  readonly boundToLoopback?: boolean
}

/** Tools of an MCP target that have changed since the gateway was started, or that nobody has accepted. */
export interface ToolChanges {
  /** Key of the backend. */
  readonly backend: string
  readonly target: string
  readonly tools: readonly {
    readonly name: string
    readonly digest: string
    readonly state: 'new' | 'changed'
    readonly isRefused: boolean
  }[]
}

/** Services that outlast the request that asked for them. */
export interface LastingServices {
  /** With the identity of the client of that request. */
  readonly call: Call
  /** Must be released. */
  readonly claim: BodyClaim
  /** Aborted when the worker is about to stop. */
  readonly draining: AbortSignal
}

/** The response to a request that a protocol serves itself. */
export interface ServedAnswer {
  readonly status: number
  /** Lower-case names. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** Each piece of a stream must be sent at once. A stream must be read to its end or closed with `return()` or `cancel()`. */
  readonly body: Uint8Array | AsyncIterable<Uint8Array> | PipedBody | undefined
  /** It refuses the whole request. */
  readonly refuses?: true
}

/** For `explain`. */
export interface ProtocolExplanation {
  readonly lines: readonly string[]
  /** When the protocol serves the request itself and refuses it. */
  readonly refusal?: Refusal | undefined
}

/** State of a protocol that lasts between requests of one worker; created on first use. */
export class PerWorker<Kept> {
  readonly #create: () => Kept
  readonly #kept = new WeakMap<object, Kept>()

  constructor(create: () => Kept) {
    this.#create = create
  }

  of(worker: object): Kept {
    const known = this.#kept.get(worker)
    if (known !== undefined) return known
    const kept = this.#create()
    this.#kept.set(worker, kept)
    return kept
  }
}
