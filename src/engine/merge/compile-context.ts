import { policyDefinition } from '#api/policy-fields.ts'
import type { ConfigProblem } from '#base/config-problem.ts'
import { parseDuration } from '#base/duration.ts'
import type { Finding } from '#base/finding.ts'
import { describeOrigin } from '#base/origin.ts'
import type { Sealer } from '#base/sealer.ts'
import { sha256 } from '#base/sha256.ts'
import { type TlsMaterialCheck, UNCHECKED_MATERIAL } from '#base/tls-material.ts'
import type { ImportKey } from '#base/verifying-key.ts'
import { ownBackendName } from '#exchange/backend-name.ts'
import { compileExpression } from '#exchange/compile-expression.ts'
import type { Expression, ExpressionEnvironment, ExpressionUse } from '#exchange/expression.ts'
import type { TokenCounter } from '#exchange/token-counter.ts'
import type { ForwardRules } from '#net/connect/forward-rules.ts'
import { backendKey } from '#plan/backend-key.ts'
import { type CircuitId, circuitKey } from '#plan/circuit-key.ts'
import type { EndpointId } from '#plan/endpoint-key.ts'
import type { PlanItem, SecretItem } from '#plan/item.ts'
import { backendTarget } from '#plan/target.ts'
import type {
  AskedService,
  CalledBackend,
  CallFault,
  CompileContext,
  PolicyDestination,
  PolicySource,
  ReadParts,
  SecretMaterial,
} from '#policies/policy.ts'
import type { RemoteJwksSpec } from '#policies/shared/authentication/jwks.ts'
import type { PasswordChecker } from '#policies/shared/authentication/password-checker.ts'
import type { KeySetAddress, RemoteKeySet } from '#policies/shared/authentication/remote-key-set.ts'
import type { CloudServices } from '#policies/shared/clouds/cloud-services.ts'
import { VerdictCache, type VerdictCaches } from '#policies/shared/ext-auth/verdict-cache.ts'
import { refuseForPolicy } from '#policies/shared/refused-policy.ts'
import type { BucketLevels } from '#state/bucket-levels.ts'
import { Circuit } from '#state/circuit.ts'
import type { Eviction } from '#state/endpoint-health.ts'
import type { SlotLookup, SlotMemory } from '#state/slots.ts'
import { TokenBucket, type TokenBucketSettings } from '#state/token-bucket.ts'
import { ValueBuckets } from '#state/value-buckets.ts'
import { ValueTable } from '#state/value-table.ts'
import type { Lookups } from '../lookups/lookups.ts'
import { type Reader, readerOf } from './readers.ts'

/** State of the process and of the thread that compiled policies use. */
export interface SharedState extends SlotLookup {
  readonly memory: SlotMemory
  /** Keeps the levels of buckets across restarts; only on the main thread of a gateway. */
  readonly levels?: BucketLevels
  /** Absent if no TLS library is available. */
  readonly tlsMaterial?: TlsMaterialCheck
  readonly importKey: ImportKey
  readonly clouds: CloudServices
  readonly passwords: PasswordChecker
  readonly tokenCounter: TokenCounter
  readonly sealer: Sealer
  /** Hears of each eviction that this thread causes, and, with undefined, of each return to service that it notices. */
  readonly evicted?: (endpoint: EndpointId, eviction: Eviction | undefined) => void
  /** Hears of each circuit that this thread opens, with the cause, or closes. */
  readonly circuitChanged?: (circuit: CircuitId, cause: string | undefined) => void
  /** Which addresses clients may choose (`dynamicForwardProxy`). Absent: no networks are permitted besides the usual ones. */
  readonly forwardRules?: ForwardRules
  /** Remote key sets. */
  readonly keySets: { at(address: KeySetAddress): RemoteKeySet }
  /** Caches of authorization servers; only in a proxy, where requests fill them. */
  readonly verdicts?: VerdictCaches
}

/** The compile context of policies; it answers from the plan. */
export class PlanCompileContext implements CompileContext {
  /** Expressions compiled so far that decide about requests. */
  readonly readers: Reader[]
  readonly destination: PolicyDestination | undefined
  readonly #lookups: Lookups
  readonly #state: SharedState
  readonly #findings: (finding: Finding) => void

