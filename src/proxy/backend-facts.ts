import type { FailureCode } from '#net/failure.ts'
import { type BackendFact, factKey } from '#plan/backend-fact.ts'

/** Failures that persist until the configuration of the backend changes. */
const CODES: Partial<Record<FailureCode, BackendFact['code']>> = {
  'not-http2': 'backend-not-http2',
  'address-not-allowed': 'backend-is-gateway',
}

/** Reports facts that traffic shows about backends, each once per plan. */
export class BackendFacts {
  readonly #report: (fact: BackendFact) => void
  readonly #reported = new Set<string>()

  constructor(report: (fact: BackendFact) => void) {
    this.#report = report
  }

  /** An attempt failed at an endpoint of a backend. */
  record(backend: string, endpoint: string, failure: FailureCode): void {
    const code = CODES[failure]
    if (code !== undefined) this.note(backend, code, endpoint)
  }

  note(backend: string, code: BackendFact['code'], at: string): void {
    const fact = { backend, code, at }
    const key = factKey(fact)
    if (this.#reported.has(key)) return
    this.#reported.add(key)
    this.#report(fact)
  }

  /** Starts again with a new plan, which may have fixed the failures. */
  reset(): void {
    this.#reported.clear()
  }
}
