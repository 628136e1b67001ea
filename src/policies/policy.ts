import type { ConfigProblem } from '#base/config-problem.ts'
import type { Origin } from '#base/origin.ts'
import type { TlsMaterialCheck } from '#base/tls-material.ts'
import type { ImportKey } from '#base/verifying-key.ts'
import type { BodyUse } from '#exchange/body-use.ts'
import type { Expression, ExpressionEnvironment, ExpressionUse } from '#exchange/expression.ts'
import type { LlmReads } from '#exchange/llm-reads.ts'
import type { ResponseStep, Step } from '#exchange/step.ts'
import type { TSchema } from '#schema/index.ts'
import type { TokenBucket, TokenBucketSettings } from '#state/token-bucket.ts'
import type { RemoteJwksSpec } from './shared/authentication/jwks.ts'
import type { RemoteKeySet } from './shared/authentication/remote-key-set.ts'

/** One place where the field is written: its value, and who wrote it there. */
export interface PolicySource<Spec> {
  readonly spec: Spec
  readonly origin: Origin
  /** `spec.traffic.rateLimit` */
  readonly path: string
  /** Key of what it is attached to (`plan/target.ts`); the scope of state such as rate-limit buckets. */
  readonly target: string
  /** Keys of backends that it names but may not use (no ReferenceGrant, decision A-35): for it, they do not exist. */
  readonly notPermitted?: readonly string[]
}

/** Names of fields: of requests, those that a policy goes by, sets or removes; of responses, those that it sets or removes. */
export interface PolicyFields {
  readonly request: readonly string[]
  readonly response?: readonly string[]
}

/** A policy field ready to run on requests. What it does not define costs nothing. */
export interface RequestRun {
  readonly request?: Step
  /** What of the body must be there before the first policy of the phase. */
  readonly readsRequestBody?: BodyUse
  /** Fields that it has to do with, apart from what its expressions read. */
  readonly fields?: PolicyFields
  /** What its expressions read of an LLM answer. */
  readonly llmReads?: LlmReads
}

/** One that runs on responses as well: its field has a place in the order of the way back. */
export interface PolicyRun extends RequestRun {
  /** Runs only when the request reached this policy (docs/behaviour/http.md, "The way back"). */
  readonly response?: ResponseStep
  readonly readsResponseBody?: BodyUse
}

/** A Secret as policies see it; values are latin-1 text of the bytes. */
export interface SecretMaterial {
  readonly name: string
  readonly data: Readonly<Record<string, string>>
}

/** What a policy may ask for while it is compiled. The same in the workers, in `lint`, in `explain` and for the status. */
export interface CompileContext {
  /** Something will not take effect; `path` is relative to the source (`.local[0].requests`) or empty. */
  report(source: PolicySource<unknown>, path: string, problem: Omit<ConfigProblem, 'path'>): void
  /** Compiles CEL; what is wrong with it is reported at `path` of the source. */
  expression(
    source: PolicySource<unknown>,
    path: string,
    text: string,
    environment: ExpressionEnvironment,
    use?: ExpressionUse,
  ): Expression
  /** In the namespace of the source's object; undefined when it does not exist (not reported). */
  secret(source: PolicySource<unknown>, name: string): SecretMaterial | undefined
  /** Sorted by name. */
  secretsWithLabels(source: PolicySource<unknown>, labels: Readonly<Record<string, string>>): readonly SecretMaterial[]
  configMap(source: PolicySource<unknown>, name: string): SecretMaterial | undefined
  readonly tlsMaterial: TlsMaterialCheck
  /** Makes the public key of a token issuer ready for use. */
  readonly importKey: ImportKey
  /**
   * The key set that the main thread fetches from there, shared by all who name it; undefined when the reference leads to nothing that
   * key sets may be fetched from (control reports it).
   */
  remoteKeySet(source: PolicySource<unknown>, remote: RemoteJwksSpec): RemoteKeySet | undefined
  /** The bucket of that key, shared by all workers of the instance; an unchanged key and setting keep their level. */
  tokenBucket(key: string, settings: TokenBucketSettings): TokenBucket
}

/** What every definition of a policy field says; one definition per folder. */
interface FieldDefinition {
  /** Filters of a route rule are fields of `traffic` too (`urlRewrite`, `requestRedirect` ...), at the strongest level. */
  readonly section: 'frontend' | 'traffic' | 'backend'
  /** Name of the field in its section. */
  readonly field: string
  /** Bounds, defaults, documentation, references and secrets of the field; a filter of a route rule has that of the route. */
  readonly schema?: TSchema
  /**
   * `replace`: the strongest source alone counts. `members`: the same, and the members of the field stand for themselves, so that a
   * stronger source with other members takes something away (decision A-20, B01). `accumulate`: all sources together (rule sets).
   */
  readonly merge: 'replace' | 'members' | 'accumulate'
  /** What is unwise about the field together with another one of its section at the same place. */
  readonly together?: {
    readonly with: string
    /** @param other the compiled setting of the other field */
    readonly advise: (source: PolicySource<never>, other: never, context: CompileContext) => void
  }
  /** Members that count from every level although the field around them is replaced (decision A-21). */
  readonly accumulates?: readonly string[]
}

/** A field that acts on requests or responses. `Spec` is derived from the folder's schema. */
export interface PolicyDefinition<Spec = never, Run extends RequestRun = PolicyRun> extends FieldDefinition {
  readonly kind: 'steps'
  /**
   * Sources come strongest first; unless they accumulate there is exactly one. Undefined: nothing to do at run time.
   * Never throws for bad configuration: it reports, and a security policy then returns a run that denies.
   */
  compile(sources: readonly PolicySource<Spec>[], context: CompileContext): Run | undefined
}

/** A field whose value something else goes by: a listener, a connection to a backend, what is observed, a protocol. */
export interface SettingDefinition<Spec = never, Setting = unknown> extends FieldDefinition {
  readonly kind: 'setting'
  /**
   * Sources as in `PolicyDefinition`; none at all where nobody wrote the field: the result then holds the defaults.
   * Never throws for bad configuration: it reports, and a security setting then says that nothing may pass.
   */
  compile(sources: readonly PolicySource<Spec>[], context: CompileContext): Setting
}

/** Keeps the types of the schema and of the spec between a folder and the registry. */
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

/** A filter of a route rule: no field that a ProxyPolicy can set, so the route has its schema. */
export function defineFilter<Spec, Run extends RequestRun>(
  definition: Omit<PolicyDefinition<Spec, Run>, 'kind' | 'section'>,
): PolicyDefinition<Spec, Run> {
  return { kind: 'steps', section: 'traffic', ...definition }
}