  constructor(
    lookups: Lookups,
    state: SharedState,
    findings: (finding: Finding) => void,
    outer?: { readonly readers: Reader[]; readonly destination: PolicyDestination },
  ) {
    this.#lookups = lookups
    this.#state = state
    this.#findings = findings
    this.readers = outer?.readers ?? []
    this.destination = outer?.destination
  }

  /** The same context, but it drops findings: another compilation reports them. */
  get silent(): PlanCompileContext {
    return new PlanCompileContext(this.#lookups, this.#state, () => {})
  }

  /** The context for one endpoint of the same backend. */
  towards(destination: PolicyDestination): PlanCompileContext {
    const { readers } = this
    return new PlanCompileContext(this.#lookups, this.#state, this.#findings, { readers, destination })
  }

  get tlsMaterial(): TlsMaterialCheck {
    return this.#state.tlsMaterial ?? UNCHECKED_MATERIAL
  }

  get clouds(): CloudServices {
    return this.#state.clouds
  }

  get importKey(): ImportKey {
    return this.#state.importKey
  }

  get sealer(): Sealer {
    return this.#state.sealer
  }

  get passwords(): PasswordChecker {
    return this.#state.passwords
  }

  get tokenCounter(): TokenCounter {
    return this.#state.tokenCounter
  }

  report(source: PolicySource<unknown>, path: string, problem: Omit<ConfigProblem, 'path'>): void {
    this.#findings({ ...problem, path: `${source.path}${path}`, origin: source.origin })
  }

  expression(
    source: PolicySource<unknown>,
    path: string,
    text: string,
    environment: ExpressionEnvironment,
    use?: ExpressionUse,
    present?: readonly string[],
  ): Expression {
    const where = `${source.path}${path} of ${describeOrigin(source.origin)}`
    const expression = compileExpression(text, environment, (problem) => this.report(source, path, problem), {
      use,
      present,
      where,
    })
    const reader = readerOf(expression, environment, where)
    if (reader !== undefined) this.readers.push(reader)
    return expression
  }

  guaranteed({ origin, target }: PolicySource<unknown>): readonly string[] {
    return this.#lookups
      .policiesAt(target)
      .filter((item) => item.origin.kind === origin.kind && item.origin.namespace === origin.namespace)
      .filter((item) => item.origin.name === origin.name)
      .flatMap((item) => policyDefinition(item.section, item.field)?.guarantees?.(item.spec as never) ?? [])
  }

  secret(
    { origin }: PolicySource<unknown>,
    name: string,
    namespace: string = origin.namespace,
  ): SecretMaterial | undefined {
    const item = this.#lookups.item(`Secret/${namespace}/${name}`)
    return item?.kind === 'secret' ? item : undefined
  }

  secretsWithLabels(
    source: PolicySource<unknown>,
    labels: Readonly<Record<string, string>>,
  ): readonly SecretMaterial[] {
    return this.#lookups.secretsIn(source.origin.namespace).filter((item) => isSecretWith(item, labels))
  }

  configMap(source: PolicySource<unknown>, name: string): SecretMaterial | undefined {
    const item = this.#lookups.item(`ConfigMap/${source.origin.namespace}/${name}`)
    return item?.kind === 'configmap' ? item : undefined
  }

  calledBackend(source: PolicySource<unknown>, reference: CalledBackend): string | undefined {
    const { kind, name, namespace = source.origin.namespace, port } = reference
    const backend = backendKey({ kind, name, namespace, ...(port !== undefined && { port }) }, namespace)
    return source.notPermitted?.includes(backend) === true ? undefined : backend
  }

  callFault(backend: string): CallFault | undefined {
    const item = this.#lookups.item(backend)
    if (item?.kind !== 'backend') return { detail: 'its backend does not exist', isReported: true }
    if (item.type === 'dynamicForwardProxy') {
      return { detail: 'only requests of clients name the destination of its backend', isReported: true }
    }
    // A part of the policy itself.
    if (item.broken !== undefined) return { detail: item.broken, isReported: item.path !== undefined }
    if (item.type === 'ai' || item.type === 'mcp') {
      return {
        detail: `its backend is of type ${item.type}; name a Service, or a ProxyBackend of type static`,
        isReported: false,
      }
    }
    const refused = this.#lookups.policiesAt(backend).find(({ field }) => field === 'refusedPolicy')
    return refused && { detail: refuseForPolicy(refused).detail!, isReported: false }
  }

  staticHost(backend: string): string | undefined {
    const item = this.#lookups.item(backend)
    return item?.kind === 'backend' && item.type === 'static' ? item.spec.host : undefined
  }

  ownBackend({ origin, path: field }: PolicySource<unknown>, path: string): string {
    return backendTarget('ProxyBackend', { namespace: origin.namespace, name: ownBackendName(origin, field + path) })
  }

  reads(source: PolicySource<unknown>, path: string, what: ReadParts): void {
    const where = `${source.path}${path} of ${describeOrigin(source.origin)}`
    this.readers.push({
      where,
      readsPath: what.path,
      fields: what.allFields ? 'all' : new Set(),
      seesTrailers: what.trailers === true,
    })
  }

  verdictCache(source: PolicySource<unknown>, path: string, settings: string, maxEntries: number): VerdictCache {
    const key = `${describeOrigin(source.origin)} ${source.path}${path} ${settings}`
    return this.#state.verdicts?.at(key, maxEntries) ?? new VerdictCache(maxEntries)
  }

  circuit(
    { origin: { kind, namespace, name }, path: field }: PolicySource<unknown>,
    path: string,
    service: AskedService,
    settings: unknown,
  ): Circuit {
    const guard = `${kind}/${namespace}/${name} ${field}${path}`
    const id = { phase: service.phase, kind: service.kind, backend: service.destination, guard }
    const slot = this.#slotOf(circuitKey(id, sha256(new TextEncoder().encode(JSON.stringify(settings))).toBase64()))
    return new Circuit(this.#state.memory, slot, (cause) => this.#state.circuitChanged?.(id, cause))
  }

  remoteKeySet(source: PolicySource<unknown>, remote: RemoteJwksSpec): RemoteKeySet | undefined {
    const { backendRef, jwksPath, cacheDuration } = remote
    const backend = this.calledBackend(source, backendRef)
    if (backend === undefined) return undefined
    const item = this.#lookups.item(backend)
    if (item?.kind !== 'backend' || (item.type !== 'service' && item.type !== 'static')) return undefined
    return this.#state.keySets.at({ backend, path: targetOf(jwksPath), cacheMs: parseDuration(cacheDuration)! })
  }

  tokenBucket(key: string, settings: TokenBucketSettings): TokenBucket {
    const bucket = this.#openBucket(key, settings)
    this.#state.levels?.opened(key, bucket)
    return bucket
  }

  valueBuckets(key: string, settings: TokenBucketSettings): ValueBuckets {
    const shared = this.#openBucket(key, settings)
    const values = new ValueBuckets(new ValueTable(this.#state.valuesOf(key)!), shared)
    this.#state.levels?.opened(key, shared, values)
    return values
  }

  #openBucket(key: string, settings: TokenBucketSettings): TokenBucket {
    return new TokenBucket(this.#state.memory, this.#slotOf(key), settings)
  }

  #slotOf(key: string): number {
    const slot = this.#state.slotOf(key)
    if (slot === undefined) throw new Error(`no shared slot for ${key}`)
    return slot
  }
}

/**
 * Resolves a path relative to the root of the server, with or without a leading slash (decision A-62). Characters that a request target
 * cannot contain are escaped.
 */
function targetOf(jwksPath: string): string {
  const path = jwksPath.startsWith('/') ? jwksPath : `/${jwksPath}`
  return path.toWellFormed().replace(/[^!-~]|#/gu, encodeURIComponent)
}

/** For the plan in force: findings were reported when the plan was checked, and are dropped here. */
export function quietContext(lookups: Lookups, state: SharedState): PlanCompileContext {
  return new PlanCompileContext(lookups, state, () => {})
}

function isSecretWith(item: PlanItem, labels: Readonly<Record<string, string>>): item is SecretItem {
  return item.kind === 'secret' && Object.entries(labels).every(([name, value]) => item.labels[name] === value)
}
