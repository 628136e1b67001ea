import type { Sealer } from '#base/sealer.ts'
import type { Call } from '#exchange/call.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { LlmReads } from '#exchange/llm-reads.ts'
import type { Outcome, Refusal } from '#exchange/outcome.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import type { BodyFilter } from '#net/body/filtered-body.ts'
import type { Abort } from '#net/stream.ts'
import type { CompileContext, PolicyDefinition, PolicySource, SettingDefinition } from '#policies/policy.ts'
import type { OnceMemory } from '#state/once-memory.ts'
import type { Address, HostAndPort } from './address.ts'

/**
 * What the gateway needs to know of the protocol that a type of backend speaks. The engine and the proxy know this interface only;
 * `backend-protocols.ts` is the one table of its implementations.
 */
export interface BackendProtocol<Spec> {
  /** For log, metrics and expressions. */
  readonly name: 'http' | 'llm' | 'mcp' | 'a2a'
  /** Limit from sending a request to the head of its response where no policy sets one, in milliseconds; 0: no limit. */
  readonly responseTimeoutMs: number
  /** The host of a request becomes that of the backend unless a policy says otherwise (specification 2, 2.2.4). */
  readonly rewritesHost: boolean
  /** Addresses by priority, or why the backend cannot be used. */
  addresses(backend: ProtocolBackend<Spec>, endpointsOf: FindEndpoints): readonly (readonly Address[])[] | Refusal
  /** Other names of a section, by which policies reach it too; unset: a section has only its own name. */
  sectionNames?(spec: Spec, section: string): SectionNames
  /** Makes a backend ready to run; unset: requests and answers pass as they are. Never throws for bad configuration: it reports. */
  compile?(backend: ProtocolBackend<Spec>, settings: BackendSettings, context: CompileContext): ProtocolRun
}

/** A backend as its protocol sees it. `target` is the key of the backend. */
export interface ProtocolBackend<Spec> extends PolicySource<Spec> {
  readonly namespace: string
  readonly name: string
}

/** Ready addresses of a port of a Service, by `<namespace>/<name>/<port>`. */
export type FindEndpoints = (service: string) => readonly HostAndPort[] | undefined

export interface SectionNames {
  /** The first one is the strongest within a level. */
  readonly names: readonly string[]
  /** The port of the Service behind the section, as `<namespace>/<name>/<port>`; its policies apply too, more weakly. */
  readonly service?: string
}

/** The fields of section `backend` that apply to a backend or to one of its sections. */
export interface BackendSettings {
  /** The sources in force, strongest first. */
  of<Spec>(field: BackendField<Spec>, section?: string): readonly PolicySource<Spec>[]
  /** The same, followed by those that were overridden. */
  everyOf<Spec>(field: BackendField<Spec>, section?: string): readonly PolicySource<Spec>[]
}

/** The definition of a field of section `backend`. */
export type BackendField<Spec> = PolicyDefinition<Spec> | SettingDefinition<Spec>

/** What of a request body must be in memory before the request is sent: all of it, all of it unless it is large, or nothing. */
export type BodyNeed = 'whole' | 'whole-if-small' | 'none'

/** A backend ready to run. A member that is not there costs nothing. */
export interface ProtocolRun {
  bodyNeed?(exchange: Exchange): BodyNeed
  /** How a request would be understood in another way if its path were `reading`, in words: `of the type Messages, not Completions`. */
  otherMeaning?(exchange: Exchange, reading: string): string | undefined
  /**
   * Makes `exchange.request` (and `newRequestBody`) what one endpoint is sent. Runs for every attempt, after the backend policies,
   * which may bring a credential that the protocol wants in another field.
   */
  prepare?(exchange: Exchange, endpoint: EndpointName, attempt: ProtocolAttempt): Outcome
  /** Answers a request with calls of its own: the protocol ends at the gateway, and nothing is forwarded. */
  readonly serve?: Serve
  /** A refusal in the form that clients of the protocol understand. One with a configured body is not asked about. */
  refuse?(exchange: Exchange, refusal: Refusal): Refusal
  /** What the protocol makes of a request. @param endpoint undefined where the protocol serves the request itself */
  explain?(exchange: Exchange, endpoint: EndpointName | undefined): ProtocolExplanation | undefined
}

export type Serve = (exchange: Exchange, body: Uint8Array | undefined, services: ServeServices) => Promise<ServedAnswer>

export interface EndpointName {
  /** `host:port`, or the path of a socket. */
  readonly label: string
  /** Provider or MCP target; undefined for backends without sections. */
  readonly section: string | undefined
}

/** One attempt, as far as a protocol has to do with it. */
export interface ProtocolAttempt {
  /** Limit of bodies in memory, in bytes. */
  readonly maxBufferBytes: number
  /** What limits and expressions in force read of an LLM call. */
  llmReads(exchange: Exchange): LlmReads
  /** Set by `prepare` when the answer is to be read or changed. */
  answer: AnswerReader | undefined
}

/** How the answer to one attempt is read. The head of the answer is `exchange.response`. */
export interface AnswerReader {
  /**
   * What has to see the body on its way; undefined: nothing.
   * @param claim memory for what has to be held meanwhile
   */
  filter(exchange: Exchange, claim: BodyClaim): AnswerFilter | undefined
}

/** Stands between the answer of a backend and whatever takes it: the client, or the response policies that wait for the body. */
export interface AnswerFilter extends BodyFilter {
  /** Set when the backend's stream broke off or stopped short although its receiver sees a clean end: the attempt failed. */
  readonly broken?: Abort | 'incomplete' | undefined
}

/** What the gateway gives to a protocol that serves requests itself. */
export interface ServeServices {
  readonly call: Call
  readonly sealer: Sealer
  readonly once: OnceMemory
  /** The worker that serves, the same object for all its requests; for `PerWorker`. */
  readonly worker: object
  /** Memory for what is gathered; given back when the request has ended. */
  readonly claim: BodyClaim
  /** Aborted when the client leaves. */
  readonly signal: AbortSignal
  /** How much of an answer is kept for the log, in characters; undefined: no expression reads it. */
  readonly maxKept?: number | undefined
  /** The listener can be reached from this machine only. */
  readonly boundToLoopback?: boolean
}

/** The response to a request that a protocol served itself. */
export interface ServedAnswer {
  readonly status: number
  /** Lower-case names. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** Each piece of a stream must be sent at once; a stream must be read to its end or `return()`ed. */
  readonly body: Uint8Array | AsyncIterable<Uint8Array> | undefined
}

/** For `explain`. */
export interface ProtocolExplanation {
  readonly lines: readonly string[]
}

/** What a protocol keeps in one worker between requests; made when it is first asked for. */
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
