import type { KeySetReport } from '#admin/status-report.ts'
import { Calls } from '#calls/calls.ts'
import { KeySetFetcher } from '#calls/key-sets/key-set-fetcher.ts'
import type { ControlLoop } from '#control/loop.ts'
import { backendName } from '#exchange/backend-name.ts'
import { BodyMemory } from '#net/body/body-memory.ts'
import { createClientPool } from '#net/pool/client-pool.ts'
import type { ClientPool } from '#net/stream.ts'
import { observeCall } from '#observe/metrics/call-metrics.ts'
import type { MetricsWriter } from '#observe/metrics/metrics-writer.ts'
import { keySetId } from '#policies/shared/authentication/remote-key-set.ts'
import { BackendFacts } from '#proxy/backend-facts.ts'
import { importKey } from '#workers/import-key.ts'
import type { WorkerPool } from '#workers/worker-pool.ts'
import type { PlanPublisher } from './plan-publisher.ts'

/** Memory for responses that have arrived but are not read yet. */
const BODY_BYTES = 16 * 1024 * 1024

interface Parts {
  readonly publisher: PlanPublisher
  readonly workers: WorkerPool
  readonly loop: Pick<ControlLoop, 'observed' | 'recompiled'>
  readonly metrics: MetricsWriter
  readonly bug: (error: unknown) => void
}

/** The calls that the main thread makes for all workers, to key-set servers (decision A-62). */
export class MainCalls {
  readonly #publisher: PlanPublisher
  readonly #pool: ClientPool
  readonly #facts: BackendFacts
  readonly #fetcher: KeySetFetcher
  /** By id of the key set. */
  readonly #reports = new Map<string, KeySetReport>()

  constructor({ publisher, workers, loop, metrics, bug }: Parts) {
    const bodyMemory = new BodyMemory(BODY_BYTES)
    this.#publisher = publisher
    this.#pool = createClientPool({ bodyMemory })
    this.#facts = new BackendFacts((fact) => loop.observed(publisher.version, fact))
    const calls = new Calls({
      pool: this.#pool,
      bodyMemory,
      random: Math.random,
      backend: (key) => publisher.calledBackend(key),
      failed: (...failure) => this.#facts.record(...failure),
      ended: (call) => observeCall(metrics, call),
    })
    this.#fetcher = new KeySetFetcher(calls.ofGateway, importKey, {
      publish: (state) => workers.publishKeySet(state),
      attempted: (address, outcome, state) => {
        const { backend, path } = address
        const labels = [backendName(backend), path]
        metrics.series('keySetFetches', [...labels, outcome]).add(1)
        metrics.series('keySetFetched', labels).set(state.fetchedMs / 1000)
        const fetched = state.text === undefined ? {} : { fetchedAt: new Date(state.fetchedMs).toISOString() }
        const failed = state.failure === undefined ? {} : { failure: state.failure }
        this.#reports.set(state.id, { backend, path, ...fetched, ...failed })
        loop.recompiled(publisher.keySetChanged(state))
      },
      dropped: (address) => {
        const id = keySetId(address)
        this.#reports.delete(id)
        metrics.series('keySetFetched', [backendName(address.backend), address.path]).set(0)
        publisher.forgetKeySet(id)
        workers.dropKeySet(id)
      },
      bug,
    })
  }

  /** Called after the publisher has processed a change of the plan. */
  planChanged(): void {
    this.#facts.reset()
    this.#fetcher.take(this.#publisher.keySetChange)
  }

  /** Requests of a worker wait for keys that it does not have. */
  requestKeySet(id: string): void {
    this.#fetcher.ask(id)
  }

  /** The key sets that were requested at least once. */
  get keySets(): readonly KeySetReport[] {
    return [...this.#reports.values()]
  }

  close(): void {
    this.#fetcher.close()
    this.#pool.close()
  }
}
