import type { ConfigProblem } from '#base/config-problem.ts'
import type { Origin } from '#base/origin.ts'
import type { Sealer } from '#base/sealer.ts'
import type { TlsMaterialCheck } from '#base/tls-material.ts'
import type { ImportKey } from '#base/verifying-key.ts'
import type { BodyUse } from '#exchange/body-use.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { Expression, ExpressionEnvironment, ExpressionUse } from '#exchange/expression.ts'
import type { LlmReads } from '#exchange/llm-reads.ts'
import type { Outcome } from '#exchange/outcome.ts'
import type { ResponseStep, Step } from '#exchange/step.ts'
import type { TokenCounter } from '#exchange/token-counter.ts'
import type { Head } from '#net/http/head.ts'
import type { TSchema } from '#schema/index.ts'
import type { Circuit } from '#state/circuit.ts'
import type { TokenBucket, TokenBucketSettings } from '#state/token-bucket.ts'
import type { ValueBuckets } from '#state/value-buckets.ts'
import type { RemoteJwksSpec } from './shared/authentication/jwks.ts'
import type { PasswordChecker } from './shared/authentication/password-checker.ts'
import type { RemoteKeySet } from './shared/authentication/remote-key-set.ts'
import type { CloudServices } from './shared/clouds/cloud-services.ts'
import type { VerdictCache } from './shared/ext-auth/verdict-cache.ts'
import type { SignIn } from './shared/sign-in/sign-in.ts'

/** One occurrence of a field: its value and its origin. */
export interface PolicySource<Spec> {
  readonly spec: Spec
  readonly origin: Origin
  /** `spec.traffic.rateLimit` */
  readonly path: string
  /** Key of its target (`plan/target.ts`); the scope of state such as rate-limit buckets. */
  readonly target: string
  /** Keys of backends that it names but must not use (no ReferenceGrant, decision A-35). For this field they do not exist. */
  readonly notPermitted?: readonly string[]
  /** Set if the field cannot be applied at all. */
  readonly broken?: string
}

/** Names of headers that a policy uses: in requests, those that it reads, sets or removes; in responses, those that it sets or removes. */
export interface PolicyFields {
  readonly request: readonly string[]
  readonly response?: readonly string[]
}

/** The credential that a policy accepts at a location; it refuses any other there. */
export interface CheckedCredential {
  /** Where it is in a request: `header authorization`. */
  readonly location: string
  /** What the value begins with, in lower case; empty without a prefix. */
  readonly prefix: string
  /** It refuses requests without one. */
  readonly isRequired: boolean
}

/** A part of a policy that has an effect only on requests to some backends. */
export interface BackendNeed {
  /** Relative to the source, as in `CompileContext.report`. */
  readonly path: string
  /** What such backends have: a hostname, LLM calls that use tokens, requests that the gateway forwards, or requests with their own path. */
  readonly backendsWith: 'hostname' | 'tokens' | 'forwarding' | 'target'
  /** The effect on requests to other backends. */
  readonly otherwise: string
}

/** A compiled policy for requests. Members that are unset cost nothing. */
export interface RequestRun {
  readonly request?: Step
  /** The part of the body that must be available before the first policy of the phase. */
  readonly readsRequestBody?: BodyUse
  /** Headers that it uses, in addition to those that its expressions read. */
  readonly fields?: PolicyFields
  /** Set if its decision depends on the body, and on nothing else than the exchange: whether it would let it through, without effects. */
  readonly allows?: (exchange: Exchange) => boolean
  /** The data of LLM responses that its expressions read. */
  readonly llmReads?: LlmReads
  /** Query parameters that may hold credentials. Their values are never shown (decision A-111). */
  readonly credentialParameters?: readonly string[]
  /** Section `backend` only. */
  readonly signature?: RequestSignature
  /** It answers CORS preflights of every origin, with or without permissions. */
  readonly answersPreflights?: true
  /** Its endpoints are served ahead of all policies of the phase. */
  readonly signIn?: SignIn
}

/** Signs the request of an attempt after everything else has changed it, the protocol and the host rewrite included. */
export interface RequestSignature {
  /** Whether the whole body of a request must be in memory before it is signed. */
  readonly coversBody: (request: Head) => boolean
  /** May set `exchange.signBody`. */
  readonly sign: (exchange: Exchange) => Outcome
}

/** A policy that also processes responses of backends together with their bodies, after all response steps. */
export interface ProcessingRun extends RequestRun {
  /** Not for responses of the gateway itself. */
  readonly processResponse?: Step
}

/** A policy that also processes responses; its field has a position in the order of response policies. */
export interface PolicyRun extends ProcessingRun {
  /** Runs only if the request reached this policy (docs/behaviour/http.md, "Response policies"). */
  readonly response?: ResponseStep
  readonly readsResponseBody?: BodyUse
}

