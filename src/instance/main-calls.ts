import type { CredentialReport, KeySetReport } from '#admin/status-report.ts'
import type { SecretSet } from '#base/secret-set.ts'
import { Calls } from '#calls/calls.ts'
import { Keepers } from '#calls/kept/keepers.ts'
import { fetchKeySet } from '#calls/key-sets/fetch-key-set.ts'
import { backendName } from '#exchange/backend-name.ts'
import { BodyMemory } from '#net/body/body-memory.ts'
import type { MeshMember } from '#net/hbone/mesh-member.ts'
import { createClientPool } from '#net/pool/client-pool.ts'
import type { ClientPool } from '#net/stream.ts'
import { observeCall } from '#observe/metrics/call-metrics.ts'
import type { MetricsWriter } from '#observe/metrics/metrics-writer.ts'
import { observeConnect } from '#observe/metrics/upstream-metrics.ts'
import type { PlanReports } from '#plan/plan-link.ts'
import { type KeySetAddress, keySetId } from '#policies/shared/authentication/remote-key-set.ts'
import type { Credential, CredentialSource } from '#policies/shared/clouds/cloud-credential.ts'
import { forgetSecretsOf, type KeptKind, type KeptUpdate, noteSecretsOf } from '#policies/shared/kept/kept-copies.ts'
import type { KeptState } from '#policies/shared/kept/kept-value.ts'
import { BackendFacts } from '#proxy/backend-facts.ts'
import { importKey } from '#workers/import-key.ts'
import type { WorkerPool } from '#workers/worker-pool.ts'
import { fetchCredential } from './clouds/fetch-credential.ts'
import type { PlanPublisher } from './plan-publisher.ts'

/** Memory for responses that have arrived but are not read yet. */
const BODY_BYTES = 16 * 1024 * 1024

interface Parts {
  readonly publisher: PlanPublisher
  readonly workers: WorkerPool
  readonly reports: Pick<PlanReports, 'observed' | 'recompiled'>
  readonly metrics: MetricsWriter
  readonly mesh: MeshMember
  /** Gets the credentials. */
  readonly secrets: SecretSet
  readonly bug: (error: unknown) => void
}

/** The calls that the main thread makes for all workers: to key-set servers (decision A-62), and for credentials of clouds (decision A-104). */
export class MainCalls {
  readonly #parts: Parts
  readonly #pool: ClientPool
  readonly #facts: BackendFacts
  readonly #keepers: {
    readonly 'key-set': Keepers<KeySetAddress, string>
    readonly credential: Keepers<CredentialSource, Credential>
  }
  /** By id of the key set. */
  readonly #keySets = new Map<string, KeySetReport>()
  /** By id of the source. */
  readonly #credentials = new Map<string, CredentialReport>()

  constructor(parts: Parts) {
    const { publisher, reports, metrics, mesh, bug } = parts
    const bodyMemory = new BodyMemory(BODY_BYTES)
    this.#parts = parts
    this.#pool = createClientPool({
      bodyMemory,
      mesh,
      connected: (transport, durationMs) => observeConnect(metrics, transport, durationMs),
    })
    this.#facts = new BackendFacts((fact) => reports.observed(publisher.version, fact))
    const { ofGateway: call } = new Calls({
      pool: this.#pool,
      bodyMemory,
      random: Math.random,
      backend: (key) => publisher.calledBackend(key),
      failed: (...failure) => this.#facts.record(...failure),
      ended: (call) => observeCall(metrics, call),
    })
    this.#keepers = {
      'key-set': new Keepers({
        idOf: keySetId,
        fetch: (address, signal) => fetchKeySet(address, { call, importKey, signal }),
        publish: (state) => this.#publish({ of: 'key-set', state }),
        attempted: (address, outcome, state) => this.#keySetAttempted(address, outcome, state),
        dropped: (address) => this.#keySetDropped(address),
        bug,
      }),
      credential: new Keepers({
        idOf: ({ id }) => id,
        fetch: ({ request }, signal) => fetchCredential(request, signal),
        publish: (state) => this.#publish({ of: 'credential', state }),
        attempted: (source, outcome, state) => this.#credentialAttempted(source, outcome, state),
        dropped: (source) => this.#credentialDropped(source),
        bug,
      }),
    }
  }

  /** Called after the publisher has processed a change of the plan. */
  planChanged(): void {
    this.#facts.reset()
    const { keySets, credentials } = this.#parts.publisher.sources
    this.#keepers['key-set'].take(keySets)
    this.#keepers.credential.take(credentials)
  }

  /** Requests of a worker wait for a newer value than the one that was fetched at this time. */
  requestKept(of: KeptKind, id: string, fetchedMs: number): void {
    this.#keepers[of].ask(id, fetchedMs)
  }

  /** The key sets that were requested at least once. */
  get keySets(): readonly KeySetReport[] {
    return [...this.#keySets.values()]
  }

  /** The credentials that were requested at least once. */
  get credentials(): readonly CredentialReport[] {
    return [...this.#credentials.values()]
  }

  close(): void {
    for (const keepers of Object.values(this.#keepers)) keepers.close()
    this.#pool.close()
  }

  #publish(update: KeptUpdate): void {
    noteSecretsOf(update, this.#parts.secrets)
    this.#parts.workers.publishKept(update)
  }

  #keySetAttempted(address: KeySetAddress, outcome: string, state: KeptState<string>): void {
    const { metrics, reports, publisher } = this.#parts
    const { backend, path } = address
    const labels = [backendName(backend), path]
    metrics.series('keySetFetches', [...labels, outcome]).add(1)
    metrics.series('keySetFetched', labels).set(state.fetchedMs / 1000)
    this.#keySets.set(state.id, { backend, path, ...lastFetch(state) })
    reports.recompiled(publisher.keptChanged({ of: 'key-set', state }))
  }

  #keySetDropped(address: KeySetAddress): void {
    const id = keySetId(address)
    this.#keySets.delete(id)
    this.#parts.metrics.series('keySetFetched', [backendName(address.backend), address.path]).set(0)
    this.#forget('key-set', id)
  }

  #credentialAttempted({ label }: CredentialSource, outcome: string, state: KeptState<Credential>): void {
    const { metrics, reports, publisher } = this.#parts
    const expiresMs = state.value?.expiresMs
    metrics.series('credentialFetches', [label, outcome]).add(1)
    metrics.series('credentialExpiry', [label]).set((expiresMs ?? 0) / 1000)
    const expires = expiresMs === undefined ? {} : { expiresAt: new Date(expiresMs).toISOString() }
    this.#credentials.set(state.id, { source: label, ...lastFetch(state), ...expires })
    reports.recompiled(publisher.keptChanged({ of: 'credential', state }))
  }

  #credentialDropped({ id, label }: CredentialSource): void {
    this.#credentials.delete(id)
    this.#parts.metrics.series('credentialExpiry', [label]).set(0)
    this.#forget('credential', id)
  }

  #forget(of: KeptKind, id: string): void {
    forgetSecretsOf(of, id, this.#parts.secrets)
    this.#parts.publisher.forgetKept(of, id)
    this.#parts.workers.dropKept(of, id)
  }
}

function lastFetch({ value, fetchedMs, failure }: KeptState<unknown>): { fetchedAt?: string; failure?: string } {
  const fetched = value === undefined ? {} : { fetchedAt: new Date(fetchedMs).toISOString() }
  return failure === undefined ? fetched : { ...fetched, failure }
}
