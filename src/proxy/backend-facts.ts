import type { FailureCode } from '#net/failure.ts'
import type { BackendFact } from '#plan/backend-fact.ts'

/** Failures that will not go away until somebody configures the backend differently. */
const CODES: Partial<Record<FailureCode, BackendFact['code']>> = { 'not-http2': 'backend-not-http2' }

/** Tells what traffic shows about backends, each fact once for a plan. */
export class BackendFacts {
  readonly #tell: (fact: BackendFact) => void
  readonly #told = new Set<string>()

  constructor(tell: (fact: BackendFact) => void) {
    this.#tell = tell
  }

  /** An attempt failed at an endpoint of a backend. */
  learn(backend: string, endpoint: string, failure: FailureCode): void {
    const code = CODES[failure]
    if (code === undefined) return
    const key = `${backend} ${code}`
    if (this.#told.has(key)) return
    this.#told.add(key)
    this.#tell({ backend, code, endpoint })
  }

  /** A new plan is in force, with which things may be different. */
  forget(): void {
    this.#told.clear()
  }
}