/** A Secret for policies; values are latin-1 text of the bytes. */
export interface SecretMaterial {
  readonly name: string
  readonly data: Readonly<Record<string, string>>
  readonly origin: Origin
}

/** `backendRef` of a server that a policy asks. */
export interface CalledBackend {
  readonly kind: string
  readonly name: string
  readonly namespace?: string | undefined
  readonly port?: number | undefined
}

/** The endpoint that section `backend` is compiled for. */
export interface PolicyDestination {
  /** The host that requests to it have; undefined: an IP address, or a socket. */
  readonly hostname: string | undefined
  /** What signatures for it must be valid for, as far as its type determines that. */
  readonly signing: DestinationSigning | undefined
}

export interface DestinationSigning {
  readonly service: string
  readonly region: string
  /** It accepts no signature for another service, and no token of another cloud (decision B92). */
  readonly only?: true
}

/** Why a backend cannot be called. */
export interface CallFault {
  /** For operators. */
  readonly detail: string
  /** The policy that names the backend has a finding about it already. */
  readonly isReported: boolean
}

/** The part of a request that a server decides by. */
export interface ReadParts {
  readonly path: boolean
  readonly allFields: boolean
  readonly trailers?: boolean
}

/** The service that a prompt guard asks. */
export interface AskedService {
  readonly phase: string
  readonly kind: string
  /** Key of its backend. */
  readonly destination: string
}

/** Services for compiling a policy. The same in the workers, in `lint`, in `explain` and for the status. */
export interface CompileContext {
  /** Reports a problem; `path` is relative to the source (`.local[0].requests`) or empty. */
  report(source: PolicySource<unknown>, path: string, problem: Omit<ConfigProblem, 'path'>): void
  /** Compiles CEL; problems are reported at `path` of the source. @param present variables that are known to be present */
  expression(
    source: PolicySource<unknown>,
    path: string,
    text: string,
    environment: ExpressionEnvironment,
    use?: ExpressionUse,
    present?: readonly string[],
  ): Expression
  /** Variables that the other fields of the same object guarantee at the same target, to requests that they let through. */
  guaranteed(source: PolicySource<unknown>): readonly string[]
  /**
   * A Secret; undefined if it does not exist (not reported).
   * @param namespace default: that of the source's object
   */
  secret(source: PolicySource<unknown>, name: string, namespace?: string): SecretMaterial | undefined
  /** Sorted by name. */
  secretsWithLabels(source: PolicySource<unknown>, labels: Readonly<Record<string, string>>): readonly SecretMaterial[]
  configMap(source: PolicySource<unknown>, name: string): SecretMaterial | undefined
  /** Key of the backend that a policy asks itself; undefined if the reference is not permitted (control reports it). */
  calledBackend(source: PolicySource<unknown>, reference: CalledBackend): string | undefined
  /** Why no call to a backend can be made, as far as its objects decide; undefined: calls are possible. */
  callFault(backend: string): CallFault | undefined
  /** The host of a static backend. */
  staticHost(backend: string): string | undefined
  /** Key of the backend that a part of the policy is by itself. @param path relative to the source */
  ownBackend(source: PolicySource<unknown>, path: string): string
  /** A server that the policy asks decides by this part of the request: counts like an expression that reads it. */
  reads(source: PolicySource<unknown>, path: string, what: ReadParts): void
  /**
   * The cache for decisions of an authorization server, shared by all rules that have this policy.
   * @param settings everything that the policy sets at `path`: with other settings, the cache is another one
   */
  verdictCache(source: PolicySource<unknown>, path: string, settings: string, maxEntries: number): VerdictCache
  /**
   * The circuit of a service, shared by all workers of the instance and by everything that has this policy.
   * @param path of the guard, relative to the source
   * @param settings everything that the policy sets at `path`: with other settings, the circuit is another one
   */
  circuit(source: PolicySource<unknown>, path: string, service: AskedService, settings: unknown): Circuit
  /** Undefined: the policy is compiled for itself, not for an endpoint. */
  readonly destination: PolicyDestination | undefined
  readonly tlsMaterial: TlsMaterialCheck
  readonly clouds: CloudServices
  /** Imports the public key of a token issuer. */
  readonly importKey: ImportKey
  /** Compares passwords with hashes. */
  readonly passwords: PasswordChecker
  readonly tokenCounter: TokenCounter
  /** Protects texts that clients keep. */
  readonly sealer: Sealer
  /**
   * The key set that the main thread fetches from this address, shared by all policies that refer to it. Undefined if the reference is
   * invalid for key sets (control reports it).
   */
  remoteKeySet(source: PolicySource<unknown>, remote: RemoteJwksSpec): RemoteKeySet | undefined
  /** The bucket with that key, shared by all workers of the instance. It keeps its level while key and settings are unchanged. */
  tokenBucket(key: string, settings: TokenBucketSettings): TokenBucket
  /** The same, with a bucket for each value that requests have. */
  valueBuckets(key: string, settings: TokenBucketSettings): ValueBuckets
}

