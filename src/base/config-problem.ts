import type { FindingCode } from './findings.ts'

/** A part of an object that does not take (full) effect. Problems are collected, never thrown. */
export interface ConfigProblem {
  /** kubectl-style field path within the object: `spec.traffic.rateLimit.local[0].requests`. */
  readonly path: string
  readonly code: FindingCode
  readonly message: string
  /**
   * `error`: the setting has no effect, or requests are refused. `warning`: it works, but probably not as intended. `advice`: it works as
   * written, but may protect or do less than expected; shown only on request.
   */
  readonly severity: 'error' | 'warning' | 'advice'
}
