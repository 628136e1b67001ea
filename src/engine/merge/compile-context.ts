import type { ConfigProblem } from '#base/config-problem.ts'
import { parseDuration } from '#base/duration.ts'
import type { Finding } from '#base/finding.ts'
import { describeOrigin } from '#base/origin.ts'
import { type TlsMaterialCheck, UNCHECKED_MATERIAL } from '#base/tls-material.ts'
import type { ImportKey } from '#base/verifying-key.ts'
import { compileExpression } from '#exchange/compile-expression.ts'
import type { Expression, ExpressionEnvironment, ExpressionUse } from '#exchange/expression.ts'
import { backendKey } from '#plan/backend-key.ts'
import type { PlanItem, SecretItem } from '#plan/item.ts'
import type { CompileContext, PolicySource, SecretMaterial } from '#policies/policy.ts'
import type { RemoteJwksSpec } from '#policies/shared/authentication/jwks.ts'
import type { KeySetAddress, RemoteKeySet } from '#policies/shared/authentication/remote-key-set.ts'
import type { SlotMemory } from '#state/slots.ts'
import { TokenBucket, type TokenBucketSettings } from '#state/token-bucket.ts'
import type { Lookups } from '../plan/lookups.ts'
import { type Reader, readerOf } from '../request/readers.ts'

/** What a thread has of its instance and its machine. */
export interface SharedState {
  readonly memory: SlotMemory
  /** The slot of a key; undefined when none could be given. */
  slotOf(key: string): number | undefined
  /** Unset where there is no TLS library. */
  readonly tlsMaterial?: TlsMaterialCheck
  readonly importKey: ImportKey
  /** Key sets that are fetched. */
  readonly keySets: { at(address: KeySetAddress): RemoteKeySet }
}

/** What policies may ask for while they are compiled, answered from the plan. */
export class PlanCompileContext implements CompileContext {
  /** The expressions so far by which something is decided about requests. */
  readonly readers: Reader[] = []
  readonly #lookups: Lookups
  readonly #state: SharedState
  readonly #findings: (finding: Finding) => void

  constructor(lookups: Lookups, state: SharedState, findings: (finding: Finding) => void) {
    this.#lookups = lookups
    this.#state = state
    this.#findings = findings
  }

  get tlsMaterial(): TlsMaterialCheck {
    return this.#state.tlsMaterial ?? UNCHECKED_MATERIAL
  }

  get importKey(): ImportKey {
    return this.#state.importKey
  }

  report(source: PolicySource<unknown>, path: string, problem: Omit<ConfigProblem, 'path'>): void {
    this.#findings({ ...problem, path: `${source.path}${path}`, origin: source.origin })
  }

  expression(
    source: PolicySource<unknown>,
    path: string,
    text: string,
    place: ExpressionEnvironment,
    use?: ExpressionUse,
  ): Expression {
    const where = `${source.path}${path} of ${describeOrigin(source.origin)}`
    const expression = compileExpression(text, place, (problem) => this.report(source, path, problem), { use, where })
    const reader = readerOf(expression, place, where)
    if (reader !== undefined) this.readers.push(reader)
    return expression
  }

  secret(source: PolicySource<unknown>, name: string): SecretMaterial | undefined {
    const item = this.#lookups.item(`Secret/${source.origin.namespace}/${name}`)
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

  remoteKeySet(source: PolicySource<unknown>, remote: RemoteJwksSpec): RemoteKeySet | undefined {
    const { backendRef, jwksPath, cacheDuration } = remote
    const backend = backendKey(backendRef, source.origin.namespace)
    if (source.notPermitted?.includes(backend) === true) return undefined
    const item = this.#lookups.item(backend)
    if (item?.kind !== 'backend' || (item.type !== 'service' && item.type !== 'static')) return undefined
    return this.#state.keySets.at({ backend, path: targetOf(jwksPath), cacheMs: parseDuration(cacheDuration)! })
  }

  tokenBucket(key: string, settings: TokenBucketSettings): TokenBucket {
    const slot = this.#state.slotOf(key)
    if (slot === undefined) throw new Error(`no shared slot for ${key}`)
    return new TokenBucket(this.#state.memory, slot, settings)
  }
}

/** Relative to the root of the server, with or without its slash (decision A-62). What a request target cannot hold is escaped. */
function targetOf(jwksPath: string): string {
  const path = jwksPath.startsWith('/') ? jwksPath : `/${jwksPath}`
  return path.toWellFormed().replace(/[^!-~]|#/gu, encodeURIComponent)
}

/** For the plan at work: problems were reported when the plan was checked, and at run time nobody listens. */
export function quietContext(lookups: Lookups, state: SharedState): PlanCompileContext {
  return new PlanCompileContext(lookups, state, () => {})
}

function isSecretWith(item: PlanItem, labels: Readonly<Record<string, string>>): item is SecretItem {
  return item.kind === 'secret' && Object.entries(labels).every(([name, value]) => item.labels[name] === value)
}
