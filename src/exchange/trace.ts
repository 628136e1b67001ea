import type { Origin } from '#base/origin.ts'

/** The effect of one step on one exchange, in words; only for `explain`. */
export interface TraceStep {
  readonly stage: 'pre-routing' | 'routing' | 'post-routing' | 'backend' | 'response'
  readonly name: string
  readonly verdict: 'proceed' | 'refuse' | 'answer'
  readonly detail: string | undefined
  readonly origins: readonly { readonly origin: Origin; readonly path: string }[]
}

/** The position of a credential in a request. */
export interface WrittenCredential {
  readonly kind: 'header' | 'queryParameter' | 'cookie'
  readonly name: string
}

/** Collects what happens to one exchange. */
export interface Trace {
  step(step: TraceStep): void
  /** The gateway wrote a credential to this header, query parameter or cookie of the request. */
  credential(kind: WrittenCredential['kind'], name: string): void
}