/** Common members of all definitions of policy fields; one definition per folder. */
interface FieldDefinition {
  /** Filters of a route rule are also fields of `traffic` (`urlRewrite`, `requestRedirect` ...), at the level of highest precedence. */
  readonly section: 'frontend' | 'traffic' | 'backend'
  /** Name of the field in its section. */
  readonly field: string
  /** What users write, if it is no field of a ProxyPolicy: `filter RequestMirror of the route rule`. */
  readonly writtenAs?: string
  /** Bounds, defaults, documentation, references and secrets of the field. A filter of a route rule uses the schema of the route. */
  readonly schema?: TSchema
  /**
   * `replace`: only the source of highest precedence applies. `members`: the same, but the members of the field are independent, so a
   * source with other members hides some (decision A-20, B01). `accumulate`: all sources apply (rule sets).
   */
  readonly merge: 'replace' | 'members' | 'accumulate'
  /** Advice about the field in combination with another one of its section at the same target. */
  readonly together?: {
    readonly with: string
    /** @param other the compiled setting of the other field */
    readonly advise: (source: PolicySource<never>, other: never, context: CompileContext) => void
  }
  /** The variable that has the identity of a caller whose credential the field accepts. */
  readonly identifies?: string
  /** Variables that every request has that the field lets through. */
  readonly guarantees?: (spec: never) => readonly string[]
  /**
   * The field, or these of its members, refuses requests or keeps data from where it must not go. If a policy that sets it is invalid and has
   * no earlier valid version, its targets refuse (decision A-09).
   */
  readonly protects?: true | readonly string[]
  /** The credential that the field checks. */
  readonly checks?: (spec: never) => CheckedCredential | undefined
  /** Its parts that do nothing for requests to some backends. */
  readonly needs?: (spec: never) => readonly BackendNeed[]
  /** Members that apply from every level although the field is replaced (decision A-21). */
  readonly accumulates?: readonly string[]
}

/** A field that processes requests or responses. `Spec` is derived from the schema of the folder. */
export interface PolicyDefinition<Spec = never, Run extends RequestRun = PolicyRun> extends FieldDefinition {
  readonly kind: 'steps'
  /**
   * Sources are in order of precedence; unless they accumulate there is exactly one. Undefined: nothing to do at run time. Never throws for
   * bad configuration: it reports, and a security policy then returns a run that denies.
   */
  compile(sources: readonly PolicySource<Spec>[], context: CompileContext): Run | undefined
}

/** A field that configures something else: a listener, a connection to a backend, observation, a protocol. */
export interface SettingDefinition<Spec = never, Setting = unknown> extends FieldDefinition {
  readonly kind: 'setting'
  /**
   * Sources as in `PolicyDefinition`; none if the field is not set: the result then has the defaults. Never throws for bad configuration:
   * it reports, and a security setting then refuses everything.
   */
  compile(sources: readonly PolicySource<Spec>[], context: CompileContext): Setting
}

/** Preserves the types of schema and spec between a folder and the registry. */
export function definePolicy<Spec, Run extends RequestRun, Schema extends TSchema>(
  definition: Omit<PolicyDefinition<Spec, Run>, 'kind'> & { readonly schema: Schema },
): PolicyDefinition<Spec, Run> & { readonly schema: Schema } {
  return { kind: 'steps', ...definition }
}

/** The same for a setting. */
export function defineSetting<Spec, Setting, Schema extends TSchema>(
  definition: Omit<SettingDefinition<Spec, Setting>, 'kind'> & { readonly schema: Schema },
): SettingDefinition<Spec, Setting> & { readonly schema: Schema } {
  return { kind: 'setting', ...definition }
}

/** A filter of a route rule. A ProxyPolicy cannot set it, so the route has its schema. */
export function defineFilter<Spec, Run extends RequestRun>(
  definition: Omit<PolicyDefinition<Spec, Run>, 'kind' | 'section'> & { readonly writtenAs: string },
): PolicyDefinition<Spec, Run> {
  return { kind: 'steps', section: 'traffic', ...definition }
}

/**
 * The filter of a route rule as a filter of one of its `backendRef`s. It belongs to section `backend`: it runs for each attempt, on the request
 * as the rule has left it (Gateway API, HTTPBackendRef).
 */
export function ofBackendRef<Spec, Run extends RequestRun>(
  { kind, field, compile, needs }: PolicyDefinition<Spec, Run>,
  filter: string,
): PolicyDefinition<Spec, Run> {
  const writtenAs = `${filter} of the backendRef`
  return { kind, section: 'backend', field, writtenAs, merge: 'replace', compile, ...(needs && { needs }) }
}
