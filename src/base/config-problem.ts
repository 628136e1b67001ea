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
  /** What the text of an API server of Kubernetes says of the value, where the message says it in other words. */
  readonly refused?: RefusedValue
}

/** A refused value. It is never free text, which may be a secret. */
export interface RefusedValue {
  /** A number or a size, a duration that is out of range, or a word outside an enumeration. */
  readonly value: string | number
  /** The words of the enumeration. */
  readonly supported?: readonly string[]
  /** What the word probably means, as the end of a sentence. */
  readonly hint?: string
}
