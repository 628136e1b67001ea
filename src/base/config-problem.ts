import type { FindingCode } from './findings.ts'

/** Something in an object that will not take (full) effect. Problems are collected, never thrown. */
export interface ConfigProblem {
  /** kubectl-style field path within the object: `spec.traffic.rateLimit.local[0].requests`. */
  readonly path: string
  readonly code: FindingCode
  readonly message: string
  /**
   * `error`: the part has no effect or denies; `warning`: it works, but probably not as meant; `advice`: it works as written, and may
   * be less than its author believes. Advice is shown to those who ask for it.
   */
  readonly severity: 'error' | 'warning' | 'advice'
}
