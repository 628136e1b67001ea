import type { Origin } from '#base/origin.ts'

/** When a step runs. */
export type Stage = 'pre-routing' | 'routing' | 'post-routing' | 'backend' | 'response'

/** The policies that refused a request, or answered it instead of a backend. */
export interface DecidedBy {
  readonly stage: Stage
  /** `authorization`, `rateLimit` ... */
  readonly field: string
  /** The objects that configure it, highest precedence first, with the path of the field. */
  readonly sources: readonly PolicySource[]
}

export interface PolicySource {
  readonly origin: Origin
  readonly path: string
}
